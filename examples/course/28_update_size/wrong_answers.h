#define REST(A, B, C) \
  using solution::A;  \
  using solution::B;  \
  using solution::C;
namespace square_root {
REST(deep_norm, admin, update_size)
Constants deep_norm_constants(int N) { return {std::sqrt(2.0 * N), std::pow(8.0 * N, -0.25)}; }
}  // namespace square_root
MUTANT(square_root, "alpha is a fourth root")

namespace beta_upside_down {
REST(deep_norm, admin, update_size)
Constants deep_norm_constants(int N) { return {std::pow(2.0 * N, 0.25), std::pow(8.0 * N, 0.25)}; }
}  // namespace beta_upside_down
MUTANT(beta_upside_down, "beta shrinks with depth")

namespace alpha_on_the_branch {
REST(deep_norm_constants, admin, update_size)
Tensor deep_norm(const Tensor& x, const Tensor& fx, double alpha) { return layer_norm(x + alpha * fx); }
}  // namespace alpha_on_the_branch
MUTANT(alpha_on_the_branch, "alpha multiplies the shortcut")

namespace norm_before_the_sum {
REST(deep_norm_constants, admin, update_size)
Tensor deep_norm(const Tensor& x, const Tensor& fx, double alpha) { return alpha * layer_norm(x) + fx; }
}  // namespace norm_before_the_sum
MUTANT(norm_before_the_sum, "alpha multiplies the shortcut")

namespace no_root {
REST(deep_norm_constants, deep_norm, update_size)
std::vector<double> admin(const std::vector<double>& variances) {
  std::vector<double> omega = solution::admin(variances);
  for (double& w : omega) w *= w;
  return omega;
}
}  // namespace no_root
MUTANT(no_root, "omega sums earlier variances")

namespace its_own_variance_too {
REST(deep_norm_constants, deep_norm, update_size)
std::vector<double> admin(const std::vector<double>& variances) {
  std::vector<double> omega;
  double sum = 1;
  for (const double v : variances) omega.push_back(std::sqrt(sum += v));
  return omega;
}
}  // namespace its_own_variance_too
MUTANT(its_own_variance_too, "omega sums earlier variances")

namespace without_the_input {
REST(deep_norm_constants, deep_norm, update_size)
std::vector<double> admin(const std::vector<double>& variances) {
  std::vector<double> omega = solution::admin(variances);
  for (double& w : omega) w = std::sqrt(w * w - 1);
  return omega;
}
}  // namespace without_the_input
MUTANT(without_the_input, "omega sums earlier variances")

namespace size_of_the_step {
REST(deep_norm_constants, deep_norm, admin)
double update_size(const std::function<Tensor(const Tensor&)>&, const Tensor&, const Tensor& dw) {
  return dw.norm().item();
}
}  // namespace size_of_the_step
MUTANT(size_of_the_step, "an update is a change of the output")

namespace size_of_the_output {
REST(deep_norm_constants, deep_norm, admin)
double update_size(const std::function<Tensor(const Tensor&)>& f, const Tensor& w, const Tensor& dw) {
  return f(w + dw).norm().item();
}
}  // namespace size_of_the_output
MUTANT(size_of_the_output, "an update is a change of the output")

namespace as_if_f_were_linear {
REST(deep_norm_constants, deep_norm, admin)
double update_size(const std::function<Tensor(const Tensor&)>& f, const Tensor& w, const Tensor& dw) {
  return solution::update_size(f, 0 * w, dw);
}
}  // namespace as_if_f_were_linear
MUTANT(as_if_f_were_linear, "an update is a change of the output")

namespace cube_root {
REST(deep_norm, admin, update_size)
Constants deep_norm_constants(int N) { return {std::cbrt(N), 1.0 / N}; }
}  // namespace cube_root
MUTANT(cube_root, "alpha is a fourth root", "beta shrinks with depth")

namespace shortcut_detached {
REST(deep_norm_constants, admin, update_size)
Tensor deep_norm(const Tensor& x, const Tensor& fx, double alpha) {
  return solution::deep_norm(x.detach(), fx, alpha);
}
}  // namespace shortcut_detached
MUTANT(shortcut_detached, "the gradient reaches x")
#undef REST

namespace w_is_left_moved {
using solution::admin, solution::deep_norm, solution::deep_norm_constants;
double update_size(const std::function<Tensor(const Tensor&)>& f, const Tensor& w, const Tensor& dw) {
  const Tensor before = f(w);
  Tensor moved = w;
  moved += dw;
  return (f(moved) - before).norm().item();
}
}  // namespace w_is_left_moved
MUTANT(w_is_left_moved, "an update is a change of the output")

namespace quotient_of_integers {
using solution::admin, solution::deep_norm, solution::update_size;
Constants deep_norm_constants(int L) {
  return {std::pow(2.0 * L, 0.25), std::pow(8.0 * L, static_cast<double>(-1 / 4))};
}
}  // namespace quotient_of_integers
MUTANT(quotient_of_integers, "beta shrinks with depth")
