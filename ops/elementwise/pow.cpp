// Powers. Shapes broadcast, with sum_to as in arithmetic.cpp.
//
//   y = x^p     dx = dy p x^(p-1)                              for a number p; saves x
//   y = a^b     da = dy b a^(b-1)     db = dy y log a          saves a, b, and y for db
//               (0 where b = 0)       (0 where a = 0, b >= 0)
//
// The k-th derivative by a, b (b - 1) ... (b - k + 1) a^(b-k), is 0 for b = 0, 1, ..., k - 1, even where
// a^(b-k) is infinite. So on the tape, 0 times anything is 0 in da and db and in their own gradients of any
// order. At a = b = 0 both are constants.
// kernels/body/functions.h: value

#include <cmath>

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using kernels::Binary;
using kernels::Compare;
using kernels::Unary;

constexpr const char* kPow = "pow";

/// x^p; powers with their own kernel are cheaper and exact.
Array power(const Array& x, double p) {
  if (p == 2) return array::mul(x, x);
  if (p == 1) return x;
  if (p == 0.5) return array::unary(kPow, Unary::sqrt, x);
  if (p == -1) return array::unary(kPow, Unary::reciprocal, x);
  return array::binary(kPow, Binary::pow, x, p);
}
Tensor power(const Tensor& x, double p) { return pow(x, p); }

/// a^(b-1)
Array lower_power(const Array& a, const Array& b) {
  return array::binary(kPow, Binary::pow, a, array::binary(kPow, Binary::sub, b, 1));
}

Array is_zero(const Array& x) { return array::compare(kPow, Compare::eq, x, 0); }

/// a b, where 0 times anything is 0.
Array times(const Array& a, const Array& b) {
  const Array zero = formula::zero_for(a);
  return array::where(is_zero(a), zero, array::where(is_zero(b), zero, array::mul(a, b)));
}
Tensor times(const Tensor& a, const Tensor& b) {
  return record(kPow, times(a.array(), b.array()), {&a, &b},
                [a = Saved(a.array()), b = Saved(b.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  return {of[0] ? formula::sum_to(times(dy, of.in(1, b)), a->shape()) : V(),
                          of[1] ? formula::sum_to(times(dy, of.in(0, a)), b->shape()) : V()};
                });
}

/// dy/da: 0 where b = 0, so that 0 * inf never makes a NaN.
Array slope_by_base(const Array& a, const Array& b) {
  return array::where(is_zero(b), formula::zero_for(b), array::mul(b, lower_power(a, b)));
}

/// dy/db; the limit 0 where y is 0, as of inf^-1, and at 0^0.
Array slope_by_exponent(const Array& a, const Array& b, const Array& y) {
  const Array zero = formula::zero_for(b);
  const Array slope = array::where(is_zero(y), zero, array::mul(y, array::unary(kPow, Unary::log, a)));
  const Array at_zero = array::where(array::compare(kPow, Compare::ge, b, 0), zero, slope);
  return array::where(is_zero(a), at_zero, slope);
}

/// a, but the constant `number` where a is 0 and `b_too` is true.
Tensor constant_at_zero(const Tensor& a, const Array& b_too, double number) {
  const Array where_both = array::where(is_zero(a.array()), b_too, array::scalar(0, boolean));
  return formula::choose(where_both, Tensor(array::scalar(number, a.dtype())), a);
}

std::vector<Tensor> taped_gradients(const Tensor& dy, const Saved& a, const Saved& b, const Saved& y,
                                    const Taped& of) {
  const Tensor base = of.in(0, a), exponent = of.in(1, b);
  Tensor da, db;
  if (of[0]) {
    // b 0^-1 at b = 0 would have an infinite derivative by b; b inf^-1 has none.
    const Tensor from = constant_at_zero(base, is_zero(*b), INFINITY);
    da = formula::sum_to(times(dy, times(exponent, pow(from, exponent - 1))), a->shape());
  }
  if (of[1]) {
    const Array has_limit = array::compare(kPow, Compare::ge, *b, 0);  // 0 = y log 1
    db = formula::sum_to(times(dy, times(of.out(y), log(constant_at_zero(base, has_limit, 1)))), b->shape());
  }
  return {da, db};
}

}  // namespace

Tensor pow(const Tensor& x, double exponent) {
  const Array& a = floating_operand(kPow, x);
  return record(kPow, exponent == 1 ? a.clone() : power(a, exponent), {&x},
                [a = Saved(a), exponent]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if (exponent == 0) return {V(Array::zeros(dy.shape(), dy.dtype()))};
                  return {formula::mul(dy, formula::mul(power(of.in(0, a), exponent - 1), exponent))};
                });
}

Tensor pow(const Tensor& base, const Tensor& exponent) {
  const Array &a = operand(kPow, base), &b = operand(kPow, exponent);
  const Array y = array::binary(kPow, Binary::pow, a, b);
  return record(
      kPow, y, {&base, &exponent},
      [a = Saved(a), b = Saved(b), y = exponent.requires_grad() ? Saved(y) : Saved()]<class V>(
          const V& dy, auto of) -> GradsOf<V> {
        if constexpr (kTaped<V>)
          return taped_gradients(dy, a, b, y, of);
        else
          return {of[0] ? array::sum_to(array::mul(dy, slope_by_base(*a, *b)), a->shape()) : Array(),
                  of[1] ? array::sum_to(array::mul(dy, slope_by_exponent(*a, *b, *y)), b->shape()) : Array()};
      });
}

}  // namespace gradus
