// Layer norm by hand: the formula, its Jacobian, and four things often said about it.
//
//   y_i = xhat_i = (x_i - mean) / sigma      sigma = sqrt(var + eps), var = sum_i (x_i - mean)^2 / d
//   J_ij = dy_i/dx_j = (delta_ij - 1/d - xhat_i xhat_j / d) / sigma
//   dx = (dy - mean(dy) - xhat mean(dy xhat)) / sigma                          (= J^T dy)
//                                                     (Ba et al. 2016; here with gain 1 and bias 0)

#include <cmath>
#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr double kEps = 1e-5;

// [forward]
Tensor variance(const Tensor& x) { return (x - x.mean(-1, true)).square().mean(-1, true); }  // divided by d

Tensor layer_norm_by_hand(const Tensor& x) { return (x - x.mean(-1, true)) / (variance(x) + kEps).sqrt(); }
// [/forward]

// [jacobian]
struct Jacobians {
  Tensor right, mean_only, constant_sigma;
};

Jacobians jacobians(const Tensor& x) {
  const double d = static_cast<double>(x.numel());
  const Tensor xhat = layer_norm_by_hand(x), delta = eye(x.numel());
  const Tensor sigma = (variance(x) + kEps).sqrt();
  return {.right = (delta - 1 / d - outer(xhat, xhat) / d) / sigma,
          .mean_only = (delta - x.mean()) / sigma,
          .constant_sigma = (delta - 1 / d) / sigma};
}
// [/jacobian]

// [differences]
/// Column j: how y changes with x_j.
Tensor measured_jacobian(const Tensor& x) {
  const double h = 1e-6;
  std::vector<Tensor> columns;
  for (const Tensor& step : split(eye(x.numel()) * h, 1))
    columns.push_back((layer_norm(x + step[0]) - layer_norm(x - step[0])) / (2 * h));
  return stack(columns, 1);
}
// [/differences]

// [backward]
Tensor backward_by_hand(const Tensor& x, const Tensor& dy) {
  const Tensor xhat = layer_norm_by_hand(x);
  const Tensor dx = dy - dy.mean(-1, true) - xhat * (dy * xhat).mean(-1, true);
  return dx / (variance(x) + kEps).sqrt();
}
// [/backward]

double worst(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item(); }

void formula(const Tensor& x) {
  const Tensor dy = randn(x.shape());
  Tensor leaf = x.clone().requires_grad_();
  layer_norm(leaf).backward(dy);
  std::printf("By hand and by the op, x %s: forward %s, backward %s\n", to_string(x.shape()).c_str(),
              worst(layer_norm_by_hand(x), layer_norm(x)) < 1e-12 ? "equal" : "different",
              worst(backward_by_hand(x, dy), leaf.grad()) < 1e-12 ? "equal" : "different");
}

void sphere(const Tensor& x) {
  const Tensor tokens = stack({x, 100 * x + 7, x.square(), x.exp()});
  const Tensor y = layer_norm(tokens);
  std::printf("\nClaim: layer norm puts every token on the unit sphere.\n");
  std::cout << "  |x| of four tokens:  " << tokens.norm(2, -1) << "\n  |y|:                 " << y.norm(2, -1)
            << '\n';
  std::printf("  Not so: the radius is sqrt(d) = sqrt(6) = %.4f, and the mean of each y is 0.\n",
              std::sqrt(6.0));
}

void eps_inside() {
  const Tensor x = tensor({1.0, 0.0, 0.0, 0.0}) * 0.004;
  const double var = variance(x).item();
  std::printf("\nClaim: eps is added to sigma. For x = [0.004, 0, 0, 0], var = %.1e, the first y would be\n",
              var);
  std::printf("  (x - mean) / (sqrt(var) + eps)  %.3f\n", 0.003 / (std::sqrt(var) + kEps));
  std::printf("  (x - mean) / sqrt(var + eps)    %.3f\n", 0.003 / std::sqrt(var + kEps));
  std::printf("  layer_norm says                 %.3f: eps is inside the root.\n", layer_norm(x)[0].item());
}

void derivative(const Tensor& x) {
  const Tensor measured = measured_jacobian(x);
  const auto [right, mean_only, constant_sigma] = jacobians(x);
  std::printf("\nThree Jacobians against central differences, the largest error of 36 entries:\n");
  std::printf("  (delta_ij - 1/d - xhat_i xhat_j / d) / sigma   %s\n",
              worst(right, measured) < 1e-8 ? "below 1e-8" : "wrong");
  std::printf(
      "  (delta_ij - mu_j) / sigma                      %.2f   forgets how mean and sigma depend on x_j\n",
      worst(mean_only, measured));
  std::printf("  (delta_ij - 1/d) / sigma                       %.2f   forgets how sigma does\n",
              worst(constant_sigma, measured));
  const Tensor shift = matmul(right, ones({6})), scale = matmul(right, layer_norm(x));
  std::printf(
      "\nTwo directions do not get through: adding to every x_i, |J 1| = %.4f, and scaling x - mean,\n"
      "|J xhat| = %.4f (exactly 0 without eps). J has rank d - 2.\n",
      shift.norm().item(), scale.norm().item());
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Tensor x = tensor({0.9, -1.3, 0.4, 2.1, -0.2, 0.5});
  formula(randn({2, 3, 6}));
  sphere(x);
  eps_inside();
  derivative(x);
}
