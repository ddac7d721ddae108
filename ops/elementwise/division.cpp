// Division that rounds down, and its remainder, as in Python: floor_divide(a, b) b + remainder(a, b) is a,
// and the remainder has b's sign. kernels/body/functions.h: value
//
//   y = floor(a / b)          no gradient: 0                          saves nothing
//   y = a - b floor(a / b)    da = dy    db = -dy floor(a / b)        saves a and b for db
//
// Integers have no infinity for a division by zero: an error.

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using kernels::Binary;
using kernels::Compare;

[[noreturn]] void fail_zero(const char* op, const Array& a) {
  fail_with("{}: division of an i64 {} by zero: convert with .to(f32) to get inf or NaN", op, a.shape());
}

const Array& divisor(const char* op, const Array& a, const Tensor& b) {
  const Array& by = b.array();
  array::check_operands(op, a, by);
  if (by.dtype() == i64 && a.numel() > 0 && array::sum(array::compare(op, Compare::eq, by, 0)).item() > 0)
    fail_zero(op, a);
  return by;
}

Scalar divisor(const char* op, const Array& a, Scalar b) {
  if (a.dtype() == i64 && a.numel() > 0 && b.whole() == 0) fail_zero(op, a);
  return b;
}

template <class V>
V zeros_as(const Shape& shape, const V& dy) {
  return V(Array::zeros(shape, dy.dtype()));
}

}  // namespace

Tensor floor_divide(const Tensor& a, const Tensor& b) {
  const Array &x = operand("floor_divide", a), &by = divisor("floor_divide", x, b);
  return record("floor_divide", array::binary("floor_divide", Binary::floor_divide, x, by), {&a, &b},
                [sa = a.shape(), sb = b.shape()]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {of[0] ? zeros_as(sa, dy) : V(), of[1] ? zeros_as(sb, dy) : V()};
                });
}

Tensor floor_divide(const Tensor& a, Scalar b) {
  const Array& x = operand("floor_divide", a);
  const Scalar by = divisor("floor_divide", x, b);
  return record("floor_divide", array::binary("floor_divide", Binary::floor_divide, x, by), {&a},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {zeros_as(dy.shape(), dy)}; });
}

Tensor remainder(const Tensor& a, const Tensor& b) {
  const Array &x = operand("remainder", a), &by = divisor("remainder", x, b);
  const bool db = b.requires_grad();
  return record("remainder", array::binary("remainder", Binary::remainder, x, by), {&a, &b},
                [sa = a.shape(), x = db ? Saved(x) : Saved(), by = db ? Saved(by) : Saved()]<class V>(
                    const V& dy, auto of) -> GradsOf<V> {
                  V da, dby;
                  if (of[0]) da = formula::sum_to(dy, sa);
                  if (of[1]) {  // floor(a / b) is flat: a constant also for second derivatives
                    const V times(array::binary("remainder", Binary::floor_divide, *x, *by));
                    dby = formula::neg(formula::sum_to(formula::mul(dy, times), by->shape()));
                  }
                  return {da, dby};
                });
}

Tensor remainder(const Tensor& a, Scalar b) {
  const Array& x = operand("remainder", a);
  const Scalar by = divisor("remainder", x, b);
  return record("remainder", array::binary("remainder", Binary::remainder, x, by), {&a},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {dy}; });
}

Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
Tensor operator%(const Tensor& a, Scalar b) { return remainder(a, b); }

}  // namespace gradus
