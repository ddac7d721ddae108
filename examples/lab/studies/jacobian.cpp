#include "lab/studies/jacobian.h"

#include <cmath>

#include "gradus/gradus.h"

namespace gradus::lab {

namespace {

constexpr double kEps = 1e-5;

Tensor by_differences(const Tensor& x) {
  const double h = 1e-6;
  std::vector<Tensor> columns;
  for (std::int64_t j = 0; j < x.numel(); ++j) {
    const Tensor up = x.clone(), down = x.clone();
    up[j].fill_(x[j].item() + h);
    down[j].fill_(x[j].item() - h);
    columns.push_back((layer_norm(up, {}, {}, kEps) - layer_norm(down, {}, {}, kEps)) / (2 * h));
  }
  return stack(columns, 1);
}

Tensor by_autograd(const Tensor& x) {
  std::vector<Tensor> rows;
  const Tensor unit = eye(x.numel(), {}, f64);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    Tensor leaf = x.clone();
    leaf.requires_grad_();
    layer_norm(leaf, {}, {}, kEps).backward(unit[i]);
    rows.push_back(leaf.grad());
  }
  return stack(rows, 0);
}

double largest_difference(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item(); }

}  // namespace

JacobianCheck check_layer_norm_jacobian(std::int64_t d, std::uint64_t seed) {
  Generator generator(seed);
  const Tensor x = randn({d}, generator, f64);
  const double size = static_cast<double>(d);
  const double sigma = std::sqrt(x.var({}, {.unbiased = false}).item() + kEps);
  const Tensor xhat = (x - x.mean()) / sigma;
  const Tensor identity = eye(d, {}, f64);
  const Tensor right = (identity - 1 / size - outer(xhat, xhat) / size) / sigma;
  const Tensor mean_only = (identity - x.mean()) / sigma;
  const Tensor constant_sigma = (identity - 1 / size) / sigma;

  const Tensor measured = by_differences(x);
  return {.max_error =
              std::max(largest_difference(right, measured), largest_difference(by_autograd(x), measured)),
          .wrong_mean_only = largest_difference(mean_only, measured),
          .wrong_constant_sigma = largest_difference(constant_sigma, measured)};
}

}  // namespace gradus::lab
