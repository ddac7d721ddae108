// Arithmetic of two operands. Shapes broadcast: where an operand was repeated to fit, its gradient is the sum
// over the repetitions, sum_to(., shape). Gradients of y, a, b: dy, da, db.
//
//   y = a + b     da = dy            db = dy                 saves nothing
//   y = a - b     da = dy            db = -dy                saves nothing
//   y = a b       da = dy b          db = dy a               saves what the other gradient needs
//   y = a / b     da = dy / b        db = -dy y / b          saves b, and y for db
//   y = max(a, b) da = dy where a > b, dy / 2 where a = b, else 0; db likewise; saves a and b
//
// With a number in place of a tensor there is nothing to save for it, and no gradient.
// kernels/body/functions.h: value
// Integers: / is true division and gives default_dtype() (7 / 2 is 3.5, 1 / 0 is inf), as in PyTorch.

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using kernels::Binary;
using kernels::Compare;

/// The operand saved for the other's backward; nothing if the other needs no gradient.
Saved saved_for(const Tensor& wants_gradient, const Array& x) {
  return wants_gradient.requires_grad() ? Saved(x) : Saved();
}

/// The gradient of a in maximum (loses = lt) or minimum (loses = gt). Where a NaN was, dy passes whole.
template <class V>
V winner_gradient(const char* op, Compare loses, const Array& a, const Array& b, const V& dy) {
  const V won = formula::choose(array::compare(op, Compare::eq, a, b), formula::mul(dy, 0.5), dy);
  return formula::sum_to(formula::choose(array::compare(op, loses, a, b), formula::zero_for(dy), won),
                         a.shape());
}

Tensor extremum(const char* op, Binary f, Compare loses, const Tensor& a, const Tensor& b) {
  const Array &x = operand(op, a), &z = operand(op, b);
  return record(op, array::binary(op, f, x, z), {&a, &b},
                [op, loses, x = Saved(x), z = Saved(z)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {of[0] ? winner_gradient(op, loses, *x, *z, dy) : V(),
                          of[1] ? winner_gradient(op, loses, *z, *x, dy) : V()};
                });
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) {
  return record("add", array::add(a.array(), b.array()), {&a, &b},
                [sa = a.shape(), sb = b.shape()]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {of[0] ? formula::sum_to(dy, sa) : V(), of[1] ? formula::sum_to(dy, sb) : V()};
                });
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  return record(
      "sub", array::sub(a.array(), b.array()), {&a, &b},
      [sa = a.shape(), sb = b.shape()]<class V>(const V& dy, auto of) -> GradsOf<V> {
        return {of[0] ? formula::sum_to(dy, sa) : V(), of[1] ? formula::neg(formula::sum_to(dy, sb)) : V()};
      });
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  return record("mul", array::mul(a.array(), b.array()), {&a, &b},
                [sa = a.shape(), sb = b.shape(), a = saved_for(b, a.array()),
                 b = saved_for(a, b.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {of[0] ? formula::sum_to(formula::mul(dy, of.in(1, b)), sa) : V(),
                          of[1] ? formula::sum_to(formula::mul(dy, of.in(0, a)), sb) : V()};
                });
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  const Array y = array::div(a.array(), b.array());
  return record("div", y, {&a, &b},
                [sa = a.shape(), b = Saved(b.array()), y = saved_for(b, y)]<class V>(const V& dy,
                                                                                     auto of) -> GradsOf<V> {
                  const V da = formula::div(dy, of.in(1, b));
                  return {
                      of[0] ? formula::sum_to(da, sa) : V(),
                      of[1] ? formula::neg(formula::sum_to(formula::mul(da, of.out(y)), b->shape())) : V()};
                });
}

Tensor operator+(const Tensor& a, Scalar b) {
  return record("add", array::binary("add", Binary::add, a.array(), b), {&a},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {dy}; });
}

Tensor operator-(const Tensor& a, Scalar b) {
  return record("sub", array::binary("sub", Binary::sub, a.array(), b), {&a},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {dy}; });
}

Tensor operator*(const Tensor& a, Scalar b) {
  return record("mul", array::binary("mul", Binary::mul, a.array(), b), {&a},
                [b]<class V>(const V& dy, auto) -> GradsOf<V> { return {formula::mul(dy, b)}; });
}

Tensor operator/(const Tensor& a, Scalar b) {
  return record("div", array::binary("div", Binary::div, a.array(), b), {&a},
                [b]<class V>(const V& dy, auto) -> GradsOf<V> { return {formula::div(dy, b)}; });
}

Tensor operator+(Scalar a, const Tensor& b) { return b + a; }

Tensor operator-(Scalar a, const Tensor& b) {
  return record("sub", array::binary("sub", Binary::sub, a, b.array()), {&b},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {formula::neg(dy)}; });
}

Tensor operator*(Scalar a, const Tensor& b) { return b * a; }

Tensor operator/(Scalar a, const Tensor& b) {
  const Array y = array::binary("div", Binary::div, a, b.array());
  return record("div", y, {&b},
                [b = Saved(b.array()), y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {formula::neg(formula::div(formula::mul(dy, of.out(y)), of.in(0, b)))};
                });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  return extremum("maximum", Binary::maximum, Compare::lt, a, b);
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  return extremum("minimum", Binary::minimum, Compare::gt, a, b);
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, Flag equal_nan) {
  const NoGrad guard;
  array::check_operands("allclose", operand("allclose", a), operand("allclose", b));
  broadcast_shapes("allclose", a.shape(), b.shape());
  check(rtol >= 0 && atol >= 0, "allclose: expects tolerances of 0 or more, got {} and {}", rtol, atol);
  const Tensor equal = a == b;
  if (equal.all()) return true;
  const DType wide = is_floating(a.dtype()) ? a.dtype() : f64;
  const Tensor x = a.detach().to(wide), y = b.detach().to(wide);
  Tensor error = abs(x - y);
  if (a.dtype() == i64)  // exact where it fits: f64 would round what is beyond 2^53
    error = where(error < 0x1p62, abs(a - b).to(f64), error);
  // An infinity is close to itself only: rtol |inf| would allow anything.
  Tensor near = equal | ((error <= abs(y) * rtol + atol) & (error < INFINITY));
  if (equal_nan) near = near | ((x != x) & (y != y));
  return near.all();
}

bool equal(const Tensor& a, const Tensor& b) {
  array::check_operands("equal", operand("equal", a), operand("equal", b));
  if (is_half(a.dtype())) detail::fail_half("equal", a.dtype(), a.shape());
  if (a.shape() != b.shape()) return false;
  const NoGrad guard;
  return (a == b).all();
}

}  // namespace gradus
