// Products in bf16 by ARM's BFMMLA: the bits of a model of the instruction in plain C++, as bf16.h describes
// it; and next to sums in f64.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "bf16_case.h"
#include "kernel_test.h"

using namespace gradus;
using test::Case;
using I = std::int64_t;

namespace {

bool has_bfmmla() {
  const bool has = bf16_backend_supported(Bf16Backend::bfmmla);
  if (!has) MESSAGE("not tested: this CPU does not have ARM's BFMMLA");
  return has;
}

/// 0 for what lies below the normal range, with its sign.
float flushed(float x) { return std::abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

/// a + b, of the two neighbors of what is inexact the odd one. In double first, by the same rule: an odd
/// double rounds to the float that the exact sum rounds to.
float odd_sum(float a, float b) {
  const double x = a, y = b, infinity = HUGE_VAL;
  double sum = x + y;
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double part = sum - x, rest = (x - (sum - part)) + (y - part);  // what x + y lost
  if (rest != 0 && __builtin_bit_cast(std::uint64_t, sum) % 2 == 0)
    sum = std::nextafter(sum, rest > 0 ? infinity : -infinity);
  if (std::abs(sum) < 0x1p-126) return std::copysign(0.0f, static_cast<float>(sum));
  auto nearest = static_cast<float>(sum);
  if (std::abs(sum) < 0x1p128 && nearest != sum && __builtin_bit_cast(std::uint32_t, nearest) % 2 == 0)
    nearest = std::nextafter(nearest, sum > nearest ? HUGE_VALF : -HUGE_VALF);
  return nearest;
}

/// Of bf16, which are exact unless they leave f32's range.
float product(double a, double b) {
  const auto there = [](double x) { return static_cast<double>(flushed(static_cast<float>(x))); };
  return flushed(static_cast<float>(there(a) * there(b)));
}

std::vector<float> written_out(Case& x) {
  return x.written_out(kernels::kBf16Depth, [&](I i, I j, I p, I end) {
    const auto term = [&](I q) {
      return q < end ? product(test::rounded(x.a.at(i, q)), test::rounded(x.b.at(q, j))) : 0.0f;
    };
    float sum = 0;
    for (; p < end; p += 2) sum = odd_sum(sum, odd_sum(term(p), term(p + 1)));
    return sum;
  });
}

/// By the kernel, with B as it is, and stored in bf16 where that is possible.
void check_bits(const Case& x, const std::vector<float>& want) {
  const test::Bf16BackendGuard guard(Bf16Backend::bfmmla);
  CHECK(x.run(kernels::gemm_bf16) == want);
  if (x.b.flipped) CHECK(x.run(kernels::gemm_bf16, true) == want);
}

void check_case(I m, I n, I k, std::mt19937& random) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  Case x(m, n, k, random);
  const std::vector<float> want = written_out(x);
  CHECK(x.error(want, std::min(k + 1, k / 512 + 512)) <= 1);
  check_bits(x, want);
}

/// By the kernel.
float sum_of_two(float a0, float b0, float a1, float b1) {
  const test::Bf16BackendGuard guard(Bf16Backend::bfmmla);
  const float a[2] = {a0, a1}, b[2] = {b0, b1};
  float c = 7;
  kernels::gemm_bf16({1, 1, 2, {a, 2}, {b, 1}, &c, 1});
  return c;
}

}  // namespace

TEST_CASE("bf16 product by BFMMLA: a sum that rounds to odd") {
  CHECK(odd_sum(1, 0x1p-23f) == 1 + 0x1p-23f);  // exact
  CHECK(odd_sum(1, 0x1p-30f) == 1 + 0x1p-23f);
  CHECK(odd_sum(1, 0x1p-120f) == 1 + 0x1p-23f);
  CHECK(odd_sum(1, -0x1p-120f) == 1 - 0x1p-24f);
  CHECK(odd_sum(1 + 0x1p-23f, 0x1.fp-24f) == 1 + 0x1p-23f);
  CHECK(odd_sum(-1, -0x1p-30f) == -1 - 0x1p-23f);
  CHECK(odd_sum(0x1.8p-126f, -0x1p-126f) == 0);
  constexpr float most = std::numeric_limits<float>::max();
  CHECK(odd_sum(most, 1) == most);
  CHECK(odd_sum(most, 0x1p104f) == HUGE_VALF);
}

TEST_CASE("bf16 product by BFMMLA: every shape of a block's rest, and layouts") {
  if (!has_bfmmla()) return;
  std::mt19937 random(1);
  for (const I m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 49})
    for (const I n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17})
      for (const I k : {1, 2, 3, 4, 5, 7, 8, 9, 33}) check_case(m, n, k, random);
}

TEST_CASE("bf16 product by BFMMLA: beyond what is packed at a time") {
  if (!has_bfmmla()) return;
  std::mt19937 random(2);
  for (int i = 0; i < 4; ++i)  // other layouts each time
    for (const auto& [m, n, k] :
         {std::array<I, 3>{97, 40, 513}, {7, 390, 40}, {50, 400, 21}, {3, 130, 1100}, {49, 9, 1025}})
      check_case(m, n, k, random);
}

TEST_CASE("bf16 product by BFMMLA: terms of very different sizes, at both ends of f32's range too") {
  if (!has_bfmmla()) return;
  std::mt19937 random(3);
  struct Exponents {
    int of_a, of_b, spread;
  };
  for (const Exponents all : {Exponents{0, 0, 20}, {0, 0, 60}, {-62, -62, 10}, {-124, 100, 6}, {61, 61, 3}})
    for (int i = 0; i < 10; ++i) {
      Case x(20, 20, 100, random);
      const auto scale = [&](std::vector<float>& values, int middle) {
        for (float& value : values)
          value = std::ldexp(value, middle + static_cast<int>(random() % 64) * all.spread / 32 - all.spread);
      };
      scale(x.a.values, all.of_a), scale(x.b.values, all.of_b);
      if (all.of_a < 0) x.beta = 0, x.has_bias = false;  // which would hide the sums
      const std::vector<float> want = written_out(x);
      const test::Bf16BackendGuard guard(Bf16Backend::bfmmla);
      const std::vector<float> got = x.run(kernels::gemm_bf16);
      REQUIRE(got.size() == want.size());
      for (std::size_t e = 0; e < got.size(); ++e)  // NaN where the model has NaN
        CHECK((got[e] == want[e] || (std::isnan(got[e]) && std::isnan(want[e]))));
    }
}

TEST_CASE("bf16 product by BFMMLA: below f32's normal range operands, products and sums are 0") {
  if (!has_bfmmla()) return;
  CHECK(sum_of_two(0x1p-127f, 0x1p20f, 0, 0) == 0);                    // an operand
  CHECK(sum_of_two(0x1.8p-64f, 0x1p-63f, 0x1.8p-64f, 0x1p-63f) == 0);  // products
  CHECK(sum_of_two(0x1.8p-126f, 1, 0x1p-126f, -1) == 0);               // a sum
  CHECK(sum_of_two(0x1p-126f, 1, 0, 0) == 0x1p-126f);
}

TEST_CASE("bf16 product by BFMMLA: every NaN is the default one") {
  if (!has_bfmmla()) return;
  const auto bits = [](float x) { return __builtin_bit_cast(std::uint32_t, x); };
  CHECK(bits(sum_of_two(-std::numeric_limits<float>::quiet_NaN(), 1, 0, 0)) == 0x7fc00000u);
  CHECK(bits(sum_of_two(HUGE_VALF, 0, 0, 0)) == 0x7fc00000u);
  CHECK(bits(sum_of_two(HUGE_VALF, 1, -HUGE_VALF, 1)) == 0x7fc00000u);
  CHECK(sum_of_two(0x1p100f, 0x1p100f, 1, 1) == HUGE_VALF);
}
