namespace divided_by_h {
using solution::weighted_sum;
Tensor numeric_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, double h) {
  return solution::numeric_gradient(f, x, h) * 2;
}
}  // namespace divided_by_h
MUTANT(divided_by_h, "the gradient of a linear function", "it is exact for a square, even with a large h",
       "one element moves at a time")

namespace one_sided {
using solution::weighted_sum;
Tensor numeric_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, double h) {
  Tensor dx = zeros_like(x);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    Tensor step = zeros_like(x);
    step[i] = h;
    dx[i] = (f(x + step).item() - f(x).item()) / h;
  }
  return dx;
}
}  // namespace one_sided
MUTANT(one_sided, "it is exact for a square, even with a large h")

namespace steps_pile_up {
using solution::weighted_sum;
Tensor numeric_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, double) {
  const double h = 0.5;
  Tensor dx = zeros_like(x), moved = x.clone();
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double old = moved[i].item();
    moved[i] = old + h;
    const double ahead = f(moved).item();
    moved[i] = old - h;
    dx[i] = (ahead - f(moved).item()) / (2 * h);
  }
  return dx;
}
}  // namespace steps_pile_up
MUTANT(steps_pile_up, "one element moves at a time")

namespace x_is_left_moved {
using solution::weighted_sum;
Tensor numeric_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, double h) {
  const Tensor dx = solution::numeric_gradient(f, x, h);
  x[0] += h;
  return dx;
}
}  // namespace x_is_left_moved
MUTANT(x_is_left_moved, "x is unchanged")

namespace plain_sum {
using solution::numeric_gradient;
std::function<Tensor(const Tensor&)> weighted_sum(const std::function<Tensor(const Tensor&)>& f,
                                                  const Tensor&) {
  return [f](const Tensor& x) { return f(x).sum(); };
}
}  // namespace plain_sum
MUTANT(plain_sum, "a wrong softmax does not hide")

namespace vectors_only {
using solution::numeric_gradient;
std::function<Tensor(const Tensor&)> weighted_sum(const std::function<Tensor(const Tensor&)>& f,
                                                  const Tensor& weights) {
  return [f, weights](const Tensor& x) { return matmul(weights, f(x)); };
}
}  // namespace vectors_only
MUTANT(vectors_only, "a wrong softmax does not hide")

namespace an_h_of_its_own {
using solution::weighted_sum;
Tensor numeric_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, double) {
  return solution::numeric_gradient(f, x, 1e-4);
}
}  // namespace an_h_of_its_own
MUTANT(an_h_of_its_own, "it is exact for a square, even with a large h")

namespace captured_by_reference {
using solution::numeric_gradient;
std::function<Tensor(const Tensor&)> weighted_sum(const std::function<Tensor(const Tensor&)>& f,
                                                  const Tensor& weights) {
  const auto* kept = &f;  // as [&] keeps it; here for f alone, whose object outlives the case
  return [kept, weights](const Tensor& x) { return (weights * (*kept)(x)).sum(); };
}
}  // namespace captured_by_reference
MUTANT(captured_by_reference, "the function keeps f and weights")
