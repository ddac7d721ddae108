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

/// The sum over at most kAmxDepth places from p on. The products are exact.
float sum_from(Case& x, I i, I j, I p) {
  float sum = 0;
  for (const I end = std::min(x.k, p + kernels::kAmxDepth); p < end; p += 32) {
    float of[2] = {0, 0};
    for (I q = p; q < std::min(end, p + 32); ++q) {
      const auto product = static_cast<float>(test::rounded(x.a.at(i, q)) * test::rounded(x.b.at(q, j)));
      of[q % 2] += product;
    }
    sum += of[0] + of[1];
  }
  return sum;
}

/// What the kernel must return, between rows what was there.
std::vector<float> written_out(Case& x) {
  std::vector<float> c(static_cast<std::size_t>(x.m * x.d.ld), 77);
  for (I i = 0; i < x.m; ++i)
    for (I j = 0; j < x.n; ++j) {
      float y = x.alpha * sum_from(x, i, j, 0);
      if (x.beta != 0) y = std::fma(x.beta, x.d.at(i, j), y);
      if (x.has_bias) y += x.bias.at(0, j);
      for (I p = kernels::kAmxDepth; p < x.k; p += kernels::kAmxDepth) y += x.alpha * sum_from(x, i, j, p);
      c[static_cast<std::size_t>(i * x.d.ld + j)] = x.relu ? std::max(0.0f, y) : y;
    }
  return c;
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

TEST_CASE("bf16 product by AMX: an element depends only on its row and its column") {
  if (!has_amx()) return;
  const test::Bf16BackendGuard guard(Bf16Backend::amx);
  std::mt19937 random(5);
  Case x(70, 530, 1100, random);
  const std::vector<float> all = x.run(kernels::gemm_bf16);
  for (const I row : {0, 33, 69})
    for (const I columns : {1, 40}) {
      std::vector<float> c(static_cast<std::size_t>(columns));
      kernels::Product<float> part{
          1,        columns, x.k, x.a.operand().from(row, 0), x.b.operand().from(0, x.n - columns),
          c.data(), columns};
      part.alpha = x.alpha, part.beta = x.beta, part.relu = x.relu;
      part.d = x.d.values.data() + row * x.d.ld + x.n - columns, part.ldd = x.d.ld;
      part.bias = x.has_bias ? x.bias.values.data() + x.n - columns : nullptr;
      kernels::gemm_bf16(part);
      const float* const same = all.data() + row * x.d.ld + x.n - columns;
      CHECK(c == std::vector<float>(same, same + columns));
    }
}
