namespace {
Tensor with(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
            double eps, bool correct, bool inside, bool square) {
  moments.m = b1 * moments.m + (1 - b1) * g;
  moments.v = b2 * moments.v + (1 - b2) * (square ? g.square() : g.abs());
  const Tensor mhat = correct ? moments.m / (1 - std::pow(b1, t)) : moments.m,
               vhat = correct ? moments.v / (1 - std::pow(b2, t)) : moments.v;
  return w - lr * mhat / (inside ? (vhat + eps).sqrt() : vhat.sqrt() + eps);
}
}  // namespace

namespace no_bias_correction {
using solution::noam;
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  return with(w, g, moments, t, lr, b1, b2, eps, false, false, true);
}
}  // namespace no_bias_correction
MUTANT(no_bias_correction, "the first step is lr, whatever the gradient", "eps is outside the root",
       "bias correction fades with t")

namespace eps_inside {
using solution::noam;
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  return with(w, g, moments, t, lr, b1, b2, eps, true, true, true);
}
}  // namespace eps_inside
MUTANT(eps_inside, "eps is outside the root")

namespace absolute_value_for_square {
using solution::noam;
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  return with(w, g, moments, t, lr, b1, b2, eps, true, false, false);
}
}  // namespace absolute_value_for_square
MUTANT(absolute_value_for_square, "the moments are averages", "the first step is lr, whatever the gradient",
       "eps is outside the root")

namespace correction_always_of_the_first_step {
using solution::noam;
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int, double lr, double b1, double b2,
                 double eps) {
  return with(w, g, moments, 1, lr, b1, b2, eps, true, false, true);
}
}  // namespace correction_always_of_the_first_step
MUTANT(correction_always_of_the_first_step, "bias correction fades with t")

namespace max_for_min {
using solution::adam_step;
double noam(int t, int d, int warmup) {
  return std::pow(d, -0.5) * std::max(std::pow(t, -0.5), t * std::pow(warmup, -1.5));
}
}  // namespace max_for_min
MUTANT(max_for_min, "the rate rises to its peak at the end of the warm-up")

namespace without_the_width {
using solution::adam_step;
double noam(int t, int, int warmup) { return solution::noam(t, 1, warmup); }
}  // namespace without_the_width
MUTANT(without_the_width, "the peak is 1 / sqrt(d warmup)")

namespace only_the_step {
using solution::noam;
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  return with(0 * w, g, moments, t, lr, b1, b2, eps, true, false, true);
}
}  // namespace only_the_step
MUTANT(only_the_step, "the first step is lr, whatever the gradient")

namespace corrected_at_first_alone {
using solution::noam;
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  return solution::adam_step(w, g, moments, t == 1 ? 1 : 1000000, lr, b1, b2, eps);
}
}  // namespace corrected_at_first_alone
MUTANT(corrected_at_first_alone, "bias correction fades with t")

namespace gradient_squared_in_place {
using solution::noam;
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  const Tensor next = solution::adam_step(w, g, moments, t, lr, b1, b2, eps);
  Tensor square = g;
  square *= g;
  return next;
}
}  // namespace gradient_squared_in_place
MUTANT(gradient_squared_in_place, "the moments are averages")
