// A matrix times a vector, on every instruction set.

#include "kernel_test.h"

namespace gradus::test {
namespace {

template <class T>
T at(const std::vector<T>& values, I i) {
  return values[static_cast<std::size_t>(i)];
}

TEST_CASE_TEMPLATE("gemv at every tail of rows and columns, each row with the bits it has alone", T, float,
                   double) {
  const std::vector<T> values = normal_values<T>(33 * 9003, 1), factors = normal_values<T>(9000, 2);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    const auto check = [&](I m, I k, I offset) {
      const I lda = k + 3, used = m > 0 ? (m - 1) * lda + k : 0;
      Guarded<T> a(values, used, offset), x(factors, k, offset), y(m, offset);
      for (I i = 0; i < m; ++i) y[i] = std::numeric_limits<T>::quiet_NaN();
      table.gemv(m, k, a.data(), lda, x.data(), y.data());
      bool good = y.intact();
      for (I i = 0; i < m; ++i) {
        const auto [want, size] = exact_sum<T>(k, [&](I j) { return Wide<T>(x[j]) * a[i * lda + j]; });
        good = good && std::fabs(y[i] - want) <= 4 * eps<T> * size;
        T alone;
        table.gemv(1, k, a.data() + i * lda, lda, x.data(), &alone);
        good = good && y[i] == alone;
      }
      CAPTURE(m);
      CAPTURE(k);
      CHECK(good);
    };
    at_every_tail([&](I k, I offset) { check(k % 20, k, offset); });
    for (I m : {0, 1, 2, 3, 7, 8, 33})
      for (I k : {0, 1, 70, 127, 768, 2049, 9000}) check(m, k, 1);
  });
}

TEST_CASE_TEMPLATE("gemv_t at every tail of rows and columns, and writes all of y", T, float, double) {
  const std::vector<T> values = normal_values<T>(300 * 4103, 1), factors = normal_values<T>(1000, 2);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    const auto check = [&](I m, I n, I offset) {
      const I lda = n + 3, used = m > 0 ? (m - 1) * lda + n : 0;  // nothing after the last row is a's
      Guarded<T> a(values, used, offset), x(factors, m, offset), y(n, offset);
      for (I j = 0; j < n; ++j) y[j] = std::numeric_limits<T>::quiet_NaN();
      table.gemv_t(m, n, a.data(), lda, x.data(), y.data());
      bool good = y.intact();
      for (I j = 0; j < n; ++j) {
        const auto [want, size] = exact_sum<T>(m, [&](I i) { return Wide<T>(x[i]) * a[i * lda + j]; });
        good = good && std::fabs(y[j] - want) <= 8 * eps<T> * size;
      }
      CAPTURE(m);
      CAPTURE(n);
      CHECK(good);
    };
    at_every_tail([&](I n, I offset) { check(n % 20, n, offset); });
    for (I m : {0, 1, 2, 7, 8, 9, 16, 35})
      for (I n : {33, 2047, 2049, 4100}) check(m, n, 1);
    for (I m : {256, 257, 1000}) check(m, 70, 1);  // sums of several blocks
  });
}

TEST_CASE_TEMPLATE("infinities and NaN reach the sums they belong to, and no other", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity();
  const I m = 5, k = 70;
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I row = 0; row < m; ++row)
      for (I column = 0; column < k; column += 3) {
        std::vector<T> a(static_cast<std::size_t>(m * k), T(1)), x(static_cast<std::size_t>(k), T(2));
        a[static_cast<std::size_t>(row * k + column)] = infinity;
        std::vector<T> y(static_cast<std::size_t>(m)), z(static_cast<std::size_t>(k));
        table.gemv(m, k, a.data(), k, x.data(), y.data());
        for (I i = 0; i < m; ++i) CHECK(at(y, i) == (i == row ? infinity : T(2 * k)));
        table.gemv_t(m, k, a.data(), k, x.data(), z.data());
        bool good = true;
        for (I j = 0; j < k; ++j) good = good && at(z, j) == (j == column ? infinity : T(2 * m));
        CHECK(good);
        a[static_cast<std::size_t>(row * k + column)] = std::numeric_limits<T>::quiet_NaN();
        table.gemv(m, k, a.data(), k, x.data(), y.data());
        for (I i = 0; i < m; ++i) CHECK(std::isnan(at(y, i)) == (i == row));
      }
  });
}

}  // namespace
}  // namespace gradus::test
