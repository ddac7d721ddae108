#pragma once
// The inner loops: plain functions on contiguous memory, one table per instruction set and element type.
//
// Every loop is written once in body.h over a small vector type (vec_*.h) and compiled for each
// instruction set (kernels_scalar.cpp, kernels_avx2.cpp, ...); dispatch.cpp picks a table once, by CPU. A
// loop runs on one thread; callers cut the work into chunks (parallel.h). Pointers need no alignment. An
// elementwise result depends on its own inputs only, never on the element's place in the run.

#include <cstdint>

#include "gradus/core/detail/read_ahead.h"
#include "gradus/core/half.h"
#include "gradus/ops/backend.h"

namespace gradus {

namespace kernels {

// The names of the elementwise functions. Each is defined by a line of body/functions.h; a name without one
// does not compile.

/// exp, expm1, log, log2, log1p, sin, cos, tanh, erf and rsqrt are within 2 ulp of the exact value, sigmoid
/// within 3, silu within 4 (until denormal); log2 of a power of 2 is exact; gelu's far left tail carries the
/// error of exp's rounded argument. NaN gives NaN, for relu and sign too; gelu, gelu_tanh and silu of -inf
/// are their limit, -0.
enum class Unary {
  neg,
  abs,
  square,
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  expm1,
  log,
  log2,
  log1p,
  sin,
  cos,
  tanh,
  sigmoid,
  relu,
  gelu,       // x Phi(x), Phi by erf
  gelu_tanh,  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  silu,       // x sigmoid(x)
  erf,
  sign,
  floor,
  ceil,
  round,  // ties to even
  count
};

/// dx = dy * f'(.), given what forward saved: the output y for the first three, the input x for the others.
enum class UnaryGrad { tanh, sigmoid, relu, gelu, gelu_tanh, silu, erf, sin, cos, count };

/// maximum and minimum are NaN where either is; floor_divide and remainder as in ops.h.
enum class Binary { add, sub, mul, div, pow, floor_divide, remainder, maximum, minimum, count };
enum class Compare { eq, ne, lt, le, gt, ge, count };

/// Adam's constants for one step; the bias corrections are worked out by the caller. In double for every T:
/// in float, 1 - 0.999 would keep only half of its digits.
template <class T>
struct AdamStep {
  double lr, beta1, beta2, eps, weight_decay;
  double bias_correction1, bias_correction2_sqrt;  // 1 - beta1^t, sqrt(1 - beta2^t)
  bool decoupled;                                  // AdamW: decay the weight, not the gradient
};

/// A matrix of a product: rows that lie ld apart, or with `transposed` the transpose of what is stored so.
template <class T>
struct Operand {
  const T* data;
  std::int64_t ld;
  bool transposed = false;

  /// The part that starts at (row, column) of the matrix as seen, not as stored. (Always inline: see
  /// vec_scalar.h.)
  [[gnu::always_inline]] Operand from(std::int64_t row, std::int64_t column) const {
    return {data + (transposed ? column * ld + row : row * ld + column), ld, transposed};
  }
  /// Whether rows lie a multiple of 4 KiB apart: they fall on the same few places of a cache and push each
  /// other out.
  [[gnu::always_inline]] bool crowded() const { return ld * std::int64_t{sizeof(T)} % 4096 == 0; }
};

/// C [m, n] = alpha A [m, k] B [k, n] + beta D [m, n] + bias [n], negative values 0 with `relu`. C and D are
/// row-major and may be the same.
template <class T>
struct Product {
  std::int64_t m, n, k;
  Operand<T> a, b;
  T* c;
  std::int64_t ldc;
  T alpha = 1, beta = 0;
  const T* d = c;  // not read where beta is 0
  std::int64_t ldd = ldc;
  const T* bias = nullptr;
  bool relu = false;
  ReadAhead ahead = {};  // prefetched meanwhile, as time allows
  bool bf16 = false;     // of float: A and B rounded to bf16, sums in f32 (bf16.h)
  // With bf16, in B's place: its transpose [n, k], stored in bf16 in rows that lie b.ld apart.
  const BFloat16* weight = nullptr;
};

/// Attention scores [rows, keys], row stride ld: row r sees the first seen + step r of its keys (at least
/// none, at most all).
template <class T>
struct ScoreRows {
  std::int64_t rows, keys;
  T* data;
  std::int64_t ld, seen, step;
};

/// References, so that a table that lacks one does not compile.
template <class T>
struct Table {
  using I = std::int64_t;

  // Elementwise. Inputs may equal outputs. Strides sa, sb, sc are 0 (one value for all) or 1.
  void (*unary[static_cast<int>(Unary::count)])(I n, const T* x, T* y);
  void (*unary_grad[static_cast<int>(UnaryGrad::count)])(I n, const T* saved, const T* dy, T* dx);
  void (*binary[static_cast<int>(Binary::count)])(I n, const T* a, I sa, const T* b, I sb, T* y);
  void (*compare[static_cast<int>(Compare::count)])(I n, const T* a, I sa, const T* b, I sb, bool* y);
  void (&where)(I n, const bool* c, I sc, const T* a, I sa, const T* b, I sb, T* y);
  void (&scale)(I n, T alpha, const T* x, T* y);        // y = alpha x
  void (&mul_add)(I n, const T* a, const T* b, T* y);   // y += a b
  void (&clamp)(I n, T low, T high, const T* x, T* y);  // NaN passes

  // Reductions of one run. The order of additions depends on n only.
  T (&sum)(I n, const T* x);
  T (&sum_square)(I n, const T* x);
  T (&mean_below)(I n, T top, const T* x);  // mean of top - x: exact differences, no overflow beyond theirs
  T (&max)(I n, const T* x);                // NaN when any is NaN; n >= 1
  T (&min)(I n, const T* x);

  // Rows of C values.
  void (&softmax)(I n, const T* x, T* y);
  void (&softmax_grad)(I n, const T* y, const T* dy, T* dx);  // y (dy - sum dy y)
  void (&log_softmax)(I n, const T* x, T* y);
  void (&log_softmax_grad)(I n, const T* y, const T* dy, T* dx);  // dy - exp(y) sum dy
  T (&logsumexp)(I n, const T* x);                                // -inf for all -inf
  // y = exp(x - shift), returns the sum of y: the two halves of a softmax kept apart. A shift of -inf, the
  // maximum of a row of -inf, gives zeros and the sum 0.
  T (&exp_shift_sum)(I n, T shift, const T* x, T* y);

  // Attention over a few keys at a time (body/attention.h); what a row does not see becomes 0.
  // s = exp(s - largest), with largest [rows] and sum [rows] kept up to date from call to call; correction
  // [rows] is what earlier sums were multiplied by. They start at -inf and 0.
  void (&attention_exp)(const ScoreRows<T>& s, T* largest, T* sum, T* correction);
  // Rows of `out` (n values, row stride ld), sums over exp(s - largest), become means: y = y / sum; `sum`
  // becomes 1 / sum. A row that saw nothing (its sum is 0) becomes 0, and so do its largest and 1 / sum.
  void (&attention_output)(I rows, I n, T* largest, T* sum, T* out, I ld);
  // s = exp(s - largest) inverse, with what attention_output left in `largest` and `sum`.
  void (&attention_weights)(const ScoreRows<T>& s, const T* largest, const T* inverse);
  // delta[r] = dot of rows r of dout and out, n values each: the sum over its keys of p dp, but for rounding.
  void (&attention_delta)(I rows, I n, const T* dout, I ld_dout, const T* out, I ld_out, T* delta);
  // dp = p (dp - delta): from gradients of weights to gradients of scores. p has the same layout as dp; delta
  // is the sum of a row's p dp. `estimate` is an approximation of it, or 0 where a row's keys are all in one
  // call. weight and rest [rows], 0 before the first call, accumulate p and p (dp - estimate). A row's weight
  // ends in the last call, or when it reaches 1 within 4 eps: if that call holds a quarter of the weight or
  // more, its results are corrected so that those of all calls sum to 0, and rest becomes 0.
  void (&attention_score_grad)(const ScoreRows<T>& dp, const T* p, bool last, const T* estimate, T* weight,
                               T* rest);

  // Layer norm of `rows` rows of n >= 1 values. weight and bias may be null; mean and rstd hold one value a
  // row. dx may be null; dweight and dbias (may be null) are added to, row after row.
  void (&layer_norm)(I rows, I n, T eps, const T* x, const T* weight, const T* bias, T* y, T* mean, T* rstd);
  void (&layer_norm_grad)(I rows, I n, const T* x, const T* weight, const T* mean, const T* rstd, const T* dy,
                          T* dx, T* dweight, T* dbias);
  // RMS norm of one row; the same.
  void (&rms_norm)(I n, T eps, const T* x, const T* weight, T* y, T* rstd);
  void (&rms_norm_grad)(I n, const T* x, const T* weight, T rstd, const T* dy, T* dx, T* dweight);

  // A matrix product; k >= 1. An element of C depends on its row of A, its column of B and what is added to
  // it only, not on m, n or its place. Narrow tiles of a product are made here like all others (paths.h).
  void (&gemm)(const Product<T>& product);
  // y[i] = sum_j a[i][j] x[j] (a is [m, k], row stride lda): a matrix times a vector. The sums' order depends
  // on k only.
  void (&gemv)(I m, I k, const T* a, I lda, const T* x, T* y);
  // y[r ldy + i] = sum_j a[i lda + j] x[r ldx + j] for r < count: a matrix times a few vectors, read once for
  // them. The sums' order depends on k only.
  void (&gemv_few)(I m, I k, const T* a, I lda, I count, const T* x, I ldx, T* y, I ldy);
  // y[j] = sum_i x[i] a[i][j] (a is [m, n], row stride lda): a row vector times a matrix.
  void (&gemv_t)(I m, I n, const T* a, I lda, const T* x, T* y);

  void (&adam)(I n, const AdamStep<T>& step, const T* grad, T* p, T* m, T* v);
  // y = x times 1 / (1 - p) where the uniform number of element `first + i` is >= p, else 0. Element e uses
  // word e % 4 of Philox block `block + e / 4`.
  void (&dropout)(I n, double p, std::uint64_t key, std::uint64_t stream, std::uint64_t block,
                  std::uint64_t first, const T* x, T* y);
};

/// The table in use for float or double: one pointer read.
template <class T>
const Table<T>& table();
template <>
const Table<float>& table<float>();
template <>
const Table<double>& table<double>();

// One per instruction set, each defined in its own file (AVX on x86-64, NEON on 64-bit ARM only).
template <class T>
const Table<T>& scalar_table();
template <>
const Table<float>& scalar_table<float>();
template <>
const Table<double>& scalar_table<double>();

template <class T>
const Table<T>& avx2_table();
template <>
const Table<float>& avx2_table<float>();
template <>
const Table<double>& avx2_table<double>();

template <class T>
const Table<T>& avx512_table();
template <>
const Table<float>& avx512_table<float>();
template <>
const Table<double>& avx512_table<double>();

template <class T>
const Table<T>& simd128_table();
template <>
const Table<float>& simd128_table<float>();
template <>
const Table<double>& simd128_table<double>();

template <class T>
const Table<T>& neon_table();
template <>
const Table<float>& neon_table<float>();
template <>
const Table<double>& neon_table<double>();

}  // namespace kernels
}  // namespace gradus
