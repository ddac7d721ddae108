namespace eps_outside {
using solution::norm_backward;
Tensor norm(const Tensor& x, double eps) {
  const Tensor centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true).sqrt() + eps);
}
}  // namespace eps_outside
MUTANT(eps_outside, "eps is inside the root")

namespace unbiased_variance {
using solution::norm_backward;
Tensor norm(const Tensor& x, double eps) {
  return (x - x.mean(-1, true)) / (x.var(-1, {.keepdim = true}) + eps).sqrt();
}
}  // namespace unbiased_variance
MUTANT(unbiased_variance, "a token gets the length sqrt(d)")

namespace unit_sphere {
using solution::norm_backward;
Tensor norm(const Tensor& x, double eps) {
  return solution::norm(x, eps) / std::sqrt(static_cast<double>(x.size(-1)));
}
}  // namespace unit_sphere
MUTANT(unit_sphere, "a token gets the length sqrt(d)")

namespace over_the_batch {
using solution::norm_backward;
Tensor norm(const Tensor& x, double eps) {
  const Tensor centred = x - x.mean(0, true);
  return centred / (centred.square().mean(0, true) + eps).sqrt();
}
}  // namespace over_the_batch
MUTANT(over_the_batch, "each token is normalized separately")

namespace mean_left_in {
using solution::norm_backward;
Tensor norm(const Tensor& x, double eps) {
  const Tensor centred = x - x.mean(-1, true);
  return x / (centred.square().mean(-1, true) + eps).sqrt();
}
}  // namespace mean_left_in
MUTANT(mean_left_in, "the mean of a token becomes 0", "a token gets the length sqrt(d)")

namespace jacobian_delta_minus_mu {
using solution::norm;
Tensor norm_backward(const Tensor& x, const Tensor& dy, double eps) {
  return (dy - x.mean(-1, true) * dy.sum(-1, true)) / solution::sigma(x, eps);
}
}  // namespace jacobian_delta_minus_mu
MUTANT(jacobian_delta_minus_mu, "the backward is the gradient")

namespace sigma_constant {
using solution::norm;
Tensor norm_backward(const Tensor& x, const Tensor& dy, double eps) {
  return (dy - dy.mean(-1, true)) / solution::sigma(x, eps);
}
}  // namespace sigma_constant
MUTANT(sigma_constant, "the backward is the gradient")

namespace an_eps_of_its_own {
using solution::norm_backward;
Tensor norm(const Tensor& x, double) { return solution::norm(x, 1e-5); }
}  // namespace an_eps_of_its_own
MUTANT(an_eps_of_its_own, "eps is inside the root")

namespace without_the_tape {
using solution::norm_backward;
Tensor norm(const Tensor& x, double eps) {
  const NoGrad guard;
  return solution::norm(x, eps);
}
}  // namespace without_the_tape
MUTANT(without_the_tape, "the gradient reaches x")

namespace statistics_detached {
using solution::norm_backward;
Tensor norm(const Tensor& x, double eps) {
  return (x - x.mean(-1, true).detach()) / solution::sigma(x.detach(), eps);
}
}  // namespace statistics_detached
MUTANT(statistics_detached, "the gradient reaches x")

namespace backward_over_axis_1 {
using solution::norm;
Tensor norm_backward(const Tensor& x, const Tensor& dy, double eps) {
  const Tensor c = x - x.mean(1, true), s = (c.square().mean(1, true) + eps).sqrt(), y = c / s;
  return (dy - dy.mean(1, true) - y * (dy * y).mean(1, true)) / s;
}
}  // namespace backward_over_axis_1
MUTANT(backward_over_axis_1, "the backward is the gradient")
