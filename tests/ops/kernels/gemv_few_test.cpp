// A matrix times a few vectors, on every instruction set.

#include "kernel_test.h"

namespace gradus::test {
namespace {

/// Rows of A lie 3 apart, of x 2, of y 1; nothing between them is touched.
template <class T>
struct FewCase {
  I m, k, count, offset;
  const std::vector<T>&values, &factors;

  void check(const kernels::Table<T>& table) const {
    const I lda = k + 3, ldx = k + 2, ldy = m + 1;
    const auto used = [](I rows, I ld, I width) { return rows > 0 ? (rows - 1) * ld + width : 0; };
    Guarded<T> a(values, used(m, lda, k), offset), x(factors, used(count, ldx, k), offset),
        y(used(count, ldy, m), offset);
    for (I i = 0; i < used(count, ldy, m); ++i) y[i] = T(77);
    table.gemv_few(m, k, a.data(), lda, count, x.data(), ldx, y.data(), ldy);
    bool good = a.intact() && x.intact() && y.intact();
    for (I r = 0; r < count; ++r) {
      for (I i = 0; i < m; ++i) {
        const auto [want, size] =
            exact_sum<T>(k, [&](I p) { return Wide<T>(a[i * lda + p]) * x[r * ldx + p]; });
        good = good && std::fabs(y[r * ldy + i] - want) <= (2 + std::sqrt(double(k))) * eps<T> * size;
        T alone;
        table.gemv_few(1, k, a.data() + i * lda, lda, 1, x.data() + r * ldx, ldx, &alone, 1);
        good = good && y[r * ldy + i] == alone;
      }
      if (r + 1 < count) good = good && y[r * ldy + m] == T(77);
    }
    CAPTURE(m);
    CAPTURE(k);
    CAPTURE(count);
    CHECK(good);
  }
};

TEST_CASE_TEMPLATE("gemv_few at every tail, an element the same wherever it lies", T, float, double) {
  const std::vector<T> values = normal_values<T>(20 * 4103, 1), factors = normal_values<T>(20 * 4103, 2);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    const auto check = [&](I m, I k, I count, I offset) {
      FewCase<T>{m, k, count, offset, values, factors}.check(table);
    };
    at_every_tail([&](I k, I offset) { check(k % 11, k, 1 + k % 9, offset); });
    for (I count = 0; count < 20; ++count) check(7, 70, count, 1);
    for (I m = 0; m < 8; ++m) check(m, 33, 5, 1);
    for (I k : {768, 2049, 4100}) check(13, k, 8, 1);
  });
}

TEST_CASE_TEMPLATE("gemv_few: infinities and NaN reach the sums they belong to, and no other", T, float,
                   double) {
  constexpr I m = 5, k = 37, count = 9;
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I row = 0; row < m; ++row)
      for (I vector = 0; vector < count; vector += 4) {
        std::vector<T> a(m * k, T(1)), x(count * k, T(2)), y(m * count);
        a[static_cast<std::size_t>(row * k + 36)] = std::numeric_limits<T>::infinity();
        x[static_cast<std::size_t>(vector * k)] = std::numeric_limits<T>::quiet_NaN();
        table.gemv_few(m, k, a.data(), k, count, x.data(), k, y.data(), m);
        for (I r = 0; r < count; ++r)
          for (I i = 0; i < m; ++i) {
            const T sum = y[static_cast<std::size_t>(r * m + i)];
            if (r == vector)
              CHECK(std::isnan(sum));
            else
              CHECK(sum == (i == row ? std::numeric_limits<T>::infinity() : T(2 * k)));
          }
      }
  });
}

}  // namespace
}  // namespace gradus::test
