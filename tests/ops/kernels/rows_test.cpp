// Softmax, log-softmax, log-sum-exp and their gradients at every tail, and hard rows, on every instruction
// set.

#include "rows_check.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("softmax and its relations at every tail, accurate at any size of input", T, float,
                   double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (double shift : {0.0, 1000.0, -1000.0}) {
      const auto row = [&](I n) {
        std::vector<T> x = normal_values<T>(n, 1, 4);
        for (T& v : x) v += static_cast<T>(shift);
        if (n > 2) x[static_cast<std::size_t>(n / 2)] = -std::numeric_limits<T>::infinity();
        return x;
      };
      CAPTURE(shift);
      at_every_tail([&](I n, I offset) {
        if (n == 0) return;
        check_softmax(table, row(n), offset);
        check_softmax_grad(table, row(n), offset);
      });
      for (I n : {1000, 5003}) check_softmax(table, row(n), 1), check_softmax_grad(table, row(n), 1);
    }
  });
}

TEST_CASE_TEMPLATE("exp_shift_sum of nothing, by another shift, and of a fully masked row", T, float,
                   double) {
  const T infinity = std::numeric_limits<T>::infinity();
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    CHECK(table.exp_shift_sum(0, 1, nullptr, nullptr) == 0);
    const T x[2] = {1, 3};
    T two[2];
    const T total = table.exp_shift_sum(2, 3, x, two);
    CHECK(total == two[0] + 1);
    CHECK(ulps<T>(two[0], std::exp(Wide<T>(-2))) <= 2);
    at_every_tail([&](I n, I offset) {
      Guarded<T> masked(std::vector<T>(static_cast<std::size_t>(n), -infinity), n, offset), y(n, offset);
      CHECK(table.exp_shift_sum(n, -infinity, masked.data(), y.data()) == 0);
      bool good = y.intact();
      for (I i = 0; i < n; ++i) good = good && y[i] == 0;
      CHECK(good);
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

      for (const T other : {-infinity, T(2)}) {
        std::vector<T> with_nan(static_cast<std::size_t>(n), other);
        with_nan[static_cast<std::size_t>(n / 2)] = nan;
        table.softmax(n, with_nan.data(), y.data());
        for (T v : y) CHECK(std::isnan(v));
      }

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

}  // namespace
}  // namespace gradus::test
