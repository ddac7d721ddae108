// Layer norm by hand: the formula, its Jacobian, and what is often said about them.
//
//   y_i = xhat_i = (x_i - mean) / sigma      sigma = sqrt(var + eps), var = sum_i (x_i - mean)^2 / d
//   J_ij = dy_i/dx_j = (delta_ij - 1/d - xhat_i xhat_j / d) / sigma
//   dx = (dy - mean(dy) - xhat mean(dy xhat)) / sigma                          (= J^T dy)
//                                                     (Ba et al. 2016; here with gain 1 and bias 0)

#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

constexpr double kEps = 1e-5;

// [forward]
Tensor variance(const Tensor& x) { return (x - x.mean(-1, true)).square().mean(-1, true); }  // divided by d
Tensor sigma(const Tensor& x) { return (variance(x) + kEps).sqrt(); }

Tensor layer_norm_by_hand(const Tensor& x) { return (x - x.mean(-1, true)) / sigma(x); }
// [/forward]

// [jacobian]
struct Jacobians {
  Tensor right, mean_only, constant_sigma;
};

Jacobians jacobians(const Tensor& x) {
  const double d = static_cast<double>(x.numel());
  const Tensor xhat = layer_norm_by_hand(x), delta = eye(x.numel());
  return {.right = (delta - 1 / d - outer(xhat, xhat) / d) / sigma(x),
          .mean_only = (delta - x.mean()) / sigma(x),
          .constant_sigma = (delta - 1 / d) / sigma(x)};
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
  return (dy - dy.mean(-1, true) - xhat * (dy * xhat).mean(-1, true)) / sigma(x);
}
// [/backward]

Tensor backward_mean_only(const Tensor& x, const Tensor& dy) {
  return (dy - x.mean(-1, true) * dy.sum(-1, true)) / sigma(x);
}
Tensor backward_constant_sigma(const Tensor& x, const Tensor& dy) {
  return (dy - dy.mean(-1, true)) / sigma(x);
}

using Backward = Tensor (*)(const Tensor& x, const Tensor& dy);

/// Layer norm with a backward to be chosen (chapter 5 says how record works).
Tensor norm_with(Backward backward, const Tensor& x) {
  return record("norm_with", layer_norm(x.detach()).array(), {&x},
                [=, x = x.array()](const Array& dy, Needs) -> Grads {
                  return {backward(Tensor(x), Tensor(dy)).array()};
                });
}

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
  std::printf("  |y| = %.2f: such a token does not reach the radius sqrt(4) = 2.\n",
              layer_norm(x).norm().item());
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
}

// [training]
/// The loss of a small net with one layer norm, fitted to a curve, at the start, after 300 steps and after
/// 1500: in every step each weight goes a little against its gradient.
std::vector<double> losses(Backward backward, std::uint64_t seed) {
  manual_seed(seed);
  const Tensor x = randn({256, 8}), target = sin(x).sum(-1, true);
  Tensor w1 = randn({8, 32}) / std::sqrt(8.0), w2 = randn({32, 1}) / std::sqrt(32.0);
  std::vector<double> result;
  for (int step = 0;; ++step) {
    w1.requires_grad_(), w2.requires_grad_();
    const Tensor loss = mse_loss(matmul(tanh(norm_with(backward, matmul(x, w1))), w2), target);
    if (step == 0 || step == 300 || step == 1500) result.push_back(loss.item());
    if (step == 1500) return result;
    loss.backward();
    w1 = w1.detach() - 0.1 * w1.grad(), w2 = w2.detach() - 0.1 * w2.grad();
  }
}
// [/training]

void training() {
  constexpr std::uint64_t kSeeds = 5;
  std::printf(
      "\nA small net trained with each of them, mean loss of 5 seeds (in how many it is above the first "
      "row's):\n"
      "                                                 before   after 300 steps   after 1500\n");
  std::vector<std::vector<double>> right;
  const auto row = [&](const char* name, Backward backward) {
    double mean[3] = {};
    int above[3] = {};
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<double> loss = losses(backward, seed);
      if (backward == backward_by_hand) right.push_back(loss);
      for (std::size_t i = 0; i < 3; ++i) mean[i] += loss[i] / kSeeds, above[i] += loss[i] > right[seed][i];
    }
    std::printf("  %-45s  %6.2f         %6.2f (%d)          (%d)\n", name, mean[0], mean[1], above[1],
                above[2]);
  };
  row("(delta_ij - 1/d - xhat_i xhat_j / d) / sigma", backward_by_hand);
  row("(delta_ij - mu_j) / sigma", backward_mean_only);
  row("(delta_ij - 1/d) / sigma", backward_constant_sigma);
}

void two_directions(const Tensor& x) {
  std::printf("\nTwo directions v, and the part of v that gets through, sigma |J v| / |v|:\n");
  for (const Tensor& token : {x, tensor({0.004, 0.0, 0.0, 0.0})}) {
    const Tensor J = jacobians(token).right * sigma(token);
    const auto part = [&](const Tensor& v) { return (matmul(J, v).norm() / v.norm()).item(); };
    std::printf("  |x| = %.3f   v = 1 (adding to every x_i): %.6f   v = xhat (scaling x - mean): %.6f\n",
                token.norm().item(), part(ones_like(token)), part(layer_norm(token)));
  }
}

// [factor]
/// How many times as long as a random dy the gradient dx is that layer norm makes of it.
double factor(const Tensor& x) {
  const Tensor dy = randn(x.shape());
  Tensor leaf = x.clone().requires_grad_();
  layer_norm(leaf).backward(dy);
  return (leaf.grad().norm() / dy.norm()).item();
}
// [/factor]

void size_of_gradients() {
  std::printf("\nA random gradient through layer norm, d = 768:   |dx|/|dy|   1/sigma   sqrt(d)/|x|\n");
  const auto row = [](const char* name, const Tensor& x) {
    std::printf("  %-44s %11.2f   %7.2f   %11.2f\n", name, factor(x), 1 / sigma(x).item(),
                std::sqrt(768.0) / x.norm().item());
  };
  const auto normal = [] { return randn({768}); };
  row("every channel from N(0, 1)", normal());
  row("ten times as long", 10 * normal());
  row("with a mean of 10", normal() + 10);
  row("two embeddings from N(0, 0.02^2), added", 0.02 * normal() + 0.02 * normal());
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
  training();
  two_directions(x);
  size_of_gradients();
}
