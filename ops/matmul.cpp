// Matrix products.
//
// matmul      c = a b            a [..., M, K], b [..., K, N], c [..., M, N]; batch axes broadcast
//   da = dc b^T                  transposes are views: the product reads them as they lie
//   db = a^T dc                  summed over the batch axes an operand was repeated along
//   saves a and b
//
// linear      y = x W^T + bias   x [..., in], W [out, in], bias [out], y [..., out]
//   dx = dy W                    all rows of x, whatever their axes, are one matrix
//   dW = dy^T x
//   dbias = sum of dy over rows
//   saves x and W
//   A weight in bf16 is for inference: a product as under Autocast, of f32 x, without gradients.
//
// outer       c_ij = a_i b_j     a product with K = 1, in f32 under Autocast too
//
// Under Autocast the operands of all of them are rounded to bf16: a and b, x and W, dc and dy. What is saved
// is not.

#include "gradus/core/tape/detail/next_reads.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/linear_checks.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/elementwise/activation_rule.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

// V: Array or Tensor.

template <class V>
V transposed(const V& x) {
  return x.transpose(-2, -1);
}

/// x as one matrix of rows, [rows, C].
template <class V>
V rows_of(const V& x) {
  Shape leading = x.shape();
  leading.erase(x.dim() - 1);
  return x.reshape({numel(leading), x.size(-1)});
}

/// db = a^T dc: where b is one matrix for a whole batch, one product over all rows of the batch.
template <class V>
V grad_of_right(const V& a, const V& b, const V& dc) {
  if (b.dim() == 2 && a.dim() > 2) return formula::matmul(transposed(rows_of(a)), rows_of(dc));
  return formula::sum_to(formula::matmul(transposed(a), dc), b.shape());
}

/// da = dc b^T
template <class V>
V grad_of_left(const V& a, const V& b, const V& dc) {
  return formula::sum_to(formula::matmul(dc, transposed(b)), a.shape());
}

/// A gradient a b of two matrices, which the product can add directly to an accumulated gradient.
/// Meanwhile it fetches `ahead`.
Gradient matmul_gradient(const Shape& shape, const Array& a, const Array& b, ReadAhead ahead) {
  return {shape, a.dtype(), [=](const Array& total, bool add) {
            array::matmul_into(a, b, total.reshape({a.size(0), b.size(1)}), add, ahead);
          }};
}

/// linear's gradients as a formula, for x of this shape, saved as rows.
std::vector<Tensor> linear_derivative(const Tensor& dy, const Saved& rows, const Saved& w, const Shape& shape,
                                      const Taped& of) {
  const Tensor dy2 = rows_of(dy);
  return {of[0] ? matmul(dy2, of.in(1, w)).reshape(shape) : Tensor(),
          of[1] ? matmul(transposed(dy2), rows_of(of.in(0, rows->reshape(shape)))) : Tensor(),
          of[2] ? dy2.sum(0) : Tensor()};
}

/// Puts y = x W^T + bias, computed already from x's rows, on the tape.
Tensor record_linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const Array& rows,
                     const Array& y) {
  Shape shape = x.shape();
  shape[x.dim() - 1] = weight.size(0);
  return record("linear", y.reshape(shape), {&x, &weight, &bias},
                [x = Saved(rows), w = Saved(weight.array()), shape = x.shape()]<class V>(
                    const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>) {
                    return linear_derivative(dy, x, w, shape, of);
                  } else {
                    const Array dy2 = rows_of(dy);
                    Gradient dx, dw, dbias;
                    // While one product computes, the memory read next is prefetched.
                    if (of[0]) dx = matmul_gradient(shape, dy2, *w, of[1] ? read_ahead(*x) : ReadAhead());
                    if (of[1])
                      dw = matmul_gradient({dy2.size(1), x->size(1)}, transposed(dy2), *x, next_step_reads());
                    if (of[2]) dbias = array::sum(dy2, 0);
                    return {dx, dw, dbias};
                  }
                });
}

/// With a weight stored in bf16.
Tensor linear_read(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu) {
  check(!grad_enabled() || !(x.requires_grad() || (bias.defined() && bias.requires_grad())),
        "linear: with a weight in bf16, which is for inference, there is no gradient, but {} requires one: "
        "call "
        "it under NoGrad, or convert the weight with .to(f32)",
        x.requires_grad() ? "x" : "bias");
  Shape shape = x.shape();
  shape[x.dim() - 1] = weight.size(0);
  return record("linear",
                array::matmul_weight(rows_of(x.array()), weight.array(), bias.array(), relu).reshape(shape),
                {&x});
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  Array c = array::matmul(operand("matmul", a), operand("matmul", b));
  return record("matmul", c, {&a, &b},
                [a = Saved(a.array()), b = Saved(b.array())]<class V>(const V& dc, auto of) -> GradsOf<V> {
                  // Vectors become matrices of one row or column, and their gradients vectors again.
                  const bool row = a->dim() == 1, column = b->dim() == 1;
                  const V& a1 = of.in(0, a);
                  const V& b1 = of.in(1, b);
                  const V a2 = row ? a1.unsqueeze(0) : a1, b2 = column ? b1.unsqueeze(1) : b1;
                  const V dc1 = column ? dc.unsqueeze(-1) : dc, dc2 = row ? dc1.unsqueeze(-2) : dc1;
                  return {of[0] ? grad_of_left(a2, b2, dc2).reshape(a->shape()) : V(),
                          of[1] ? grad_of_right(a2, b2, dc2).reshape(b->shape()) : V()};
                });
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear("linear", x, weight, bias);
  if (is_half(weight.dtype())) return linear_read(x, weight, bias, false);
  const Array rows = rows_of(x.array());
  return record_linear(x, weight, bias, rows, array::matmul(rows, transposed(weight.array()), bias.array()));
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  // ReLU costs the product's kernel nothing; GELU and SiLU are slower tile by tile than as a pass of their
  // own.
  if (activation != Activation::relu) return activate(activation, linear(x, weight, bias));
  check_linear("linear", x, weight, bias);
  if (is_half(weight.dtype())) return linear_read(x, weight, bias, true);
  const Array rows = rows_of(x.array());
  const Array y = array::matmul(rows, transposed(weight.array()), bias.array(), true);
  // ReLU's gradient needs its output only, and linear's needs neither: one array serves as both outputs.
  const Tensor h = record_linear(x, weight, bias, rows, y);
  return record_activation(rule_of(activation), h, h.array());
}

Tensor outer(const Tensor& a, const Tensor& b) {
  check(operand("outer", a).dim() == 1 && operand("outer", b).dim() == 1,
        "outer: expects two vectors, got {} and {}", a.shape(), b.shape());
  check_floating("outer", a.array());
  array::check_operands("outer", a.array(), b.array());
  const Autocast off(f32);  // a single multiplication, as in a * b
  return matmul(a.unsqueeze(1), b.unsqueeze(0));
}

}  // namespace gradus
