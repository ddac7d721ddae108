// Elementwise kernels of two or more arrays on a million values of every size, on every instruction set.

#include <memory>

#include "binary_references.h"

namespace gradus::test {
namespace {

/// The first i for which right(i) does not hold, or -1.
template <class Right>
I first_wrong(I n, Right right) {
  for (I i = 0; i < n; ++i)
    if (!right(static_cast<std::size_t>(i))) return i;
  return -1;
}

// One operation is rounded once, so plain C++ of the same type gives the same bits; pow is libm's.
TEST_CASE_TEMPLATE("binary kernels equal the plain operations on a million values, for all strides", T, float,
                   double) {
  const Two<T> two(million);
  const std::vector<T>&a = two.a, &b = two.b;
  std::vector<T> y(a.size()), want(a.size());
  for (int op = 0; op < static_cast<int>(Binary::count); ++op)
    for (std::size_t sa : {0, 1})
      for (std::size_t sb : {0, 1}) {
        const I n = sa + sb == 2 ? million : 300;
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
          want[i] = binary_reference(static_cast<Binary>(op), a[i * sa], b[i * sb]);
        on_every_isa<T>([&](const kernels::Table<T>& table) {
          table.binary[op](n, a.data(), static_cast<I>(sa), b.data(), static_cast<I>(sb), y.data());
          CAPTURE(op);
          CAPTURE(sa);
          CAPTURE(sb);
          const bool any_zero = op >= static_cast<int>(Binary::maximum);  // max(0, -0) may be either
          CHECK(first_wrong(n, [&](std::size_t i) {
                  return same(y[i], want[i]) || (any_zero && y[i] == 0 && want[i] == 0);
                }) == -1);
        });
      }
}

TEST_CASE_TEMPLATE("pow is within 1 ulp on a million values", T, float, double) {
  const Two<T> two(million);
  std::vector<T> y(two.a.size());
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    table.binary[static_cast<int>(Binary::pow)](million, two.a.data(), 1, two.b.data(), 1, y.data());
    // Every fourth: a power in the wider type is slow.
    CHECK(first_wrong(million / 4, [&](std::size_t i) {
            return ulps(y[4 * i], std::pow(Wide<T>(two.a[4 * i]), Wide<T>(two.b[4 * i]))) <= 1;
          }) == -1);
  });
}

TEST_CASE_TEMPLATE("comparisons, where and clamp are right on a million values", T, float, double) {
  const Two<T> two(million);
  const std::vector<T>&a = two.a, &b = two.b;
  std::vector<T> chosen(a.size()), clamped(a.size());
  const std::unique_ptr<bool[]> y(new bool[a.size()]);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (int op = 0; op < static_cast<int>(Compare::count); ++op) {
      CAPTURE(op);
      table.compare[op](million, a.data(), 1, b.data(), 1, y.get());
      CHECK(first_wrong(million, [&](std::size_t i) {
              return y[i] == compare_reference(static_cast<Compare>(op), a[i], b[i]);
            }) == -1);
      table.where(million, y.get(), 1, a.data(), 1, b.data(), 1, chosen.data());
      CHECK(first_wrong(million, [&](std::size_t i) { return same(chosen[i], y[i] ? a[i] : b[i]); }) == -1);
    }
    table.clamp(million, T(-0.5), T(3), a.data(), clamped.data());
    CHECK(first_wrong(million, [&](std::size_t i) {
            return same(clamped[i], a[i] < T(-0.5) ? T(-0.5) : a[i] > 3 ? T(3) : a[i]);
          }) == -1);
  });
}

/// Is `got` the sum of a and the product b, up to one rounding of each? (The product may overflow alone.)
template <class T>
bool is_sum(T got, Wide<T> a, Wide<T> b) {
  const Wide<T> want = a + b;
  if (ulps(got, want) <= 0.5) return true;  // NaN and infinities too
  if (std::isfinite(b) && std::isinf(static_cast<T>(b))) return true;
  return std::fabs(got - want) <=
         eps<T> * (std::fabs(a) + std::fabs(b)) + std::numeric_limits<T>::denorm_min();
}

TEST_CASE_TEMPLATE("scale and mul_add are right on a million values", T, float, double) {
  const Two<T> two(million);
  const std::vector<T>&a = two.a, &b = two.b, before = hard_values<T>(million, 3);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    std::vector<T> z = before, scaled(a.size());
    table.mul_add(million, a.data(), b.data(), z.data());
    table.scale(million, T(-0.3), a.data(), scaled.data());
    CHECK(first_wrong(million,
                      [&](std::size_t i) { return is_sum<T>(z[i], before[i], Wide<T>(a[i]) * b[i]); }) == -1);
    CHECK(first_wrong(million, [&](std::size_t i) { return same(scaled[i], T(-0.3) * a[i]); }) == -1);
  });
}

}  // namespace
}  // namespace gradus::test
