// l1_loss and huber_loss, elementwise. d = x - y; g as in loss.cpp.
//
// l1_loss
//   loss = |d|
//   dx   = g sign(d), 0 at 0,   dy = -dx
// huber_loss (Huber 1964): d^2 / 2 up to delta, from there on a line with the slope delta
//   c    = d limited to [-delta, delta]
//   loss = c (d - c / 2)
//   dx   = g c,   dy = -dx
// Saved: the slope of an element, sign(d) or c. It changes with d where it is c and |c| < delta.

#include "gradus/core/tape/record.h"
#include "gradus/ops/loss/pair.h"

namespace gradus {

namespace {

using kernels::Unary;

/// The slope as a function of d: d itself within delta, else constant.
const Array& slope_of(const Plain&, const Array& slope, double) { return slope; }
Tensor slope_of(const Taped& of, const Array& slope, double delta) {
  const Tensor constant(slope);
  return where(abs(constant) < delta, difference_of(of, slope), constant);
}

/// Ends a loss whose derivative by x - y is `slope`, x - y where that is less than delta.
Tensor record_distance(const char* op, const Tensor& x, const Tensor& y, const Array& losses,
                       const Array& slope, Reduction reduction, double delta) {
  return record(op, reduce(losses, reduction), {&x, &y}, [=]<class V>(const V& dy, auto of) -> GradsOf<V> {
    const V g = grad_of_each(dy, reduction, slope.numel());
    const V dx = formula::mul(slope_of(of, slope, delta), g);
    return {of[0] ? dx : V(), of[1] ? formula::neg(dx) : V()};
  });
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_pair("l1_loss", "input", input, target);
  const Array d = array::sub(input.array(), target.array());
  return record_distance("l1_loss", input, target, array::unary("l1_loss", Unary::abs, d),
                         array::unary("l1_loss", Unary::sign, d), reduction, /*delta=*/0);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  check_pair("huber_loss", "input", input, target);
  check(delta > 0, "huber_loss: expects delta > 0, got {}", delta);
  const Array d = array::sub(input.array(), target.array()), c = array::clamp(d, -delta, delta);
  const Array losses = array::mul(c, array::sub(d, array::mul(c, 0.5)));
  return record_distance("huber_loss", input, target, losses, c, reduction, delta);
}

}  // namespace gradus
