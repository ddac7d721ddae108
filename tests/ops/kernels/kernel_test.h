#pragma once
// Shared by the kernel tests: every instruction set in turn, every tail and alignment, difficult values,
// ulps.
//
// A kernel's tests are in two places, and coverage_test.cpp sees to it that each kernel has both:
//   X_test.cpp          at_every_tail: short runs between fences, special values, in place
//   million_X_test.cpp  a million values of every size against a reference written out in a wider type

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/ops/kernels/kernels.h"
#include "guarded.h"
#include "isas.h"

namespace gradus::test {

using I = std::int64_t;

inline constexpr I million = 1'000'000;

/// The type references are computed in.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// Runs body(table) for every instruction set of this CPU, and restores the old one.
template <class T, class Body>
void on_every_isa(Body body) {
  struct Restore {
    Isa before = current_isa();
    ~Restore() { set_isa(before); }
  } restore;
  for (Isa isa : kIsas) {
    if (!isa_supported(isa)) continue;
    set_isa(isa);
    const std::string instruction_set = name(isa);
    CAPTURE(instruction_set);
    body(kernels::table<T>());
  }
}

/// check(n, offset) for all lengths that could go wrong at the end of a vector, each at every alignment and
/// against either fence (guarded.h).
template <class Check>
void at_every_tail(Check check) {
  for (I n = 0; n <= 70; ++n)
    for (I offset = 0; offset <= at_front; ++offset) {
      CAPTURE(n);
      CAPTURE(offset);
      check(n, offset);
    }
}

template <class T>
std::vector<T> special_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values;
  for (T v : {T(0),      L::denorm_min(), L::min() / 2, L::min(),      T(1e-20),      L::epsilon(), T(1e-3),
              T(0.3466), T(0.5),          T(0.6),       T(0.92),       T(1),          T(1.5707964), T(2),
              T(3.92),   T(9.1),          T(16),        T(87.5),       T(88.8),       T(104),       T(200),
              T(40000),  T(1e10),         L::max(),     L::infinity(), L::quiet_NaN()})
    values.push_back(v), values.push_back(-v);
  return values;
}

/// Special values first, then in turn: numbers of moderate size, numbers from 2^-30 to 2^7, and random bits
/// (any exponent, denormals, NaN and infinities too). Among a million, special values come again and again.
template <class T>
std::vector<T> hard_values(I n, std::uint64_t seed = 1) {
  using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 3);
  const std::vector<T> special = special_values<T>();
  std::vector<T> values = special;
  for (std::size_t i = 0; static_cast<I>(values.size()) < n; ++i) {
    const Bits bits = static_cast<Bits>(random());
    T any;
    std::memcpy(&any, &bits, sizeof any);
    values.push_back(static_cast<T>(normal(random)));
    values.push_back(std::ldexp(static_cast<T>(normal(random)), static_cast<int>(bits % 36) - 30));
    values.push_back(any);
    if (i % 10 == 9) values.push_back(special[i / 10 % special.size()]);
  }
  values.resize(static_cast<std::size_t>(n));
  return values;
}

/// n values around zero.
template <class T>
std::vector<T> normal_values(I n, std::uint64_t seed, double scale = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<T> values;
  for (I i = 0; i < n; ++i) values.push_back(static_cast<T>(normal(random)));
  return values;
}

/// The distance from x to the next value of T, at |x|.
template <class T>
Wide<T> ulp(Wide<T> x) {
  using L = std::numeric_limits<T>;
  int exponent = 0;
  std::frexp(x, &exponent);
  const Wide<T> one = 1;
  return std::fmax(std::ldexp(one, exponent - L::digits), static_cast<Wide<T>>(L::denorm_min()));
}

/// The error of `got` in ulps; 0 where both are NaN or the same infinity, huge where just one is.
template <class T>
double ulps(T got, Wide<T> want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(want) && std::isnan(got)) return 0;
  if (got == rounded) return 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(std::fabs(static_cast<Wide<T>>(got) - want) / ulp<T>(want));
}

/// Equal bits, or both NaN.
template <class T>
bool same(T a, T b) {
  if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// The sum of f(i), and of |f(i)|, in the wider type.
template <class T, class F>
std::pair<Wide<T>, Wide<T>> exact_sum(I n, F f) {
  Wide<T> sum = 0, size = 0;
  for (I i = 0; i < n; ++i) {
    const Wide<T> term = f(i);
    sum += term, size += std::fabs(term);
  }
  return {sum, size};
}

template <class T>
inline constexpr double eps = static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace gradus::test
