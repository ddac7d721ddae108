// What is particular to OpenBLAS. That its products are right is in multiply_test.cpp, with our own.

#include "gradus/ops/kernels/blas.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "gradus/core/error.h"

using namespace gradus;
using I = std::int64_t;

namespace {

std::vector<float> numbers(I n, double seed) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(seed + 1.7 * static_cast<double>(i)));
  return values;
}

}  // namespace

TEST_CASE("blas: beta 0 overwrites NaN, beta adds a multiple of C") {
  if (!blas::available()) return;
  const std::vector<float> a = numbers(6, 1), b = numbers(6, 2);
  std::vector<float> c(4, std::numeric_limits<float>::quiet_NaN());
  kernels::Product<float> x{
      .m = 2, .n = 2, .k = 3, .a = {a.data(), 3}, .b = {b.data(), 2}, .c = c.data(), .ldc = 2};
  blas::gemm(x);
  const float first = a[0] * b[0] + a[1] * b[2] + a[2] * b[4];
  CHECK(c[0] == doctest::Approx(first));
  x.alpha = 2, x.beta = -3;
  blas::gemm(x);
  CHECK(c[0] == doctest::Approx(-first));
}

TEST_CASE("blas: the same bits on any thread, with many at once") {
  if (!blas::available()) return;
  constexpr I size = 96;
  const std::vector<float> a = numbers(size * size, 1), b = numbers(size * size, 2);
  const auto product = [&] {
    std::vector<float> c(size * size);
    blas::gemm<float>({.m = size,
                       .n = size,
                       .k = size,
                       .a = {a.data(), size},
                       .b = {b.data(), size, true},
                       .c = c.data(),
                       .ldc = size});
    return c;
  };
  const std::vector<float> expected = product();
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) count += product() != expected;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("blas: bad arguments are refused before OpenBLAS sees them") {
  std::vector<float> x(64, 1), c(64, 5);
  const auto call = [&](bool ta, bool tb, I m, I n, I k, I lda, I ldb, I ldc) {
    blas::gemm<float>({.m = m,
                       .n = n,
                       .k = k,
                       .a = {x.data(), lda, ta},
                       .b = {x.data(), ldb, tb},
                       .c = c.data(),
                       .ldc = ldc});
  };
  const std::string limits = ": each must lie in 1 .. 2147483647";
  CHECK_THROWS_WITH_AS(call(false, false, 2, 3, 4, 3, 3, 3),
                       "gemm: a is [2, 4]: its row stride must be at least 4, got 3", Error);
  CHECK_THROWS_WITH_AS(call(true, false, 2, 3, 4, 1, 3, 3),
                       "gemm: a is [4, 2]: its row stride must be at least 2, got 1", Error);
  CHECK_THROWS_WITH_AS(call(false, true, 2, 3, 4, 4, 3, 3),
                       "gemm: b is [3, 4]: its row stride must be at least 4, got 3", Error);
  CHECK_THROWS_WITH_AS(call(false, false, 2, 3, 4, 4, 3, 2),
                       "gemm: c is [2, 3]: its row stride must be at least 3, got 2", Error);
  CHECK_THROWS_WITH_AS(call(false, false, 0, 3, 4, 4, 3, 3),
                       ("gemm: a is [0, 4] with row stride 4" + limits).c_str(), Error);
  const I large = I{1} << 31;
  CHECK_THROWS_WITH_AS(call(false, false, 2, large, 4, 4, large, large),
                       ("gemm: b is [4, 2147483648] with row stride 2147483648" + limits).c_str(), Error);
  CHECK_THROWS_WITH_AS(call(false, false, large, 2, 4, 4, 2, 2),
                       ("gemm: a is [2147483648, 4] with row stride 4" + limits).c_str(), Error);
  CHECK_THROWS_WITH_AS(call(false, false, 2, 2, 4, large, 2, 2),
                       ("gemm: a is [2, 4] with row stride 2147483648" + limits).c_str(), Error);
  CHECK(c == std::vector<float>(64, 5));
}
