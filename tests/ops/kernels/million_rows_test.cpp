// Reductions, rows and the optimizer's step on a million values, on every instruction set.

#include <algorithm>

#include "gemm_check.h"
#include "norm_check.h"
#include "rows_check.h"

namespace gradus::test {
namespace {

/// Numbers from 2^-60 to 2^40 and zeros, so that neither squares nor sums overflow.
template <class T>
std::vector<T> wide_values(std::uint64_t seed) {
  std::vector<T> values = normal_values<T>(million, seed);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(values[i], int(i * 7 % 101) - 60);
  for (std::size_t i = 0; i < values.size(); i += 100) values[i] = i % 200 ? T(0) : T(-0.0);
  return values;
}

TEST_CASE_TEMPLATE("sums of a million values are accurate", T, float, double) {
  const std::vector<T> ordinary = normal_values<T>(million, 1);
  std::vector<T> tiny = ordinary;
  for (T& v : tiny) v *= std::numeric_limits<T>::min();  // most of them denormal
  for (const std::vector<T>& x : {wide_values<T>(1), ordinary, tiny}) {
    const auto at = [&](I i) { return Wide<T>(x[static_cast<std::size_t>(i)]); };
    const auto sum = exact_sum<T>(million, at),
               squares = exact_sum<T>(million, [&](I i) { return at(i) * at(i); });
    // Twice the size: equal terms round the same way.
    const auto below = std::pair(3 - sum.first / million, 2 * (3 + sum.second / million));
    on_every_isa<T>([&](const kernels::Table<T>& table) {
      const auto close = [](T got, std::pair<Wide<T>, Wide<T>> want) {
        return std::fabs(got - want.first) <=
               2 * eps<T> * want.second + million * Wide<T>(std::numeric_limits<T>::denorm_min());
      };
      CHECK(close(table.sum(million, x.data()), sum));
      CHECK(close(table.mean_below(million, 3, x.data()), below));
      CHECK(close(table.sum_square(million, x.data()), squares));
    });
  }
}

TEST_CASE_TEMPLATE("max and min of a million values are exact", T, float, double) {
  std::vector<T> x = hard_values<T>(million);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    CHECK(std::isnan(table.max(million, x.data())));
    CHECK(std::isnan(table.min(million, x.data())));
  });
  for (T& v : x)
    if (!std::isfinite(v)) v = 0;
  const auto low = std::min_element(x.begin(), x.end()), high = std::max_element(x.begin(), x.end());
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    CHECK(table.max(million, x.data()) == *high);
    CHECK(table.min(million, x.data()) == *low);
  });
}

TEST_CASE_TEMPLATE("softmax and its relations are accurate on a million values", T, float, double) {
  std::vector<T> x = normal_values<T>(million, 3, 20);
  for (std::size_t i = 1; i < x.size(); i += 100) x[i] = -std::numeric_limits<T>::infinity();
  for (std::size_t i = 2; i < x.size(); i += 100) x[i] = std::ldexp(x[i], int(i % 60) - 40);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    check_softmax(table, x, 0);
    check_softmax_grad(table, x, 0);
  });
}

TEST_CASE_TEMPLATE("layer norm and RMS norm are accurate on a million values of every size", T, float,
                   double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I row = 0; row < 1000; ++row)
      check_norm(table, {.n = 1000,
                         .offset = row % at_front,
                         .weighted = row % 5 != 0,
                         .centred = row % 2 == 0,
                         .mean = static_cast<double>(row % 7),
                         .scale = std::ldexp(1.0, static_cast<int>(row % 101) - 60),
                         .seed = static_cast<std::uint64_t>(row)});
  });
}

TEST_CASE_TEMPLATE("gemv is accurate on a million values", T, float, double) {
  const I m = 1000, k = 1000;
  const std::vector<T> a = wide_values<T>(4), x = normal_values<T>(k, 5);
  std::vector<T> y(static_cast<std::size_t>(m));
  std::vector<std::pair<Wide<T>, Wide<T>>> want;
  for (I i = 0; i < m; ++i)
    want.push_back(exact_sum<T>(k, [&](I j) {
      return Wide<T>(x[static_cast<std::size_t>(j)]) * a[static_cast<std::size_t>(i * k + j)];
    }));
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    table.gemv(m, k, a.data(), k, x.data(), y.data());
    bool good = true;
    for (std::size_t i = 0; i < y.size(); ++i)
      good = good && std::fabs(y[i] - want[i].first) <= 4 * eps<T> * want[i].second;
    CHECK(good);
  });
}

TEST_CASE_TEMPLATE("gemv_few is accurate on a million values", T, float, double) {
  const I m = 1000, k = 1000, count = 3;
  const std::vector<T> a = wide_values<T>(4), x = normal_values<T>(count * k, 5);
  std::vector<T> y(static_cast<std::size_t>(count * m));
  std::vector<std::pair<Wide<T>, Wide<T>>> want;
  for (I r = 0; r < count; ++r)
    for (I i = 0; i < m; ++i)
      want.push_back(exact_sum<T>(k, [&](I j) {
        return Wide<T>(x[static_cast<std::size_t>(r * k + j)]) * a[static_cast<std::size_t>(i * k + j)];
      }));
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    table.gemv_few(m, k, a.data(), k, count, x.data(), k, y.data(), m);
    bool good = true;
    for (std::size_t i = 0; i < y.size(); ++i)
      good = good && std::fabs(y[i] - want[i].first) <= (2 + std::sqrt(double(k))) * eps<T> * want[i].second;
    CHECK(good);
  });
}

TEST_CASE_TEMPLATE("gemv_t is accurate on a million values", T, float, double) {
  const I m = 1000, n = 1000;
  const std::vector<T> a = wide_values<T>(4), x = normal_values<T>(m, 5);
  std::vector<T> y(static_cast<std::size_t>(n));
  std::vector<std::pair<Wide<T>, Wide<T>>> want;
  for (I j = 0; j < n; ++j)
    want.push_back(exact_sum<T>(m, [&](I i) {
      return Wide<T>(x[static_cast<std::size_t>(i)]) * a[static_cast<std::size_t>(i * n + j)];
    }));
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    table.gemv_t(m, n, a.data(), n, x.data(), y.data());
    bool good = true;
    for (std::size_t j = 0; j < y.size(); ++j)
      good = good && std::fabs(y[j] - want[j].first) <= 40 * eps<T> * want[j].second;
    CHECK(good);
  });
}

TEST_CASE_TEMPLATE("gemm is accurate on a million values", T, float, double) {
  const std::vector<T> values = wide_values<T>(6);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (bool transposed : {false, true})
      check_gemm(table, {.m = 7, .n = 1000, .k = 1000, .transpose_b = transposed, .extras = true}, values);
  });
}

}  // namespace
}  // namespace gradus::test
