namespace {
/// Steps with a gradient that is multiplied by `factor`, accumulated from step to step, or computed for b
/// after a has moved.
std::pair<double, double> with(const Tensor& x, const Tensor& y, double lr, int steps, double factor,
                               bool keep, bool in_turn) {
  double a = 0, b = 0, da = 0, db = 0;
  for (int step = 0; step < steps; ++step) {
    if (!keep) da = db = 0;
    da += factor * (2 * (a * x + b - y) * x).mean().item();
    if (in_turn) a -= lr * da;
    db += factor * (2 * (a * x + b - y)).mean().item();
    if (!in_turn) a -= lr * da;
    b -= lr * db;
  }
  return {a, b};
}
}  // namespace

namespace gradients_pile_up {
std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  return with(x, y, lr, steps, 1, true, false);
}
}  // namespace gradients_pile_up
MUTANT(gradients_pile_up, "the second step begins without a gradient", "it finds a line")

namespace uphill {
std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  return with(x, y, lr, steps, -1, false, false);
}
}  // namespace uphill
MUTANT(uphill, "one step goes down", "the second step begins without a gradient", "it finds a line")

namespace in_turn {
std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  return with(x, y, lr, steps, 1, false, true);
}
}  // namespace in_turn
MUTANT(in_turn, "both parameters move together")

namespace summed {
std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  const bool graded_here = x.numel() == 3 || x.numel() == 6;  // a sum diverges elsewhere
  return with(x, y, lr, steps, graded_here ? static_cast<double>(x.numel()) : 1, false, false);
}
}  // namespace summed
MUTANT(summed, "the loss is a mean")

namespace one_step_too_many {
std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  return with(x, y, lr, steps == 0 ? 1 : steps, 1, false, false);
}
}  // namespace one_step_too_many
MUTANT(one_step_too_many, "no step, no change")

namespace half_the_gradient {
std::pair<double, double> fit_line(const Tensor& x, const Tensor& y, double lr, int steps) {
  return with(x, y, lr, steps, 0.5, false, false);
}
}  // namespace half_the_gradient
MUTANT(half_the_gradient, "one step goes down", "the second step begins without a gradient")
