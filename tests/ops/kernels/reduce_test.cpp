// Reductions of one run, on every instruction set.

#include "kernel_test.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("sum, sum_square and mean_below at every tail and around block sizes", T, float, double) {
  const std::vector<T> x = normal_values<T>(10000, 1);
  const auto check = [&](const kernels::Table<T>& table, I n, I offset) {
    Guarded<T> a(x, n, offset);
    const auto close = [](T got, std::pair<Wide<T>, Wide<T>> want) {
      return std::fabs(got - want.first) <= 4 * eps<T> * want.second;
    };
    CHECK(close(table.sum(n, a.data()), exact_sum<T>(n, [&](I i) { return Wide<T>(a[i]); })));
    CHECK(close(table.sum_square(n, a.data()), exact_sum<T>(n, [&](I i) { return Wide<T>(a[i]) * a[i]; })));
    CHECK(close(table.mean_below(n, 5, a.data()),
                exact_sum<T>(n, [&](I i) { return (5 - Wide<T>(a[i])) / static_cast<Wide<T>>(n); })));
  };
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    at_every_tail([&](I n, I offset) { check(table, n, offset); });
    for (I block : {128, 512, 1024, 2048, 4096})
      for (I n : {block - 1, block, block + 1, 2 * block - 1, 2 * block, 2 * block + 3}) check(table, n, 0);
  });
}

TEST_CASE("summing ten million floats keeps six digits") {
  const std::vector<float> tenths(10'000'000, 0.1f);
  std::vector<float> mixed = normal_values<float>(1'000'000, 3);
  for (float& v : mixed) v = std::fabs(v);
  double exact = 0;
  for (float v : mixed) exact += v;
  on_every_isa<float>([&](const kernels::Table<float>& table) {
    CHECK(std::fabs(table.sum(10'000'000, tenths.data()) / (1e7 * double(0.1f)) - 1) < 1e-6);
    CHECK(std::fabs(table.sum(1'000'000, mixed.data()) / exact - 1) < 1e-6);
  });
}

TEST_CASE_TEMPLATE("the sum of a run depends on its values and length, not on where it lies", T, float,
                   double) {
  const std::vector<T> x = normal_values<T>(3001, 1);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I n : {5, 70, 1000, 3001}) {
      Guarded<T> first(x, n, 0);
      const T want = table.sum(n, first.data());
      for (I offset = 1; offset < 16; ++offset) {
        Guarded<T> moved(x, n, offset);
        CHECK(table.sum(n, moved.data()) == want);
      }
    }
  });
}

TEST_CASE_TEMPLATE("sums take in infinities and NaN wherever they are", T, float, double) {
  const T infinity = std::numeric_limits<T>::infinity();
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I where = 0; where < 70; ++where) {
      std::vector<T> x(70, T(1));
      x[static_cast<std::size_t>(where)] = infinity;
      CHECK(table.sum(70, x.data()) == infinity);
      x[static_cast<std::size_t>(where)] = std::numeric_limits<T>::quiet_NaN();
      CHECK(std::isnan(table.sum(70, x.data())));
    }
  });
}

TEST_CASE_TEMPLATE("max and min find the extreme wherever it is, and NaN beats it", T, float, double) {
  const std::vector<T> x = normal_values<T>(600, 1);
  const T infinity = std::numeric_limits<T>::infinity();
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    at_every_tail([&](I n, I offset) {
      if (n == 0) return;
      Guarded<T> a(x, n, offset);
      T high = a[0], low = a[0];
      for (I i = 0; i < n; ++i) high = std::fmax(high, a[i]), low = std::fmin(low, a[i]);
      CHECK(table.max(n, a.data()) == high);
      CHECK(table.min(n, a.data()) == low);
    });
    for (I n = 1; n <= 600; n = n < 80 ? n + 1 : n + 173)
      for (I where = 0; where < n; where += n < 80 ? 1 : 41) {
        Guarded<T> a(x, n, 1);
        a[where] = 100;
        CHECK(table.max(n, a.data()) == 100);
        a[where] = -100;
        CHECK(table.min(n, a.data()) == -100);
        a[where] = std::numeric_limits<T>::quiet_NaN();
        CHECK(std::isnan(table.max(n, a.data())));
        CHECK(std::isnan(table.min(n, a.data())));
      }
    for (I n : {1, 5, 40}) {
      const std::vector<T> low(40, -infinity), high(40, infinity);
      CHECK(table.max(n, low.data()) == -infinity);
      CHECK(table.min(n, high.data()) == infinity);
    }
  });
}

}  // namespace
}  // namespace gradus::test
