#pragma once
// The catalogue: every op, with a sentence, its shapes and an example. Each family is one file of a folder
// here (attention: several), which opens with the formula, its derivative and what is saved for backward.
//
// Shapes broadcast as in NumPy. Axes may be negative. All differentiable ops work in f32 and f64; operands
// must have the same dtype (convert with .to()). Every op throws gradus::Error naming itself and, where
// shapes matter, those it got. Letters: B batch, T positions, C channels, H heads, D channels of one head, V
// vocabulary (docs/notation.md).

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

// ---------------------------------------------------- arithmetic.cpp, division.cpp, choice.cpp: broadcast
// +, -, *, /, %, comparisons and logic are operators on Tensor (core/tensor.h), and so are +=, -=, *=, /=.
// Integers divide truly, to default_dtype(): 7 / 2 is 3.5.

/// x^exponent. `pow(x, 3)`
Tensor pow(const Tensor& x, double exponent);
/// base^exponent, elementwise.
Tensor pow(const Tensor& base, const Tensor& exponent);
/// The quotient rounded down, also for integers: -7 by 2 is -4. By 0: an error for i64, else IEEE's inf or
/// NaN. Gradient 0. `floor_divide(index, width)` is the row, `index % width` the column.
Tensor floor_divide(const Tensor& a, const Tensor& b);
Tensor floor_divide(const Tensor& a, Scalar b);
/// a - b floor(a / b), the same as a % b: it has b's sign, as in Python (C++ gives a's): -7 % 3 is 2. By 0:
/// an error for i64, else NaN. Gradient 1 for a, -floor(a / b) for b.
Tensor remainder(const Tensor& a, const Tensor& b);
Tensor remainder(const Tensor& a, Scalar b);
/// The larger of a and b; NaN where either is. Equal elements share the gradient in halves.
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
/// passes.
Tensor clamp(const Tensor& x, std::optional<Scalar> low, std::optional<Scalar> high = {});
/// True where x is NaN (bool, of any dtype).
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);     ///< inf or -inf
Tensor isfinite(const Tensor& x);  ///< neither NaN nor infinite

/// True when |a - b| <= atol + rtol |b| everywhere (shapes broadcast), of any dtype. An infinity is close to
/// itself only, NaN to nothing or, with equal_nan, to NaN. No gradient. `allclose(y, reference, 1e-4)`
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
              Flag equal_nan = false);
/// True when shapes and all values are equal: nothing broadcasts, NaN equals nothing, -0 equals 0. Of one
/// dtype, as for ==; another is an error, not false. No gradient. `equal(restored, saved)`
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
Tensor sign(const Tensor& x);   ///< -1, 0 or 1, gradient 0; NaN passes (in PyTorch it gives 0)
Tensor floor(const Tensor& x);  ///< the next whole number below, gradient 0; integers stay
Tensor ceil(const Tensor& x);   ///< the next whole number above, gradient 0; integers stay
Tensor round(const Tensor& x);  ///< the nearest whole number, gradient 0: halves to the even one, 2.5 to 2
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     ///< max(x, 0); NaN passes
Tensor silu(const Tensor& x);     ///< x sigmoid(x), also called swish
/// x where it is positive, else negative_slope x.
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
/// log(1 + exp(beta x)) / beta: relu with a round corner. Exact for every x: PyTorch's threshold is not
/// needed.
Tensor softplus(const Tensor& x, double beta = 1);
Tensor erf(const Tensor& x);
enum class GeluForm { erf, tanh };
/// x Phi(x) (Hendrycks & Gimpel 2016): Phi by erf, or by GPT-2's tanh approximation.
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::erf);
/// Those of feed-forward networks; gelu_tanh is GPT-2's approximation of gelu.
enum class Activation { relu, gelu, gelu_tanh, silu };
/// `activate(Activation::silu, x)` is silu(x).
Tensor activate(Activation activation, const Tensor& x);

// ------- reduce.cpp, var.cpp, prod.cpp, extreme.cpp, all_any.cpp, cumsum.cpp: no axes means all of them
/// Sum; of nothing 0. `sum(x, {0, 2}, /*keepdim=*/true)`
Tensor sum(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
/// Mean; of nothing NaN.
Tensor mean(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
/// Variance, divided by n - 1 or, biased, n. `var(x, -1, {.keepdim = true, .unbiased = false})`
Tensor var(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
Tensor var(const Tensor&, const Axes&, bool, bool = true) = delete;  // say which: {.unbiased = false}
/// Standard deviation, sqrt(var(x)); gradient 0 where it is 0. The gradient needs a deviation of 1.2e-38 (f64:
/// 2.2e-308) or more, below which it loses digits, and x - mean that does not overflow. With
/// `using namespace gradus`, where std is also C++'s, call the method: `x.std(-1)`.
Tensor std(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
Tensor std(const Tensor&, const Axes&, bool, bool = true) = delete;  // say which: {.unbiased = false}
/// Product; of nothing 1. The gradient is right also where elements are 0.
Tensor prod(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
/// Whether all elements along the axes differ from 0 (bool); of nothing true. `all(x == y, -1)`
Tensor all(const Tensor& x, const Axes& axes, Flag keepdim = false);
/// Whether some do; of nothing false. Without axes x.all() and x.any() give a C++ bool.
Tensor any(const Tensor& x, const Axes& axes, Flag keepdim = false);
/// Largest element; equal ones share the gradient evenly (PyTorch's amax); an error on nothing.
Tensor max(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
Tensor min(const Tensor& x, const Axes& axes = {}, Flag keepdim = false);
Tensor max(const Tensor&, const std::derived_from<Tensor> auto&) = delete;  // of two tensors: maximum(a, b)
Tensor min(const Tensor&, const std::derived_from<Tensor> auto&) = delete;  // of two tensors: minimum(a, b)
/// Largest element along an axis and its index (i64): of equal ones the first, which has the gradient alone,
/// as in PyTorch's x.max(axis). `auto [value, index] = max_with_indices(x, -1);`
std::pair<Tensor, Tensor> max_with_indices(const Tensor& x, Int axis, Flag keepdim = false);
std::pair<Tensor, Tensor> min_with_indices(const Tensor& x, Int axis, Flag keepdim = false);
/// Index (i64) of the first largest element along an axis, or in the flattened tensor.
Tensor argmax(const Tensor& x, std::optional<Int> axis = {}, Flag keepdim = false);
Tensor argmin(const Tensor& x, std::optional<Int> axis = {}, Flag keepdim = false);
Tensor argmax(const Tensor&, BoolOrFloat auto, Flag = false) = delete;  // the axis is an integer
Tensor argmin(const Tensor&, BoolOrFloat auto, Flag = false) = delete;  // the axis is an integer
/// p = 2: sqrt(sum x^2), gradient 0 at 0; p = 1: sum |x|; p = INFINITY: max |x|. `norm(x, 2, -1)` of the rows
Tensor norm(const Tensor& x, Scalar p = 2, const Axes& axes = {}, Flag keepdim = false);
Tensor norm(const Tensor&, std::initializer_list<Int>, Flag = false) = delete;  // norm(x, 2, axes)
/// log(sum(exp(x))) without overflow; -inf for all -inf.
Tensor logsumexp(const Tensor& x, const Axes& axes, Flag keepdim = false);
/// Running sum along an axis.
Tensor cumsum(const Tensor& x, Int axis);

// ---------------------------------------------------------------- matmul.cpp, einsum.cpp
/// Matrix product as in NumPy: 1-d operands are vectors, more than 2 axes are batches that broadcast.
/// `matmul(q, k.transpose(-2, -1))` [B, H, T, D] x [B, H, D, T] -> [B, H, T, T]; transposes cost no copy.
Tensor matmul(const Tensor& a, const Tensor& b);
/// x W^T + bias: x [..., in], weight [out, in] (PyTorch's layout), bias [out] or undefined -> [..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
/// activate(activation, linear(x, weight, bias)); relu comes with the product, or after it where OpenBLAS
/// multiplies.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation);
/// [N] x [M] -> [N, M].
Tensor outer(const Tensor& a, const Tensor& b);
/// A product told by letters, one for each axis: axes of one letter meet, those that the result lacks are
/// summed over, a letter twice in one operand is its diagonal, ... stands for axes that broadcast. Without ->
/// the result has the letters that appear once, sorted. From left to right, by matmul where axes meet and are
/// summed. `einsum("bqd,bkd->bqk", {q, k})`, `einsum("ii", {x})` the trace
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
/// Windows of `size` elements along an axis, one every `step`: their number takes the axis's place, what is
/// in them comes last; a view. `unfold(x, 1, 3)` [B, T, C] -> [B, T - 2, C, 3]
Tensor unfold(const Tensor& x, Int axis, Int size, Int step = 1);

// ---------------------------------------------------------------- pad.cpp
/// x with `value` around it. pads: before and after along the last axis, then along the one before it, ... as
/// in PyTorch; negative ones cut off. `pad(x, {1, 2})` [..., T] -> [..., 1 + T + 2]
Tensor pad(const Tensor& x, const std::vector<Int>& pads, Scalar value = 0);
enum class PadMode { reflect, replicate };
/// x with itself around it, mirrored at its first and last element, which are not repeated, or these two
/// repeated. Of any axes; pads of 0 or more.
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
/// Pieces of the given sizes, which must add up.
TensorList split(const Tensor& x, const std::vector<std::int64_t>& sizes, Int axis = 0);
TensorList split(const Tensor& x, std::initializer_list<std::int64_t> sizes, Int axis = 0);
/// At most `count` pieces of equal size (the last may be smaller); of an empty axis `count` empty ones.
TensorList chunk(const Tensor& x, Int count, Int axis = 0);
/// x[0], x[1], ... along an axis, which they lack: views.
TensorList unbind(const Tensor& x, Int axis = 0);
/// The whole of x counts[i] times along axis i; more counts than axes add axes in front.
/// `repeat(x, {3, 1})` [R, C] -> [3 R, C]: all rows, then all rows again
Tensor repeat(const Tensor& x, const Dims& counts);
/// Each part of x along an axis `count` times in a row; no axis means those of the flattened x.
/// `repeat_interleave(x, 3, 0)` [R, C] -> [3 R, C]: the first row three times, then the second
Tensor repeat_interleave(const Tensor& x, Int count, std::optional<Int> axis = {});
/// The same with a count (i64) for each part, or one for all.
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
/// x with source put at y[i][index[i][j][k]][k] for axis 1; of repeated indices the last counts.
Tensor scatter(const Tensor& x, Int axis, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, Int axis, const Tensor& index, Scalar value);
/// x with row j of source added to row index[j] (rows along axis) for a 1-d index, in the order of j.
Tensor index_add(const Tensor& x, Int axis, const Tensor& index, const Tensor& source);
/// Elements of x where mask (bool) is true, in row-major order: [count]; shapes broadcast. With a mask of the
/// first axes only, x[mask] picks rows.
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// Where x is not 0, in row-major order: [count, axes of x], i64.
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
/// exp(x_i) / sum_j exp(x_j) along an axis, which has no default: attention's is the last (the keys).
Tensor softmax(const Tensor& x, Int axis);
Tensor log_softmax(const Tensor& x, Int axis);

// ------------------------------------------------ layer_norm.cpp, rms_norm.cpp, normalize.cpp, dropout.cpp
/// (x - mean) / sqrt(var + eps) * weight + bias over the last axis, biased variance, eps inside the root
/// (Ba et al. 2016). x [..., C], weight and bias [C] or undefined. A constant row gives its bias, or NaN with
/// eps 0. Rows may have any finite size and lie far from 0: where squares leave the range of the dtype, or
/// |mean| is over 160 deviations, a row and its gradient are computed in f64 (PyTorch: NaN above 1e19 in f32).
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang & Sennrich 2019), for rows of any finite size;
/// a row of zeros gives zeros, or NaN with eps 0.
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-6);
/// x / max(norm(x, p, axis), eps): `normalize(x, 2, -1)` has rows of length 1.
Tensor normalize(const Tensor& x, Scalar p, Int axis, double eps = 1e-12);
/// sum(a b) / (max(|a|, eps) max(|b|, eps)) along an axis; shapes broadcast.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, Int axis, double eps = 1e-8);
/// Zeroes each element with probability p and scales the others by 1 / (1 - p); x itself unless training.
Tensor dropout(const Tensor& x, double p, Flag training = true);
Tensor dropout(const Tensor& x, double p, Flag training, Generator& generator);

// ------------------------------------------------------- attention.cpp, attention_weights.cpp, rope.cpp
struct AttentionOptions {
  bool causal = false;  // position i sees keys up to i + (Tk - Tq)
  Tensor mask = {};     // broadcast to [B, H, Tq, Tk]; bool: true may be seen; float: added to the scores
  double dropout = 0;   // on the attention weights
  std::optional<double> scale = {};  // 1 / sqrt(D) when not given
  // Keys less than so many positions before (or, unless causal, after) a query's own are seen, all others are
  // not and cost nothing: banded attention (Child et al. 2019), O(T window) time. 0: all. Query i stands at
  // position i + (Tk - Tq).
  std::int64_t window = 0;
  bool alibi = false;  // minus alibi_slopes(H)[h] |distance| on the scores of head h (Press et al. 2022)
};
/// softmax(q k^T scale + mask) v: q [B, H, Tq, D], k [B, H, Tk, D], v [B, H, Tk, Dv] -> [B, H, Tq, Dv]
/// (Vaswani et al. 2017, section 3.2.1). A row that sees no key gives zeros. O(T) memory. k and v may have
/// fewer heads, a divisor of H: H / Hkv queries' heads in a row share each (Ainslie et al. 2023, "GQA").
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});
/// The same for q, k and v side by side, as one projection gives them: qkv [B, T, 3 C] -> [B, T, C],
/// C = heads D. Head h owns channels h D .. (h + 1) D - 1 of each part. Nothing is copied.
Tensor self_attention_packed(const Tensor& qkv, Int heads, const AttentionOptions& options = {});
/// ALiBi's slopes: 2^(-8 h / H) for h = 1 .. H; where H is no power of 2, those of the power below and every
/// other one of twice that, as in its authors' code.
std::vector<double> alibi_slopes(std::int64_t heads);
enum class RopePairs {
  halves,     // channel i turns with i + D / 2: GPT-NeoX, Llama in Hugging Face's layout
  neighbours  // channel 2 i with 2 i + 1: the paper, GPT-J
};
struct RopeOptions {
  std::int64_t offset = 0;              // position of the first row
  double base = 10'000;                 // the slowest pair turns by about 1 / base a position
  std::int64_t channels = 0;            // how many of the D turn, the first ones; 0: all
  RopePairs pairs = RopePairs::halves;  // which channels turn together
};
/// Rotary positions (Su et al. 2021, "RoFormer"): x [..., T, D], queries or keys, with pair i of the channels
/// of row t turned by the angle (offset + t) base^(-2i / channels). `q = rope(q, {.offset =
/// cache.length()});` Products of queries and keys then depend on how far apart they are.
Tensor rope(const Tensor& x, const RopeOptions& options = {});
/// The attention weights softmax(q k^T scale + mask) themselves, [B, H, Tq, Tk], without dropout.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options = {});

// ---------------------------------- loss.cpp, distance.cpp, kl_div.cpp, [linear_]cross_entropy.cpp
// Without elements (an empty batch, T = 0) a sum is 0; the mean of cross_entropy, linear_cross_entropy and
// nll_loss is 0 too, as when all targets are ignored: a batch of padding alone must not spoil a training run.
// That of the others is NaN, as that of mean() is.
enum class Reduction { none, mean, sum };
struct CrossEntropyOptions {
  Tensor weight = {};  // [V]: how much a target of each class counts; gets no gradient
  std::optional<std::int64_t> ignore_index = -100;  // targets that do not count
  /// This share of the target is spread evenly over all classes (Szegedy et al. 2016).
  double label_smoothing = 0;
  // mean: over the targets that count, each as much as its class's weight; 0 when none does
  Reduction reduction = Reduction::mean;
};
/// -log softmax(logits)[target]: logits [..., V], target [...] (i64) -> [] or, unreduced, [...]. The classes
/// are the last axis: PyTorch's [B, V, T] is .transpose(1, 2) away. With label_smoothing a class whose logit
/// is -inf makes the loss +inf, unless its weight is 0.
/// A target [..., V] of the logits' dtype holds probabilities p, and gets a gradient too: a row costs
/// -sum_v weight_v p_v log softmax(logits)_v, and the mean divides by the number of rows, whatever the
/// weights, as in PyTorch. A class with logit -inf and p = 0 costs nothing (in PyTorch NaN). p is not
/// checked: it need not add up to 1. `cross_entropy(student, softmax(teacher, -1))`
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options = {});
Tensor cross_entropy(const Tensor&, const Tensor&, const auto&) = delete;  // by name: {.weight = weight}
/// cross_entropy(linear(x, weight, bias), target) for a mean or sum, without ever holding all logits: x
/// [..., C], weight [V, C], target [...] (i64), bias [V] or undefined -> []. Rows pass in chunks of at most
/// 32 MiB of logits, or of 64 rows; where a gradient is wanted forward computes it too: use NoGrad to
/// evaluate.
/// `linear_cross_entropy(hidden, embedding.weight, next_ids).backward();`
Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& target,
                            const CrossEntropyOptions& options = {}, const Tensor& bias = {});
/// -log_probabilities[target]: log_probabilities [..., V], target [...]; options as above but
/// label_smoothing. Throws where a target's is positive: these are then logits or probabilities.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const CrossEntropyOptions& options = {});
/// (input - target)^2, shapes equal.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
/// |input - target|, shapes equal; gradient 0 where they are equal.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
/// (input - target)^2 / 2 up to a distance of delta, from there on delta (|input - target| - delta / 2): a
/// line, so that outliers do not rule. Shapes equal.
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
                  double delta = 1);
/// target (log target - input), 0 where target is 0: how far the distribution `target` is from one whose
/// log-probabilities are `input` (so in PyTorch; with log_target both are logarithms). Shapes equal. The mean
/// is that over all elements; KL itself, PyTorch's "batchmean", divides by the rows only:
/// `kl_div(log_softmax(x, -1), p, Reduction::sum) / x.size(0)`
Tensor kl_div(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
              Flag log_target = false);
/// -y log s - (1 - y) log(1 - s), s = sigmoid(x), for logits x and targets y, shapes equal; a target outside
/// [0, 1] is an error. An infinite x that is right costs 0, one that is wrong +inf.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction = Reduction::mean);

}  // namespace gradus
