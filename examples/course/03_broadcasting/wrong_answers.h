namespace mean_for_sum {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;
  while (dx.dim() > shape.size()) dx = dx.mean(0);
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) dx = dx.mean(axis, true);
  return dx;
}
using solution::times_backward;
}  // namespace mean_for_sum
MUTANT(mean_for_sum, "an axis that was missing", "an axis that was stretched",
       "missing and stretched at once", "down to one number")

namespace axis_lost {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = solution::sum_to(dy, shape);
  return shape.size() == 2 && shape[1] == 1 ? dx.squeeze(1) : dx;
}
using solution::times_backward;
}  // namespace axis_lost
MUTANT(axis_lost, "an axis that was stretched", "missing and stretched at once")

namespace missing_axes_behind {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;
  while (dx.dim() > shape.size()) dx = dx.sum(-1);
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) dx = dx.sum(axis, true);
  return dx;
}
using solution::times_backward;
}  // namespace missing_axes_behind
MUTANT(missing_axes_behind, "an axis that was missing", "missing and stretched at once")

namespace stretched_only {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  return dy.dim() == shape.size() ? solution::sum_to(dy, shape) : dy;
}
using solution::times_backward;
}  // namespace stretched_only
MUTANT(stretched_only, "an axis that was missing", "missing and stretched at once", "down to one number")

namespace sum_before_product {
using solution::sum_to;
std::pair<Tensor, Tensor> times_backward(const Tensor& a, const Tensor& b, const Tensor& dy) {
  return {sum_to(dy, a.shape()) * b.mean(), sum_to(dy, b.shape()) * a.mean()};
}
}  // namespace sum_before_product
MUTANT(sum_before_product, "a product: each gets the other's value")

namespace everything_summed {
Tensor sum_to(const Tensor& dy, const Shape& shape) { return zeros(shape) + dy.sum(); }
using solution::times_backward;
}  // namespace everything_summed
MUTANT(everything_summed, "equal shapes: nothing to sum", "an axis that was missing",
       "an axis that was stretched", "missing and stretched at once")

namespace one_or_the_other {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  if (dy.dim() == shape.size()) return solution::sum_to(dy, shape);
  Tensor dx = dy;
  while (dx.dim() > shape.size()) dx = dx.sum(0);
  return dx;
}
using solution::times_backward;
}  // namespace one_or_the_other
MUTANT(one_or_the_other, "missing and stretched at once")

namespace axes_not_aligned {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) dx = dx.sum(axis, true);
  while (dx.dim() > shape.size()) dx = dx.sum(0);
  return dx;
}
using solution::times_backward;
}  // namespace axes_not_aligned
MUTANT(axes_not_aligned, "missing and stretched at once")

namespace first_axis_forgotten {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;
  while (dx.dim() > shape.size()) dx = dx.sum(0);
  for (int axis = 1; axis < shape.size(); ++axis)
    if (shape[axis] == 1) dx = dx.sum(axis, true);
  return dx;
}
using solution::times_backward;
}  // namespace first_axis_forgotten
MUTANT(first_axis_forgotten, "an axis that was stretched")

namespace one_axis_alone {
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  Tensor dx = dy;
  while (dx.dim() > shape.size()) dx = dx.sum(0);
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) return dx.sum(axis, true);
  return dx;
}
using solution::times_backward;
}  // namespace one_axis_alone
MUTANT(one_axis_alone, "an axis that was stretched")
