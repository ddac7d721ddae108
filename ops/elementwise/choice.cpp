// Choosing elements: comparisons and logic give bool tensors (no gradient flows through them); where,
// masked_fill and clamp let the gradient through where their input was let through.
//
//   y = where(c, a, b)       da = dy where c, else 0      db = 0 where c, else dy      saves c
//   y = masked_fill(x, m, v) dx = 0 where m, else dy                                   saves m
//   y = clamp(x, low, high)  dx = dy where low <= x <= high, else 0                    saves x
//                            a bound that is not given is an infinite one
//
// Each gradient is linear in dy and depends otherwise on the choice alone: a second derivative chooses again.

#include <cmath>

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using kernels::Compare;

Tensor compare(const char* op, Compare f, const Tensor& a, const Tensor& b) {
  return record(op, array::compare(op, f, a.array(), b.array()), {&a, &b});
}

Tensor compare(const char* op, Compare f, const Tensor& a, Scalar b) {
  check(f == Compare::eq || f == Compare::ne || operand(op, a).dtype() != boolean,
        "{}: bools are neither more nor less than a number; write a < b < c as (a < b) & (b < c)", op);
  return record(op, array::compare(op, f, a.array(), b), {&a});
}

/// A condition or mask; throws unless it is a defined bool tensor.
const Array& bool_operand(const char* op, const Tensor& x) {
  check_bool(op, operand(op, x));
  return x.array();
}

/// |x|; of integers and bools, which are finite anyway, x.
Array size_of_each(const char* op, const Array& x) {
  return is_floating(x.dtype()) ? array::unary(op, kernels::Unary::abs, x) : x;
}

Array zero_like(const Array& x) { return array::scalar(0, x.dtype()); }

}  // namespace

Tensor operator==(const Tensor& a, const Tensor& b) { return compare("eq", Compare::eq, a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return compare("ne", Compare::ne, a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return compare("lt", Compare::lt, a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return compare("le", Compare::le, a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return compare("gt", Compare::gt, a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return compare("ge", Compare::ge, a, b); }
Tensor operator==(const Tensor& a, Scalar b) { return compare("eq", Compare::eq, a, b); }
Tensor operator!=(const Tensor& a, Scalar b) { return compare("ne", Compare::ne, a, b); }
Tensor operator<(const Tensor& a, Scalar b) { return compare("lt", Compare::lt, a, b); }
Tensor operator<=(const Tensor& a, Scalar b) { return compare("le", Compare::le, a, b); }
Tensor operator>(const Tensor& a, Scalar b) { return compare("gt", Compare::gt, a, b); }
Tensor operator>=(const Tensor& a, Scalar b) { return compare("ge", Compare::ge, a, b); }

Tensor operator!(const Tensor& x) {
  const Array& values = bool_operand("operator!", x);
  return record("operator!", array::compare("operator!", Compare::eq, values, zero_like(values)), {&x});
}

Tensor operator&(const Tensor& a, const Tensor& b) {
  const Array &x = bool_operand("operator&", a), &y = bool_operand("operator&", b);
  broadcast_shapes("operator&", x.shape(), y.shape());
  return record("operator&", array::where(x, y, zero_like(y)), {&a, &b});
}

Tensor operator|(const Tensor& a, const Tensor& b) {
  const Array &x = bool_operand("operator|", a), &y = bool_operand("operator|", b);
  broadcast_shapes("operator|", x.shape(), y.shape());
  return record("operator|", array::where(x, array::scalar(1, boolean), y), {&a, &b});
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Array& c = bool_operand("where", condition);
  return record("where", array::where(c, a.array(), b.array()), {&a, &b},
                [c = Saved(c), sa = a.shape(), sb = b.shape()]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  const V zero = formula::zero_for(dy);
                  return {of[0] ? formula::sum_to(formula::choose(*c, dy, zero), sa) : V(),
                          of[1] ? formula::sum_to(formula::choose(*c, zero, dy), sb) : V()};
                });
}

Tensor where(const Tensor& condition, const Tensor& a, Scalar b) {
  return where(condition, a, Tensor(array::number_like("where", b, operand("where", a))));
}

Tensor where(const Tensor& condition, Scalar a, const Tensor& b) {
  return where(condition, Tensor(array::number_like("where", a, operand("where", b))), b);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, Scalar value) {
  const Array &from = operand("masked_fill", x), &m = bool_operand("masked_fill", mask);
  check(broadcast_shapes("masked_fill", m.shape(), from.shape()) == from.shape(),
        "masked_fill: a mask {} does not broadcast to x {}", m.shape(), from.shape());
  return record("masked_fill", array::where(m, array::number_like("masked_fill", value, from), from), {&x},
                [m = Saved(m)]<class V>(const V& dy, auto) -> GradsOf<V> {
                  return {formula::choose(*m, formula::zero_for(dy), dy)};
                });
}

Tensor isnan(const Tensor& x) {
  const Array& from = operand("isnan", x);
  return record("isnan", array::compare("isnan", Compare::ne, from, from), {&x});
}

Tensor isinf(const Tensor& x) {
  const Array& from = operand("isinf", x);
  return record("isinf", array::compare("isinf", Compare::eq, size_of_each("isinf", from), INFINITY), {&x});
}

Tensor isfinite(const Tensor& x) {
  const Array& from = operand("isfinite", x);
  return record("isfinite", array::compare("isfinite", Compare::lt, size_of_each("isfinite", from), INFINITY),
                {&x});
}

Tensor clamp(const Tensor& x, std::optional<Scalar> from_low, std::optional<Scalar> to_high) {
  const Array& from = operand("clamp", x);
  check(from_low || to_high, "clamp: expects a bound, low or high, for the tensor {}", x.shape());
  const Scalar low = from_low.value_or(-INFINITY), high = to_high.value_or(INFINITY);
  const bool ordered =
      low.whole() && high.whole() ? *low.whole() <= *high.whole() : low.as<double>() <= high.as<double>();
  check(ordered, "clamp: expects low <= high, got {} and {}", low, high);
  return record("clamp", array::clamp(from, low, high), {&x},
                [from = Saved(from), low, high]<class V>(const V& dy, auto) -> GradsOf<V> {
                  const V zero = formula::zero_for(dy);
                  const V above = formula::choose(array::compare("clamp", Compare::ge, *from, low), dy, zero);
                  return {formula::choose(array::compare("clamp", Compare::le, *from, high), above, zero)};
                });
}

}  // namespace gradus
