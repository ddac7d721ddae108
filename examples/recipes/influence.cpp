// Influence: how the loss on new points would change without one training point (Koh & Liang 2017).
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

/// H^-1 g by conjugate gradients: as many products H v as there are weights, and no matrix.
Tensor solve(const TensorFunction& loss, const Tensor& w, const Tensor& g) {
  Tensor d = zeros_like(g), rest = g, v = g;
  for (std::int64_t i = 0; i < w.numel() && rest.abs().max().item() > 0; ++i) {
    const Tensor Hv = hvp(loss, {w}, {v})[0], scale = (v * Hv).sum(), step = (rest * v).sum() / scale;
    d = d + step * v;
    rest = rest - step * Hv;
    v = rest - (rest * Hv).sum() / scale * v;
  }
  return d;
}

int main() {
  const DefaultDType guard(f64);
  manual_seed(0);
  const Tensor x = randn({160, 3}), side = sign(x.sum(-1) + randn({160}));  // 60 to train on, 100 new ones
  Tensor w, weight, actual = zeros({60});
  const auto losses = [&] { return split(softplus(-side * matmul(x, w)), {60, 100}); };
  const auto loss = [&] { return (weight * losses()[0]).mean() + 0.05 * w.square().sum(); };
  const auto train = [&](std::int64_t left_out) {  // returns the loss on the new points
    weight = (arange(60) != left_out).to(f64).requires_grad_();
    w = zeros({3}).requires_grad_();
    for (int i = 0; i < 5; ++i) w.detach() -= solve(loss, w, grad(loss(), {w})[0]);  // Newton's method
    return losses()[1].mean();
  };
  const Tensor all = train(-1), direction = solve(loss, w, grad(all, {w})[0]);
  const Tensor g = grad(loss(), {w}, {.create_graph = true})[0];
  const Tensor predicted = grad((g * direction).sum(), {weight})[0];
  for (std::int64_t i = 0; i < 60; ++i) actual[i] = (train(i) - all).item();
  const Tensor p = predicted - predicted.mean(), q = actual - actual.mean();
  std::printf("correlation of predicted and actual changes %.3f\n", cosine_similarity(p, q, 0).item());
}
