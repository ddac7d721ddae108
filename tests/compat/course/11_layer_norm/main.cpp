// Where layer norm puts a token, and its backward derived twice.
// Its chapter: docs/course/11_layer_norm/README.md
//
//   xhat_i = (x_i - mean) / sigma      sigma = sqrt(var + eps), var = sum_i (x_i - mean)^2 / d
//   y = gain xhat + bias               dx = (dy - mean(dy) - xhat mean(dy xhat)) / sigma, gain 1

#include <cmath>
#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [forward]
Tensor variance(const Tensor& x) { return (x - x.mean(-1, true)).square().mean(-1, true); }  // divided by d
Tensor sigma(const Tensor& x, double eps = 1e-5) { return (variance(x) + eps).sqrt(); }
Tensor layer_norm_by_hand(const Tensor& x, double e = 1e-5) { return (x - x.mean(-1, true)) / sigma(x, e); }
// [/forward]

// [components]
Tensor by_components(const Tensor& x, const Tensor& dy, double eps) {
  const Tensor xhat = layer_norm_by_hand(x, eps);
  return (dy - dy.mean(-1, true) - xhat * (dy * xhat).mean(-1, true)) / sigma(x, eps);
}
// [/components]

// [projections]
/// The part of v that points along u.
Tensor along(const Tensor& u, const Tensor& v) { return u * (u * v).sum(-1, true) / (u * u).sum(-1, true); }

Tensor by_projections(const Tensor& x, const Tensor& dy, double eps) {
  return (dy - along(ones_like(x), dy) - along(x - x.mean(-1, true), dy)) / sigma(x, eps);
}
// [/projections]

const char* verdict(const Tensor& a, const Tensor& b) {
  return allclose(a, b, 0, 1e-10) ? "equal" : "different";
}

void formula() {
  const Tensor x = randn({2, 3, 6}), dy = randn(x.shape());
  std::printf("By hand and by the op, x [2, 3, 6]: forward %s. Backward:\n\n",
              verdict(layer_norm_by_hand(x), layer_norm(x)));
  std::printf("              by components   by projections\n");
  for (const double eps : {0.0, 1e-5}) {
    Tensor leaf = x.clone().requires_grad_();
    layer_norm(leaf, {}, {}, eps).backward(dy);
    std::printf("  eps = %5g   %-13s   %s\n", eps, verdict(by_components(x, dy, eps), leaf.grad()),
                verdict(by_projections(x, dy, eps), leaf.grad()));
  }
}

void sphere(const Tensor& x) {
  const Tensor tokens = stack({x, 100 * x + 7, x.square(), x.exp()});
  const Tensor xhat = layer_norm(tokens);
  const Tensor gain = tensor({2.0, 1.0, 0.5, 1.0, 3.0, 1.0}), bias = full({6}, 10.0);
  const Tensor y = layer_norm(tokens, gain, bias);
  std::printf("\nFour tokens of 6 channels; the square root of 6 is %.4f:\n", std::sqrt(6.0));
  std::cout << "  |x|                  " << tokens.norm(2, -1) << "\n  |xhat|               "
            << xhat.norm(2, -1) << "\n  |y|, gain and bias   " << y.norm(2, -1) << "\n  |(y - bias) / gain|  "
            << ((y - bias) / gain).norm(2, -1) << '\n';
}

void eps_inside() {
  const Tensor x = tensor({1.0, 0.0, 0.0, 0.0}) * 0.004;
  const double var = variance(x).item(), first = layer_norm(x)[0].item(),
               length = layer_norm(x).norm().item();
  std::printf("\nFor x = [0.004, 0, 0, 0], var = %.1e, the first y is by\n", var);
  std::printf("  (x - mean) / (sqrt(var) + eps)  %.3f\n", 0.003 / (std::sqrt(var) + 1e-5));
  std::printf("  (x - mean) / sqrt(var + eps)    %.3f\n", 0.003 / std::sqrt(var + 1e-5));
  std::printf("  layer_norm                      %.3f; |y| = %.2f, not sqrt(4) = 2\n", first, length);
}

void two_directions(const Tensor& x) {
  std::printf("\nTwo directions v, and the part of v that passes, sigma |J v| / |v|:\n");
  const auto part = [](const Tensor& token, const Tensor& v) {
    return (by_components(token, v, 1e-5) * sigma(token)).norm().item() / v.norm().item();
  };
  for (const Tensor& token : {x, tensor({0.004, 0.0, 0.0, 0.0})})
    std::printf("  |x| = %.3f   v = 1 (adding to every x_i): %.6f   v = xhat (scaling x - mean): %.6f\n",
                token.norm().item(), part(token, ones_like(token)), part(token, layer_norm(token)));
}

// [factor]
/// The length of layer norm's gradient dx over that of a random dy.
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
  row("every channel from N(0, 1)", randn({768}));
  row("ten times as long", 10 * randn({768}));
  row("with a mean of 10", randn({768}) + 10);
  row("two embeddings from N(0, 0.02^2), added", 0.02 * randn({768}) + 0.02 * randn({768}));
}

}  // namespace

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  formula();
  const Tensor x = tensor({0.9, -1.3, 0.4, 2.1, -0.2, 0.5});
  sphere(x);
  eps_inside();
  two_directions(x);
  size_of_gradients();
}
