// The Adam kernel against the published algorithm, on every instruction set. On long arrays:
// million_step_test.cpp.

#include "kernel_test.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("adam takes the steps of the published algorithm, coupled and decoupled", T, float,
                   double) {
  const I n = 70;
  const std::vector<T> start = normal_values<T>(n, 1);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (bool decoupled : {false, true}) {
      Guarded<T> p(start, n, 1), m(n, 1), v(n, 1);
      std::vector<Wide<T>> rp(start.begin(), start.end()), rm(static_cast<std::size_t>(n)), rv(rm);
      for (I i = 0; i < n; ++i) m[i] = v[i] = 0;
      for (int t = 1; t <= 10; ++t) {
        const double c1 = 1 - std::pow(0.9, t), c2 = std::sqrt(1 - std::pow(0.999, t));
        const kernels::AdamStep<T> step{.lr = 0.1,
                                        .beta1 = 0.9,
                                        .beta2 = 0.999,
                                        .eps = 1e-8,
                                        .weight_decay = 0.1,
                                        .bias_correction1 = c1,
                                        .bias_correction2_sqrt = c2,
                                        .decoupled = decoupled};
        const std::vector<T> grad = normal_values<T>(n, static_cast<std::uint64_t>(t) + 7);
        table.adam(n, step, grad.data(), p.data(), m.data(), v.data());
        for (std::size_t i = 0; i < rp.size(); ++i) {
          Wide<T> g = grad[i];
          if (decoupled) rp[i] -= rp[i] * 0.1 * 0.1;
          if (!decoupled) g += 0.1 * rp[i];
          rm[i] = 0.9 * rm[i] + (1 - 0.9) * g;
          rv[i] = 0.999 * rv[i] + (1 - 0.999) * g * g;
          rp[i] -= 0.1 * (rm[i] / c1) / (std::sqrt(rv[i]) / c2 + 1e-8);
        }
      }
      double worst = 0;
      for (I i = 0; i < n; ++i)
        worst = std::fmax(worst, std::fabs(static_cast<double>(p[i] - rp[static_cast<std::size_t>(i)])));
      CHECK(worst <= 40 * eps<T>);
      CHECK((p.intact() && m.intact() && v.intact()));
    }
  });
}

TEST_CASE_TEMPLATE("adam at every tail: same bits", T, float, double) {
  const kernels::AdamStep<T> step{.lr = 0.1,
                                  .beta1 = 0.9,
                                  .beta2 = 0.99,
                                  .eps = 1e-8,
                                  .weight_decay = 0.1,
                                  .bias_correction1 = 0.1,
                                  .bias_correction2_sqrt = 0.1,
                                  .decoupled = true};
  const std::vector<T> weights = normal_values<T>(70, 1), grads = normal_values<T>(70, 2);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    Guarded<T> p(weights, 70, 0), m(grads, 70, 0), v(std::vector<T>(70, T(0.5)), 70, 0);
    table.adam(70, step, grads.data(), p.data(), m.data(), v.data());
    at_every_tail([&](I n, I offset) {
      Guarded<T> p2(weights, n, offset), m2(grads, n, offset), v2(std::vector<T>(70, T(0.5)), n, offset);
      table.adam(n, step, grads.data(), p2.data(), m2.data(), v2.data());
      bool good = p2.intact() && m2.intact() && v2.intact();
      for (I i = 0; i < n; ++i) good = good && same(p[i], p2[i]) && same(m[i], m2[i]) && same(v[i], v2[i]);
      CHECK(good);
    });
  });
}

TEST_CASE_TEMPLATE("adam's averages become 0 below the normal numbers, unless eps is as small", T, float,
                   double) {
  const T normal = std::numeric_limits<T>::min(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> before = {2 * normal, T(1.9) * normal, normal, 0, nan, 1},
                       halves = {normal, T(0.95) * normal, normal / 2, 0, nan, T(0.5)};
  const I n = 6 * 7 + 1;  // more than two vectors of 16, and a rest
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (const double eps : {1e-8, static_cast<double>(normal)}) {
      const kernels::AdamStep<T> step{.lr = 0.1,
                                      .beta1 = 0.5,
                                      .beta2 = 0.5,
                                      .eps = eps,
                                      .weight_decay = 0,
                                      .bias_correction1 = 1,
                                      .bias_correction2_sqrt = 1,
                                      .decoupled = true};
      const std::vector<T> zero(static_cast<std::size_t>(n));
      std::vector<T> p(zero), m, v;
      for (std::size_t i = 0; i < zero.size(); ++i)
        m.push_back(i % 4 == 0 ? -before[i % 6] : before[i % 6]), v.push_back(before[(i + 1) % 6]);
      table.adam(n, step, zero.data(), p.data(), m.data(), v.data());
      const auto kept = [&](T half) { return eps == 1e-8 && half < normal ? T(0) : half; };
      for (std::size_t i = 0; i < zero.size(); ++i) {
        CHECK(same(std::abs(m[i]), kept(halves[i % 6])));
        CHECK(std::signbit(m[i]) == (i % 4 == 0 && m[i] != 0));
        CHECK(same(v[i], kept(halves[(i + 1) % 6])));
      }
    }
  });
}

}  // namespace
}  // namespace gradus::test
