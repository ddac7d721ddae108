#pragma once
// Part of body.h. One step of Adam over n parameters, each read and written once.
//
//   g = grad + decay p                       (Adam's weight decay; AdamW shrinks p instead: p (1 - lr decay))
//   m = beta1 m + (1 - beta1) g              v = beta2 v + (1 - beta2) g^2
//   p = p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
//
// While gradients are 0, m and v shrink for ever, and many CPUs compute a hundred times as slowly below the
// normal numbers. Averages there become 0, unless eps is so small that the root of such a v counts next to
// it.

namespace gradus::kernels {
namespace {

/// Adam (Kingma & Ba 2015, algorithm 1); decoupled: AdamW (Loshchilov & Hutter 2019, algorithm 2).
template <class V>
void adam(I n, const AdamStep<ScalarOf<V>>& step, const ScalarOf<V>* grad, ScalarOf<V>* p, ScalarOf<V>* m,
          ScalarOf<V>* v) {
  const V beta1 = step.beta1, beta2 = step.beta2, rest1 = 1 - step.beta1, rest2 = 1 - step.beta2;
  const V root_correction = step.bias_correction2_sqrt, eps = step.eps;
  const V rate = -step.lr / step.bias_correction1;
  const V decay_grad = step.decoupled ? 0 : step.weight_decay;
  const V keep_weight = step.decoupled ? 1 - step.lr * step.weight_decay : 1;
  constexpr double normal = std::numeric_limits<ScalarOf<V>>::min();
  constexpr double digits = 1ull << std::numeric_limits<ScalarOf<V>>::digits;
  const bool counts = step.eps * step.eps * (1 - step.beta2) < digits * digits * normal;
  const V least = counts ? 0 : normal;
  for_each<V>(n, [=](auto at) {
    const V weight = at.load(p);
    const V g = fma(decay_grad, weight, at.load(grad));
    const V mean = fma(beta1, at.load(m), rest1 * g);
    const V square = fma(beta2, at.load(v), rest2 * g * g);
    const V m1 = select(abs(mean) < least, V(0), mean);
    const V v1 = select(square < least, V(0), square);
    at.store(m, m1);
    at.store(v, v1);
    at.store(p, fma(rate, m1 / (sqrt(v1) / root_correction + eps), weight * keep_weight));
  });
}

}  // namespace
}  // namespace gradus::kernels
