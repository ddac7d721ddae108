// The optimizer's step and dropout on a million values, on every instruction set.

#include "philox_reference.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("adam's step is accurate on a million parameters of every size", T, float, double) {
  std::vector<T> grad = normal_values<T>(million, 1), weight = normal_values<T>(million, 2), m, v;
  for (std::size_t i = 0; i < grad.size(); ++i) {
    grad[i] = std::ldexp(grad[i], static_cast<int>(i * 7 % 111) - 60);
    weight[i] = std::ldexp(weight[i], static_cast<int>(i * 5 % 61) - 30);
    m.push_back(grad[i] * T(0.5)), v.push_back(grad[i] * grad[i] * T(0.3));
  }
  for (bool decoupled : {false, true}) {
    const kernels::AdamStep<T> step{.lr = 0.01,
                                    .beta1 = 0.9,
                                    .beta2 = 0.999,
                                    .eps = 1e-8,
                                    .weight_decay = 0.01,
                                    .bias_correction1 = 0.5,
                                    .bias_correction2_sqrt = 0.1,
                                    .decoupled = decoupled};
    on_every_isa<T>([&](const kernels::Table<T>& table) {
      std::vector<T> p = weight, m1 = m, v1 = v;
      table.adam(million, step, grad.data(), p.data(), m1.data(), v1.data());
      I wrong = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const Wide<T> w = weight[i], decay = decoupled ? 0 : w * step.weight_decay, g = grad[i] + decay,
                      g_size = std::fabs(grad[i]) + std::fabs(decay);
        const Wide<T> want_m = step.beta1 * m[i] + (1 - step.beta1) * g,
                      m_size = std::fabs(step.beta1 * m[i]) + (1 - step.beta1) * g_size,
                      want_v = step.beta2 * v[i] + (1 - step.beta2) * g * g;
        const Wide<T> divisor = std::sqrt(want_v) / step.bias_correction2_sqrt + step.eps,
                      rate = step.lr / step.bias_correction1,
                      want =
                          (decoupled ? w * (1 - step.lr * step.weight_decay) : w) - rate * want_m / divisor;
        const Wide<T> denormal = std::numeric_limits<T>::denorm_min(), normal = std::numeric_limits<T>::min(),
                      tolerance = 4 * eps<T>;
        // Cancellation in g makes g^2 as wrong as g's terms are large.
        const Wide<T> v_size = step.beta2 * v[i] + (1 - step.beta2) * g_size * std::fabs(g);
        const bool good =
            std::fabs(m1[i] - want_m) <= tolerance * m_size + denormal &&
            (std::fabs(v1[i] - want_v) <= tolerance * v_size + 2 * denormal ||
             (v1[i] == 0 && want_v < normal)) &&
            std::fabs(p[i] - want) <= tolerance * (std::fabs(w) + rate * m_size / divisor) + denormal;
        wrong += !good;
      }
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE_TEMPLATE("dropout is exact on a million values", T, float, double) {
  const std::vector<T> x = hard_values<T>(million);
  std::vector<T> y(x.size()), want(x.size());
  const T scale = static_cast<T>(1 / (1 - 0.1));
  for (std::size_t i = 0; i < x.size(); ++i) want[i] = kept(0.1, 42, 7, 9, 1001 + i) ? x[i] * scale : T(0);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    table.dropout(million, 0.1, 42, 7, 9, 1001, x.data(), y.data());
    bool equal = true;
    for (std::size_t i = 0; i < x.size(); ++i) equal = equal && same(y[i], want[i]);
    CHECK(equal);
  });
}

}  // namespace
}  // namespace gradus::test
