#pragma once
// The catalog: every op, with a sentence, its shapes and an example. Each family is one file in a subfolder
// (attention: several), which opens with the formula, its derivative and the values saved for backward.
//
// Shapes broadcast as in NumPy. Axes may be negative. All differentiable ops work in f32 and f64; operands
// must have the same dtype (convert with .to()). Every op throws gradus::Error naming itself and, where
// relevant, the shapes it got. Letters: B batch, T positions, C channels, H heads, D channels of one head, V
// vocabulary (docs/notation.md).

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

// ------------------------------------------- arithmetic.cpp, pow.cpp, division.cpp, choice.cpp: broadcast
// +, -, *, /, %, comparisons and logic are operators on Tensor (core/tensor.h), and so are +=, -=, *=, /=.
// Integers divide truly, to default_dtype(): 7 / 2 is 3.5.

/// x^exponent. `pow(x, 3)`
Tensor pow(const Tensor& x, double exponent);
/// base^exponent, elementwise.
Tensor pow(const Tensor& base, const Tensor& exponent);
/// The quotient rounded down, also for integers: -7 / 2 is -4. By 0: an error for i64, else IEEE's inf or
/// NaN. Gradient 0. `floor_divide(index, width)` is the row, `index % width` the column.
Tensor floor_divide(const Tensor& a, const Tensor& b);
Tensor floor_divide(const Tensor& a, Scalar b);
/// a - b floor(a / b), the same as a % b: it has b's sign, as in Python (C++ gives a's): -7 % 3 is 2. By 0:
/// an error for i64, else NaN. Gradient 1 for a, -floor(a / b) for b.
Tensor remainder(const Tensor& a, const Tensor& b);
Tensor remainder(const Tensor& a, Scalar b);
/// The larger of a and b; NaN where either is. Equal elements each get half the gradient.
Tensor maximum(const Tensor& a, const Tensor& b);
/// The smaller of a and b; NaN where either is.
Tensor minimum(const Tensor& a, const Tensor& b);
/// a where condition (bool), else b. `where(x > 0, x, 0)`
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, Scalar b);
Tensor where(const Tensor& condition, Scalar a, const Tensor& b);
/// x with `value` where mask (bool) is true. `masked_fill(scores, future, -INFINITY)`
Tensor masked_fill(const Tensor& x, const Tensor& mask, Scalar value);
/// x limited to [low, high], or on one side: `clamp(x, 0)`, `clamp(x, {}, 1)`. No gradient outside; NaN
/// stays NaN.
Tensor clamp(const Tensor& x, std::optional<Scalar> low, std::optional<Scalar> high = {});
/// True where x is NaN (bool, of any dtype).
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);     ///< inf or -inf
Tensor isfinite(const Tensor& x);  ///< neither NaN nor infinite

/// True when |a - b| <= atol + rtol |b| everywhere (shapes broadcast), for any dtype. An infinity is close
/// only to itself, NaN to nothing or, with equal_nan, to NaN. No gradient. `allclose(y, reference, 1e-4)`
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
              Flag equal_nan = false);
/// True when shapes and all values are equal: no broadcasting, NaN equals nothing, -0 equals 0. As for ==,
/// different dtypes are an error, not false. No gradient. `equal(restored, saved)`
bool equal(const Tensor& a, const Tensor& b);

// ---------------------------------------------------------------- elementwise.cpp, activations.cpp
Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);  ///< gradient sign(x), 0 at 0
Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);        ///< NaN below 0
Tensor rsqrt(const Tensor& x);       ///< 1 / sqrt(x)
Tensor reciprocal(const Tensor& x);  ///< 1 / x
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);  ///< exp(x) - 1, accurate near 0
Tensor log(const Tensor& x);    ///< log 0 = -inf, NaN below 0
Tensor log2(const Tensor& x);   ///< exact for powers of 2
Tensor log1p(const Tensor& x);  ///< log(1 + x), accurate near 0
Tensor sign(const Tensor& x);   ///< -1, 0 or 1, gradient 0; NaN stays NaN (PyTorch gives 0)
Tensor floor(const Tensor& x);  ///< rounded down, gradient 0; integers unchanged
Tensor ceil(const Tensor& x);   ///< rounded up, gradient 0; integers unchanged
Tensor round(const Tensor& x);  ///< the nearest integer, gradient 0; ties to even: 2.5 gives 2
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     ///< max(x, 0); NaN stays NaN
Tensor silu(const Tensor& x);     ///< x sigmoid(x), also called swish
/// x where it is positive, else negative_slope x.
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
/// log(1 + exp(beta x)) / beta: a smooth relu. Accurate for every x, so PyTorch's threshold is not needed.
Tensor softplus(const Tensor& x, double beta = 1);
Tensor erf(const Tensor& x);
enum class GeluForm { erf, tanh };
/// x Phi(x) (Hendrycks & Gimpel 2016), with Phi from erf or from GPT-2's tanh approximation.
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::erf);
/// Activations of feed-forward networks; gelu_tanh is GPT-2's approximation of gelu.
enum class Activation { relu, gelu, gelu_tanh, silu };
/// `activate(Activation::silu, x)` is silu(x).
Tensor activate(Activation activation, const Tensor& x);

// ------- reduce.cpp, var.cpp, prod.cpp, extreme.cpp, all_any.cpp, cumsum.cpp: no axes means all of them
/// Sum; 0 if empty. `sum(x, {0, 2}, /*keepdim=*/true)`
Tensor sum(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
/// Mean; NaN if empty.
Tensor mean(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
/// Variance, dividing by n - 1 or, if biased, n. `var(x, -1, {.keepdim = true, .unbiased = false})`
Tensor var(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
Tensor var(const Tensor&, const Axes&, bool, bool = true) = delete;  // say which: {.unbiased = false}
/// Standard deviation, sqrt(var(x)); gradient 0 where it is 0. The gradient needs a deviation of 1.2e-38
/// (f64: 2.2e-308) or more, below which it loses digits, and x - mean must not overflow. With
/// `using namespace gradus`, where std is ambiguous, call the method: `x.std(-1)`.
Tensor std(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
Tensor std(const Tensor&, const Axes&, bool, bool = true) = delete;  // say which: {.unbiased = false}
/// Product; 1 if empty. The gradient is correct even where elements are 0.
Tensor prod(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
/// Whether all elements along the axes are nonzero (bool); true if empty. `all(x == y, -1)`
Tensor all(const Tensor& x, const Axes& axes, Flag keepdim = false);
/// Whether any element is nonzero; false if empty. Without axes x.all() and x.any() return a C++ bool.
Tensor any(const Tensor& x, const Axes& axes, Flag keepdim = false);
/// Largest element; equal ones share the gradient evenly (PyTorch's amax); an error if empty.
Tensor max(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
Tensor min(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
Tensor max(const Tensor&, const std::derived_from<Tensor> auto&) = delete;  // of two tensors: maximum(a, b)
Tensor min(const Tensor&, const std::derived_from<Tensor> auto&) = delete;  // of two tensors: minimum(a, b)
/// Largest element along an axis and its index (i64): the first of equal ones, which gets all the gradient,
/// as in PyTorch's x.max(axis). `auto [value, index] = max_with_indices(x, -1);`
std::pair<Tensor, Tensor> max_with_indices(const Tensor& x, Int axis, Flag keepdim = false);
std::pair<Tensor, Tensor> min_with_indices(const Tensor& x, Int axis, Flag keepdim = false);
/// Index (i64) of the first largest element along an axis, or in the flattened tensor.
Tensor argmax(const Tensor& x, std::optional<Int> axis = {}, Flag keepdim = false);
Tensor argmin(const Tensor& x, std::optional<Int> axis = {}, Flag keepdim = false);
Tensor argmax(const Tensor&, BoolOrFloat auto, Flag = false) = delete;  // the axis is an integer
Tensor argmin(const Tensor&, BoolOrFloat auto, Flag = false) = delete;  // the axis is an integer
/// p = 2: sqrt(sum x^2), all derivatives 0 at 0; p = 1: sum |x|; p = INFINITY: max |x|. `norm(x, 2, -1)`
Tensor norm(const Tensor& x, Scalar p = 2, const Axes& axes = {}, Flag keepdim = false);
Tensor norm(const Tensor&, std::initializer_list<Int>, Flag = false) = delete;  // norm(x, 2, axes)
/// log(sum(exp(x))) without overflow; -inf for all -inf.
Tensor logsumexp(const Tensor& x, const Axes& axes, Flag keepdim = false);
/// Running sum along an axis.
Tensor cumsum(const Tensor& x, Int axis);

// ---------------------------------------------------------------- matmul.cpp, einsum.cpp
/// Matrix product as in NumPy: 1-d operands are vectors, axes beyond the last 2 are batches and broadcast.
/// `matmul(q, k.transpose(-2, -1))` [B, H, T, D] x [B, H, D, T] -> [B, H, T, T]; transposes cost no copy.
Tensor matmul(const Tensor& a, const Tensor& b);
/// x W^T + bias: x [..., in], weight [out, in] (PyTorch's layout), bias [out] or undefined -> [..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
/// activate(activation, linear(x, weight, bias)); relu is fused into the product unless OpenBLAS computes it.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation);
/// [N] x [M] -> [N, M].
Tensor outer(const Tensor& a, const Tensor& b);
/// Einstein summation, one letter per axis: axes with the same letter are matched, letters missing from the
/// result are summed over, a letter repeated in one operand takes its diagonal, ... means broadcast axes.
/// Without -> the result has the letters that appear once, sorted. Evaluated left to right, contractions by
/// matmul. `einsum("bqd,bkd->bqk", {q, k})`, `einsum("ii", {x})` is the trace
Tensor einsum(const std::string& equation, const std::vector<Tensor>& xs);
Tensor einsum(const std::string&, const std::derived_from<Tensor> auto&, const auto&...) = delete;  // {a, b}

// ------------------------------------------------ shape.cpp, unfold.cpp: views where strides allow it
Tensor reshape(const Tensor& x, const Shape& shape);  ///< one size may be -1; copies only when it must
Tensor view(const Tensor& x, const Shape& shape);     ///< reshape that throws rather than copy
Tensor permute(const Tensor& x, const Dims& axes);
Tensor transpose(const Tensor& x, Int a, Int b);
Tensor squeeze(const Tensor& x);            ///< drops every axis of size 1
Tensor squeeze(const Tensor& x, Int axis);  ///< drops the axis if its size is 1
Tensor unsqueeze(const Tensor& x, Int axis);
Tensor expand(const Tensor& x, const Shape& shape);  ///< -1 keeps a size
Tensor flatten(const Tensor& x, Int start = 0, Int end = -1);
Tensor contiguous(const Tensor& x);
Tensor clone(const Tensor& x);
Tensor to(const Tensor& x, DType dtype);  ///< gradients are converted back
Tensor select(const Tensor& x, Int axis, Int index);
/// x[start:stop:step] along an axis; bounds are clipped as in Python.
Tensor slice(const Tensor& x, Int axis, Int start, std::optional<Int> stop = {}, Int step = 1);
/// Windows of `size` elements along an axis, one every `step`, as a view: the axis counts windows, a new last
/// axis holds their elements. `unfold(x, 1, 3)` [B, T, C] -> [B, T - 2, C, 3]
Tensor unfold(const Tensor& x, Int axis, Int size, Int step = 1);

// ---------------------------------------------------------------- pad.cpp
/// x padded with `value`. pads: before and after along the last axis, then along the one before it, ... as in
/// PyTorch; negative pads crop. `pad(x, {1, 2})` [..., T] -> [..., 1 + T + 2]
Tensor pad(const Tensor& x, const std::vector<Int>& pads, Scalar value = 0);
enum class PadMode { reflect, replicate };
/// x padded with its own values: mirrored at the first and last element, which are not repeated (reflect), or
/// with these two repeated (replicate). Any axes; pads of 0 or more.
Tensor pad(const Tensor& x, const std::vector<Int>& pads, PadMode mode);

// ---------------------------------------------------------------- join.cpp, repeat.cpp
/// Joins along an existing axis. `cat({a, b}, 0)`
Tensor cat(const std::vector<Tensor>& xs, Int axis = 0);
Tensor cat(const std::derived_from<Tensor> auto&, const auto&...) = delete;  // in braces: cat({a, b}, 0)
/// Joins along a new axis.
Tensor stack(const std::vector<Tensor>& xs, Int axis = 0);
Tensor stack(const std::derived_from<Tensor> auto&, const auto&...) = delete;  // in braces: stack({a, b}, 0)
/// Pieces of `size` along an axis (the last may be smaller).
TensorList split(const Tensor& x, Int size, Int axis = 0);
/// Pieces of the given sizes, which must add up to the axis's size.
TensorList split(const Tensor& x, const std::vector<std::int64_t>& sizes, Int axis = 0);
TensorList split(const Tensor& x, std::initializer_list<std::int64_t> sizes, Int axis = 0);
/// At most `count` pieces of equal size (the last may be smaller); `count` empty ones for an empty axis.
TensorList chunk(const Tensor& x, Int count, Int axis = 0);
/// x[0], x[1], ... along an axis, which is removed: views.
TensorList unbind(const Tensor& x, Int axis = 0);
/// All of x repeated counts[i] times along axis i; extra counts add axes in front.
/// `repeat(x, {3, 1})` [R, C] -> [3 R, C]: all rows, then all rows again
Tensor repeat(const Tensor& x, const Dims& counts);
/// Each slice of x along an axis repeated `count` times in a row; without an axis, of the flattened x.
/// `repeat_interleave(x, 3, 0)` [R, C] -> [3 R, C]: the first row three times, then the second
Tensor repeat_interleave(const Tensor& x, Int count, std::optional<Int> axis = {});
/// The same with a count (i64) for each slice, or one for all.
Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<Int> axis = {});
/// Reverses the order along the axes.
Tensor flip(const Tensor& x, const Axes& axes);
/// Moves elements `shift` places along an axis, wrapping around.
Tensor roll(const Tensor& x, Int shift, Int axis);

// ------------------------- index.cpp, scatter.cpp, pick.cpp, mask.cpp, sort.cpp, sample.cpp: index is i64
/// y[i][j][k] = x[i][index[i][j][k]][k] for axis 1.
Tensor gather(const Tensor& x, Int axis, const Tensor& index);
/// x with source added at y[i][index[i][j][k]][k] for axis 1; repeated indices add up, in a fixed order.
Tensor scatter_add(const Tensor& x, Int axis, const Tensor& index, const Tensor& source);
/// x with source written to y[i][index[i][j][k]][k] for axis 1; the last of repeated indices wins.
Tensor scatter(const Tensor& x, Int axis, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, Int axis, const Tensor& index, Scalar value);
/// x with row j of source added to row index[j] (rows along axis) for a 1-d index, in the order of j.
Tensor index_add(const Tensor& x, Int axis, const Tensor& index, const Tensor& source);
/// Elements of x where mask (bool) is true, in row-major order: [count]; shapes broadcast. With a mask over
/// the first axes only, x[mask] selects rows.
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// Indices of the nonzero elements, in row-major order: [count, axes of x], i64.
Tensor nonzero(const Tensor& x);
/// Rows (along axis) of x in the order of the 1-d index.
Tensor index_select(const Tensor& x, Int axis, const Tensor& index);
/// Rows of weight [V, C] for ids [...] -> [..., C].
Tensor embedding(const Tensor& ids, const Tensor& weight);
/// The lower (upper) triangle of the last two axes, 0 elsewhere; diagonal 0 is the main one.
Tensor tril(const Tensor& x, Int diagonal = 0);
Tensor triu(const Tensor& x, Int diagonal = 0);
/// [...] -> [..., classes], i64.
Tensor one_hot(const Tensor& index, Int classes);
/// The k largest values along an axis, in descending order, and their indices.
std::pair<Tensor, Tensor> topk(const Tensor& x, Int k, Int axis = -1);
/// Stable sort along an axis: values and indices.
std::pair<Tensor, Tensor> sort(const Tensor& x, Int axis = -1, Flag descending = false);
/// Draws `count` indices a row from non-negative weights [C] or [B, C] -> [count] or [B, count].
Tensor multinomial(const Tensor& weights, Int count, Flag replacement, Generator& generator);
Tensor multinomial(const Tensor& weights, Int count, Flag replacement = false);

// ---------------------------------------------------------------- softmax.cpp
/// exp(x_i) / sum_j exp(x_j) along an axis, which has no default: for attention it is the last (the keys).
Tensor softmax(const Tensor& x, Int axis);
Tensor log_softmax(const Tensor& x, Int axis);

// ------------------------------------------------ layer_norm.cpp, rms_norm.cpp, normalize.cpp, dropout.cpp
/// (x - mean) / sqrt(var + eps) * weight + bias over the last axis, biased variance, eps inside the root
/// (Ba et al. 2016). x [..., C], weight and bias [C] or undefined. A constant row gives the bias, or NaN with
/// eps 0. Rows may hold any finite values: where squares overflow or underflow the dtype, or |mean| is over
/// 160 deviations, a row and its gradient are computed in f64 (PyTorch: NaN above 1e19 in f32).
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang & Sennrich 2019), for any finite values; a
/// row of zeros gives zeros, or NaN with eps 0.
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-6);
/// x / max(norm(x, p, axis), eps): the rows of `normalize(x, 2, -1)` have length 1.
Tensor normalize(const Tensor& x, Scalar p, Int axis, double eps = 1e-12);
/// sum(a b) / (max(|a|, eps) max(|b|, eps)) along an axis; shapes broadcast.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, Int axis, double eps = 1e-8);
/// Zeroes each element with probability p and scales the rest by 1 / (1 - p); x itself unless training.
Tensor dropout(const Tensor& x, double p, Flag training = true);
Tensor dropout(const Tensor& x, double p, Flag training, Generator& generator);

// ------------------------------------------------------- attention.cpp, attention_weights.cpp, rope.cpp
struct AttentionOptions {
  bool causal = false;  // position i sees keys up to i + (Tk - Tq)
  Tensor mask = {};     // broadcast to [B, H, Tq, Tk]; bool: true may be seen; float: added to the scores
  double dropout = 0;   // on the attention weights
  std::optional<double> scale = {};  // 1 / sqrt(D) when not given
  // A query sees only keys fewer than this many positions before (or, unless causal, after) its own; others
  // cost nothing: banded attention (Child et al. 2019), O(T window) time. 0: all. Query i is at position
  // i + (Tk - Tq).
  std::int64_t window = 0;
  bool alibi = false;  // subtract alibi_slopes(H)[h] |distance| from head h's scores (Press et al. 2022)
};
/// softmax(q k^T scale + mask) v: q [B, H, Tq, D], k [B, H, Tk, D], v [B, H, Tk, Dv] -> [B, H, Tq, Dv]
/// (Vaswani et al. 2017, section 3.2.1). A row that sees no key gives zeros. O(T) memory. k and v may have
/// fewer heads, a divisor of H: each serves H / Hkv consecutive query heads (Ainslie et al. 2023, "GQA").
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});
/// The same for q, k and v side by side, as from one projection: qkv [B, T, 3 C] -> [B, T, C], C = heads D.
/// Head h owns channels h D .. (h + 1) D - 1 of each part. Nothing is copied.
Tensor self_attention_packed(const Tensor& qkv, Int heads, const AttentionOptions& options = {});
/// ALiBi's slopes: 2^(-8 h / H) for h = 1 .. H; if H is not a power of 2, those of the next lower power and
/// every other one of twice that power, as in the authors' code.
std::vector<double> alibi_slopes(std::int64_t heads);
enum class RopePairs {
  halves,     // channel i rotates with i + D / 2: GPT-NeoX, Llama in Hugging Face's layout
  neighbours  // channel 2 i with 2 i + 1: the paper, GPT-J
};
struct RopeOptions {
  std::int64_t offset = 0;              // position of the first row
  double base = 10'000;                 // the slowest pair rotates by about 1 / base per position
  std::int64_t channels = 0;            // rotate the first so many of the D; 0: all
  RopePairs pairs = RopePairs::halves;  // which channels rotate together
};
/// Rotary position embedding (Su et al. 2021, "RoFormer"): x [..., T, D], queries or keys, with channel pair
/// i of row t rotated by the angle (offset + t) base^(-2i / channels). `q = rope(q, {.offset =
/// cache.length()});` Query-key products then depend on relative position.
Tensor rope(const Tensor& x, const RopeOptions& options = {});
/// The attention weights softmax(q k^T scale + mask), [B, H, Tq, Tk], without dropout.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {});

// ---------------------------------- loss.cpp, distance.cpp, kl_div.cpp, [linear_]cross_entropy.cpp
// Without elements (an empty batch, T = 0) a sum is 0; the mean of cross_entropy, linear_cross_entropy and
// nll_loss is 0 too, as when all targets are ignored: a batch of only padding must not ruin a training run.
// The mean of the others is NaN, like mean().
enum class Reduction { none, mean, sum };
struct CrossEntropyOptions {
  Tensor weight = {};  // [V]: how much a target of each class counts; gets no gradient
  std::optional<std::int64_t> ignore_index = -100;  // targets to ignore
  /// This share of the target is spread evenly over all classes (Szegedy et al. 2016).
  double label_smoothing = 0;
  // mean: over the targets not ignored, weighted by class; 0 if there are none
  Reduction reduction = Reduction::mean;
};
/// -log softmax(logits)[target]: logits [..., V], target [...] (i64) -> [] or, unreduced, [...]. The classes
/// are the last axis: use .transpose(1, 2) for PyTorch's [B, V, T]. With label_smoothing a class whose logit
/// is -inf makes the loss +inf, unless its weight is 0.
/// A target [..., V] of the logits' dtype holds probabilities p, and gets a gradient too: a row costs
/// -sum_v weight_v p_v log softmax(logits)_v, and the mean divides by the number of rows regardless of the
/// weights, as in PyTorch. A class with logit -inf and p = 0 costs 0 (PyTorch: NaN). p is not checked: it
/// need not sum to 1. `cross_entropy(student, softmax(teacher, -1))`
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options = {});
Tensor cross_entropy(const Tensor&, const Tensor&, const auto&) = delete;  // by name: {.weight = weight}
/// cross_entropy(linear(x, weight, bias), target) for a mean or sum, without ever holding all logits: x
/// [..., C], weight [V, C], target [...] (i64), bias [V] or undefined -> []. Rows are processed in chunks of
/// at most 32 MiB of logits, or of 64 rows. Forward also computes any gradient wanted: evaluate under NoGrad.
/// Until backward the tape keeps these, and x, weight, bias and target, which second derivatives need: they
/// take several arrays [..., V].
/// `linear_cross_entropy(hidden, embedding.weight, next_ids).backward();`
Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& target,
                            const CrossEntropyOptions& options = {}, const Tensor& bias = {});
/// -log_probabilities[target]: log_probabilities [..., V], target [...]; options as above except
/// label_smoothing. Throws if a target's value is positive: then these are logits or probabilities.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const CrossEntropyOptions& options = {});
/// (input - target)^2, shapes equal.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
/// |input - target|, shapes equal; gradient 0 where they are equal.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
/// (input - target)^2 / 2 up to a distance of delta, beyond it delta (|input - target| - delta / 2), linear,
/// to limit the effect of outliers. Shapes equal.
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
                  double delta = 1);
/// target (log target - input), 0 where target is 0: the divergence of the distribution `target` from one
/// with log-probabilities `input` (as in PyTorch; with log_target both are logarithms). Shapes equal. The
/// mean is over all elements; KL itself, PyTorch's "batchmean", divides by the number of rows only:
/// `kl_div(log_softmax(x, -1), p, Reduction::sum) / x.size(0)`
Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
              Flag log_target = false);
/// -y log s - (1 - y) log(1 - s), s = sigmoid(x), for logits x and targets y, shapes equal; a target outside
/// [0, 1] is an error. An infinite x costs 0 if it is right, +inf if wrong.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction = Reduction::mean);

}  // namespace gradus
