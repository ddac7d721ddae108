// Products in bf16 by AMX: the bits of the order that bf16.h states, written out; and next to sums in f64.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "bf16_case.h"
#include "kernel_test.h"

using namespace gradus;
using test::Case;
using I = std::int64_t;

namespace {

bool has_amx() {
  const bool has = bf16_backend_supported(Bf16Backend::amx);
  if (!has) MESSAGE("not tested: this CPU does not have AMX for bf16, or the system does not permit it");
  return has;
}

/// The products are exact.
std::vector<float> written_out(Case& x) {
  return x.written_out(kernels::kAmxDepth, [&](I i, I j, I p, I end) {
    float sum = 0;
    for (; p < end; p += 32) {
      float of[2] = {0, 0};
      for (I q = p; q < std::min(end, p + 32); ++q) {
        const auto product = static_cast<float>(test::rounded(x.a.at(i, q)) * test::rounded(x.b.at(q, j)));
        of[q % 2] += product;
      }
      sum += of[0] + of[1];
    }
    return sum;
  });
}

void check_case(I m, I n, I k, std::mt19937& random) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  Case x(m, n, k, random);
  const std::vector<float> want = written_out(x);
  CHECK(x.error(want, std::min(k, k / 32 + 18)) <= 1);
  const test::Bf16BackendGuard guard(Bf16Backend::amx);
  CHECK(x.run(kernels::gemm_bf16) == want);
  if (x.b.flipped) CHECK(x.run(kernels::gemm_bf16, true) == want);
}

}  // namespace

TEST_CASE("bf16 product by AMX: every shape of a tile's rest, and layouts") {
  if (!has_amx()) return;
  std::mt19937 random(1);
  for (const I m : {1, 2, 15, 16, 17, 31, 32, 33, 48, 49, 64, 65, 97})
    for (const I n : {1, 15, 16, 17, 32, 33})
      for (const I k : {1, 2, 3, 31, 32, 33, 64, 65}) check_case(m, n, k, random);
}

TEST_CASE("bf16 product by AMX: beyond what is packed at a time") {
  if (!has_amx()) return;
  std::mt19937 random(2);
  for (int i = 0; i < 4; ++i)  // other layouts each time
    for (const auto& [m, n, k] : {std::array<I, 3>{70, 530, 40},
                                  {7, 530, 1030},
                                  {100, 40, 1025},
                                  {66, 520, 1100},
                                  {2100, 513, 3},
                                  {600, 70, 40},
                                  {390, 40, 600},
                                  {33, 17, 3100}})
      check_case(m, n, k, random);
}

TEST_CASE("bf16 product by AMX: terms of very different sizes") {
  if (!has_amx()) return;
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    Case x(20, 20, 100, random);
    for (std::vector<float>* values : {&x.a.values, &x.b.values})
      for (float& value : *values) value = std::ldexp(value, static_cast<int>(random() % 41) - 20);
    const test::Bf16BackendGuard guard(Bf16Backend::amx);
    CHECK(x.run(kernels::gemm_bf16) == written_out(x));
  }
}

TEST_CASE("bf16 product by AMX: below f32's normal range operands and sums are 0") {
  if (!has_amx()) return;
  const test::Bf16BackendGuard guard(Bf16Backend::amx);
  const auto sum_of_two = [](float a0, float b0, float a1, float b1) {
    const float a[2] = {a0, a1}, b[2] = {b0, b1};
    float c = 7;
    kernels::gemm_bf16({1, 1, 2, {a, 2}, {b, 1}, &c, 1});
    return c;
  };
  CHECK(sum_of_two(0x1p-127f, 0x1p20f, 0, 0) == 0);                  // an operand
  CHECK(sum_of_two(0x1p-64f, 0x1p-63f, 1, 0x1p-126f) == 0x1p-126f);  // a product
  CHECK(sum_of_two(0x1.8p-126f, 1, 0x1p-126f, -1) == 0);             // a sum
  CHECK(sum_of_two(0x1p-126f, 1, 0, 0) == 0x1p-126f);
}
