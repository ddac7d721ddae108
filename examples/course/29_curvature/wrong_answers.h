namespace row_sums {
using solution::largest_rate;
using solution::top_curvature;
Tensor product(const Loss& loss, const Tensor& w, const Tensor& v) {
  const Tensor g = grad(loss(w), {w}, {.create_graph = true})[0];
  return grad(g.sum(), {w})[0] * v.detach();
}
}  // namespace row_sums
MUTANT(row_sums, "the product with a matrix")

namespace outer_product {  // of the gradient with itself
using solution::largest_rate;
using solution::top_curvature;
Tensor product(const Loss& loss, const Tensor& w, const Tensor& v) {
  const Tensor g = grad(loss(w), {w})[0];
  return g * (g * v.detach()).sum();
}
}  // namespace outer_product
MUTANT(outer_product, "the product with a matrix", "the Hessian is that at w", "v is a constant")

namespace v_on_the_tape {
using solution::largest_rate;
using solution::top_curvature;
Tensor product(const Loss& loss, const Tensor& w, const Tensor& v) {
  const Tensor g = grad(loss(w), {w}, {.create_graph = true})[0];
  return grad((g * v).sum(), {w})[0];
}
}  // namespace v_on_the_tape
MUTANT(v_on_the_tape, "v is a constant")

namespace by_backward {
using solution::largest_rate;
using solution::top_curvature;
Tensor product(const Loss& loss, const Tensor& w, const Tensor& v) {
  const Tensor g = grad(loss(w), {w}, {.create_graph = true})[0];
  (g * v.detach()).sum().backward();
  return w.grad();
}
}  // namespace by_backward
MUTANT(by_backward, "nothing is added to w's grad")

namespace length_only {
using solution::largest_rate;
using solution::product;
double top_curvature(const Loss& loss, const Tensor& w, int steps) {
  Tensor v = randn(w.shape());
  double length = 0;
  for (int step = 0; step < steps; ++step) {
    v = product(loss, w, v / v.norm());
    length = v.norm().item();
  }
  return length;
}
}  // namespace length_only
MUTANT(length_only, "the curvature has a sign")

namespace never_scaled {
using solution::largest_rate;
using solution::product;
double top_curvature(const Loss& loss, const Tensor& w, int steps) {
  Tensor v = randn(w.shape());
  for (int step = 0; step < steps; ++step) v = product(loss, w, v);
  return ((v * product(loss, w, v)).sum() / (v * v).sum()).item();
}
}  // namespace never_scaled
MUTANT(never_scaled, "many steps")

namespace scaled_at_the_end {
using solution::largest_rate;
using solution::product;
double top_curvature(const Loss& loss, const Tensor& w, int steps) {
  Tensor v = randn(w.shape());
  for (int step = 0; step < steps; ++step) v = product(loss, w, v);
  v = v / v.norm();
  return (v * product(loss, w, v)).sum().item();
}
}  // namespace scaled_at_the_end
MUTANT(scaled_at_the_end, "many steps")

namespace from_ones {
using solution::largest_rate;
using solution::product;
double top_curvature(const Loss& loss, const Tensor& w, int steps) {
  Tensor v = ones(w.shape());
  for (int step = 0; step < steps; ++step) {
    v = product(loss, w, v);
    v = v / v.norm();
  }
  return (v * product(loss, w, v)).sum().item();
}
}  // namespace from_ones
MUTANT(from_ones, "v is not 1 everywhere")

namespace one_over {
using solution::product;
using solution::top_curvature;
double largest_rate(double s, double momentum) { return (1 + momentum) / s; }
}  // namespace one_over
MUTANT(one_over, "the largest rate is 2 / s", "momentum raises it")

namespace without_momentum {
using solution::product;
using solution::top_curvature;
double largest_rate(double s, double) { return 2 / s; }
}  // namespace without_momentum
MUTANT(without_momentum, "momentum raises it")
