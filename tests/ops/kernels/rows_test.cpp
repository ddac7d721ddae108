// Softmax, log-softmax, log-sum-exp and their gradients, one row at a time, on every instruction set.

#include "kernel_test.h"

namespace gradus::test {
namespace {

constexpr I lengths[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 70, 1000, 5003};

/// Softmax of a row, in the wider type.
template <class T>
std::vector<Wide<T>> exact_softmax(const std::vector<T>& x) {
  Wide<T> top = x[0], total = 0;
  for (T v : x) top = std::fmax(top, static_cast<Wide<T>>(v));
  std::vector<Wide<T>> y;
  for (T v : x) total += y.emplace_back(std::exp(v - top));
  for (Wide<T>& v : y) v /= total;
  return y;
}

template <class T>
Wide<T> exact_logsumexp(const std::vector<T>& x) {
  Wide<T> top = x[0], total = 0;
  for (T v : x) top = std::fmax(top, static_cast<Wide<T>>(v));
  for (T v : x) total += std::exp(v - top);
  return top + std::log(total);
}

TEST_CASE_TEMPLATE("softmax, log_softmax and logsumexp are accurate at any size of input", T, float, double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I n : lengths)
      for (double shift : {0.0, 1000.0, -1000.0}) {
        std::vector<T> x = normal_values<T>(n, 1, 4);
        for (T& v : x) v += static_cast<T>(shift);
        Guarded<T> in(x, n, 1), soft(n, 3), log_soft(n, 2);
        table.softmax(n, in.data(), soft.data());
        table.log_softmax(n, in.data(), log_soft.data());
        const std::vector<Wide<T>> want = exact_softmax(x);
        const Wide<T> lse = exact_logsumexp(x);
        bool good = soft.intact() && log_soft.intact();
        for (I i = 0; i < n; ++i) {
          const Wide<T> w = want[static_cast<std::size_t>(i)], log_w = x[static_cast<std::size_t>(i)] - lse;
          good = good && std::fabs(soft[i] - w) <= 12 * eps<T> * w;
          good = good && std::fabs(log_soft[i] - log_w) <= 4 * eps<T> * (1 + std::fabs(log_w));
        }
        CAPTURE(n);
        CAPTURE(shift);
        CHECK(good);
        CHECK(std::fabs(table.logsumexp(n, in.data()) - lse) <= 2 * eps<T> * (1 + std::fabs(lse)));
        table.softmax(n, in.data(), in.data());
        bool in_place = in.intact();
        for (I i = 0; i < n; ++i) in_place = in_place && in[i] == soft[i];
        CHECK(in_place);
      }
  });
}

TEST_CASE_TEMPLATE("exp_shift_sum is the two halves of a softmax, and zeros for a fully masked row", T, float,
                   double) {
  const T infinity = std::numeric_limits<T>::infinity();
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    at_every_tail([&](I n, I offset) {
      Guarded<T> x(normal_values<T>(n, 1), n, offset), y(n, offset);
      if (n > 2) x[n / 2] = -infinity;
      const T total = table.exp_shift_sum(n, T(1.5), x.data(), y.data());
      Wide<T> want = 0;
      bool good = y.intact();
      for (I i = 0; i < n; ++i) {
        const Wide<T> e = std::exp(static_cast<Wide<T>>(x[i]) - T(1.5));
        good = good && std::fabs(y[i] - e) <= 10 * eps<T> * e;
        want += e;
      }
      CHECK(good);
      CHECK(std::fabs(total - want) <= 10 * eps<T> * want);
      for (I i = 0; i < n; ++i) x[i] = -infinity, y[i] = 5;
      CHECK(table.exp_shift_sum(n, -infinity, x.data(), y.data()) == 0);
      for (I i = 0; i < n; ++i) CHECK(y[i] == 0);
      CHECK(y.intact());
    });
  });
}

TEST_CASE_TEMPLATE("rows with infinities and NaN", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I n : {1, 3, 16, 21}) {
      std::vector<T> y(static_cast<std::size_t>(n)), masked(static_cast<std::size_t>(n), -infinity),
          one = masked;
      table.softmax(n, masked.data(), y.data());
      for (T v : y) CHECK(std::isnan(v));
      table.log_softmax(n, masked.data(), y.data());
      for (T v : y) CHECK(std::isnan(v));
      CHECK(table.logsumexp(n, masked.data()) == -infinity);

      one.back() = 3;
      table.softmax(n, one.data(), y.data());
      for (I i = 0; i < n; ++i) CHECK(y[static_cast<std::size_t>(i)] == (i == n - 1 ? 1 : 0));
      table.log_softmax(n, one.data(), y.data());
      for (I i = 0; i < n; ++i) CHECK(y[static_cast<std::size_t>(i)] == (i == n - 1 ? 0 : -infinity));
      CHECK(table.logsumexp(n, one.data()) == 3);

      one.back() = infinity;
      CHECK(table.logsumexp(n, one.data()) == infinity);
      table.softmax(n, one.data(), y.data());
      CHECK(std::isnan(y.back()));

      one.back() = nan;
      CHECK(std::isnan(table.logsumexp(n, one.data())));
      table.softmax(n, one.data(), y.data());
      for (T v : y) CHECK(std::isnan(v));
    }
    CHECK(table.logsumexp(0, nullptr) == -infinity);
    table.softmax(0, nullptr, nullptr);
    table.log_softmax(0, nullptr, nullptr);
  });
}

TEST_CASE_TEMPLATE("softmax_grad and log_softmax_grad", T, float, double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I n : lengths) {
      const std::vector<T> x = normal_values<T>(n, 1, 2);
      Guarded<T> dy(normal_values<T>(n, 2), n, 1), soft(n, 2), log_soft(n, 3), dx(n, 1), log_dx(n, 2);
      table.softmax(n, x.data(), soft.data());
      table.log_softmax(n, x.data(), log_soft.data());
      table.softmax_grad(n, soft.data(), dy.data(), dx.data());
      table.log_softmax_grad(n, log_soft.data(), dy.data(), log_dx.data());
      Wide<T> products = 0, total = 0, product_size = 0, total_size = 0;
      for (I i = 0; i < n; ++i) {
        products += Wide<T>(soft[i]) * dy[i], product_size += std::fabs(soft[i] * dy[i]);
        total += dy[i], total_size += std::fabs(dy[i]);
      }
      bool good = dx.intact() && log_dx.intact();
      for (I i = 0; i < n; ++i) {
        const Wide<T> want = soft[i] * (dy[i] - products),
                      log_want = dy[i] - std::exp(Wide<T>(log_soft[i])) * total;
        good = good && std::fabs(dx[i] - want) <= 4 * eps<T> * soft[i] * (std::fabs(dy[i]) + product_size);
        good =
            good && std::fabs(log_dx[i] - log_want) <= 4 * eps<T> * (std::fabs(dy[i]) + soft[i] * total_size);
      }
      CAPTURE(n);
      CHECK(good);
    }
  });
}

}  // namespace
}  // namespace gradus::test
