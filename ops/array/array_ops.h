#pragma once
// The array operations: arithmetic on Arrays, without a tape, of which forward and backward of the
// ops are made. Inputs may have any layout; outputs are fresh and contiguous unless a comment says otherwise.
//
//   elementwise.cpp     with elementwise_loops.h (which loop) and elementwise_short_rows.h
//   reduce.cpp          with reduce_tree.h; reduce_in_f64.h does single rows again
//   matmul.cpp          products, cut into tiles
//   rows.h, scratch.h   for ops that call kernels of their own, row by row

#include "gradus/core/array/array.h"
#include "gradus/core/tape/autocast.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus::array {

/// Throws naming `op` unless a and b are defined and of one dtype.
void check_operands(const char* op, const Array& a, const Array& b);

// elementwise (elementwise.cpp): broadcast; neg, abs, square, relu, sign, floor, ceil, round and every binary
// but pow also work on i64 (div is true division), comparisons and where on every dtype
Array unary(const char* op, kernels::Unary f, const Array& x);
Array unary_grad(const char* op, kernels::UnaryGrad f, const Array& saved, const Array& dy);
Array binary(const char* op, kernels::Binary f, const Array& a, const Array& b);
Array binary(const char* op, kernels::Binary f, const Array& a, Scalar b);
Array binary(const char* op, kernels::Binary f, Scalar a, const Array& b);
/// x = f(x, y) in x's memory, y broadcast to x; raises x's version.
void update(const char* op, kernels::Binary f, const Array& x, const Array& y);
void update(const char* op, kernels::Binary f, const Array& x, Scalar y);
Array compare(const char* op, kernels::Compare f, const Array& a, const Array& b);
Array compare(const char* op, kernels::Compare f, const Array& a, Scalar b);
Array clamp(const Array& x, Scalar low, Scalar high);
Array where(const Array& condition, const Array& a, const Array& b);
Array add(const Array& a, const Array& b);
Array sub(const Array& a, const Array& b);
Array mul(const Array& a, const Array& b);
Array div(const Array& a, const Array& b);
Array mul(const Array& a, Scalar b);
Array neg(const Array& x);
/// A 0-d array holding `value`, to broadcast against others.
Array scalar(Scalar value, DType dtype);
/// The same for a number that meets x: throws naming `op` when it is not an i64 and x is.
Array number_like(const char* op, Scalar value, const Array& x);

// reductions (reduce.cpp); axes as in ops.h
Array sum(const Array& x, const Axes& axes = {}, bool keepdim = false);
/// Sum of squares.
Array sum_square(const char* op, const Array& x, const Axes& axes = {}, bool keepdim = false);
/// Largest or smallest elements (extreme.cpp), by kind; of bools as 0 and 1 in i64.
Array extreme(const char* op, kernels::Binary kind, const Array& x, const Axes& axes, bool keepdim);
/// Where the first of them is, along an axis or in all of x: i64.
Array arg_extreme(const char* op, kernels::Binary kind, const Array& x, std::optional<Int> axis,
                  bool keepdim);
inline Array max(const Array& x, const Axes& axes = {}, bool keepdim = false) {
  return extreme("max", kernels::Binary::maximum, x, axes, keepdim);
}
/// Broadcasting's backward: sums dy over the axes along which `shape` was repeated. dy itself when none were.
Array sum_to(const Array& dy, const Shape& shape);

// matrix products (matmul.cpp), those of f32 in product_dtype()
/// [..., M, K] x [..., K, N] -> [..., M, N], batch axes broadcast; any strides; 1-d operands as in NumPy.
/// bias [N], where there is one, is added to every row; `relu` makes negative results 0.
Array matmul(const Array& a, const Array& b, const Array& bias = {}, bool relu = false);
/// c (+)= a b for a [M, K], b [K, N] of any strides and a contiguous c [M, N]; `ahead` is fetched meanwhile.
/// rows x [m, k] of f32 times the transpose of a weight [n, k] in bf16, which is read as it is.
Array matmul_weight(const Array& x, const Array& weight, const Array& bias, bool relu);
void matmul_into(const Array& a, const Array& b, const Array& c, bool add, ReadAhead ahead = {});

/// Whether a product of this dtype is to round its operands to bf16: asked on the thread that calls an op,
/// never on the pool's.
inline bool in_bf16(DType dtype) { return dtype == f32 && product_dtype() == bf16; }

}  // namespace gradus::array
