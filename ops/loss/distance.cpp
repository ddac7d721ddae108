// l1_loss and huber_loss, elementwise. d = x - y; g as in loss.cpp.
//
// l1_loss
//   loss = |d|
//   dx   = g sign(d), 0 at 0,   dy = -dx
// huber_loss (Huber 1964): d^2 / 2 up to delta, from there on a line with the slope delta
//   c    = d limited to [-delta, delta]
//   loss = c (d - c / 2)
//   dx   = g c,   dy = -dx
// Saved: the slope of an element, sign(d) or c.

#include "gradus/core/tape/record.h"
#include "gradus/ops/loss/pair.h"

namespace gradus {

namespace {

using kernels::Unary;

/// Ends a loss whose derivative by x - y is `slope`.
Tensor record_distance(const char* op, const Tensor& x, const Tensor& y, const Array& losses,
                       const Array& slope, Reduction reduction) {
  return record(op, reduce(losses, reduction), {&x, &y}, [=](const Array& dy, Needs needs) -> Grads {
    const Array dx = array::mul(slope, grad_of_each(dy, reduction, slope.numel()));
    return {needs[0] ? dx : Array(), needs[1] ? array::neg(dx) : Array()};
  });
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_pair("l1_loss", "input", input, target);
  const Array d = array::sub(input.array(), target.array());
  return record_distance("l1_loss", input, target, array::unary("l1_loss", Unary::abs, d),
                         array::unary("l1_loss", Unary::sign, d), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  check_pair("huber_loss", "input", input, target);
  check(delta > 0, "huber_loss: expects delta > 0, got {}", delta);
  const Array d = array::sub(input.array(), target.array()), c = array::clamp(d, -delta, delta);
  const Array losses = array::mul(c, array::sub(d, array::mul(c, 0.5)));
  return record_distance("huber_loss", input, target, losses, c, reduction);
}

}  // namespace gradus
