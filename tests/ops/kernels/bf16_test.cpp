// Products with operands rounded to bf16: by AVX512-BF16 where this CPU has it, and by the f32 kernels of
// every instruction set, all with the same bits, and next to sums in f64.

#include "gradus/ops/kernels/bf16.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gradus/core/detail/platform.h"
#include "gradus/core/half.h"
#include "kernel_test.h"

using namespace gradus;
using kernels::Product;
using I = std::int64_t;

namespace {

double rounded(float x) { return static_cast<double>(static_cast<float>(BFloat16(x))); }

/// A matrix as it is stored, with gaps of NaN between rows.
struct Stored {
  Stored(I rows, I columns, bool transposed, std::mt19937& random)
      : ld((transposed ? rows : columns) + static_cast<I>(random() % 3)), flipped(transposed) {
    const I down = transposed ? columns : rows, along = transposed ? rows : columns;
    values.assign(static_cast<std::size_t>(std::max<I>(1, down * ld)),
                  std::numeric_limits<float>::quiet_NaN());
    std::normal_distribution<float> normal;
    for (I i = 0; i < down; ++i)
      for (I j = 0; j < along; ++j) values[static_cast<std::size_t>(i * ld + j)] = normal(random);
  }
  float& at(I i, I j) { return values[static_cast<std::size_t>(flipped ? j * ld + i : i * ld + j)]; }
  kernels::Operand<float> operand() const { return {values.data(), ld, flipped}; }

  std::vector<float> values;
  I ld;
  bool flipped;
};

/// One product with everything in it: alpha, beta and D, bias, ReLU.
struct Case {
  Case(I rows, I columns, I depth, std::mt19937& random)
      : m(rows),
        n(columns),
        k(depth),
        a(m, k, random() % 2 == 0, random),
        b(k, n, random() % 2 == 0, random),
        d(m, n, false, random),
        bias(1, n, false, random),
        alpha(random() % 2 == 0 ? 1.0f : 0.375f),
        beta(random() % 3 == 0   ? 0.0f
             : random() % 2 == 0 ? 1.0f
                                 : -1.0f),
        has_bias(random() % 2 == 0),
        relu(random() % 2 == 0) {}

  /// With B as it is, or as a weight stored in bf16, which it must then be transposed for.
  std::vector<float> run(void (*gemm)(const Product<float>&), bool stored = false) const {
    std::vector<BFloat16> weight;
    if (stored)
      for (const float value : b.values) weight.emplace_back(value);
    std::vector<float> c(static_cast<std::size_t>(m * d.ld), 77);  // what lies between the rows stays
    Product<float> x{m, n, k, a.operand(), b.operand(), c.data(), d.ld};
    x.alpha = alpha, x.beta = beta, x.d = d.values.data(), x.ldd = d.ld;
    x.bias = has_bias ? bias.values.data() : nullptr;
    x.relu = relu;
    if (stored) x.b.data = nullptr, x.weight = weight.data();
    gemm(x);
    return c;
  }

  /// The largest error, in units of the bound for a sum of k terms.
  double error(const std::vector<float>& c) {
    double worst = 0;
    for (I i = 0; i < m; ++i)
      for (I j = 0; j < d.ld; ++j) {
        const float got = c[static_cast<std::size_t>(i * d.ld + j)];
        if (j >= n) {
          if (got != 77) return HUGE_VAL;
          continue;
        }
        double sum = 0, size = 0;
        for (I p = 0; p < k; ++p) {
          const double term = rounded(a.at(i, p)) * rounded(b.at(p, j));
          sum += term, size += std::abs(term);
        }
        const double before = beta == 0 ? 0 : double{beta} * d.at(i, j),
                     added = has_bias ? bias.at(0, j) : 0.0f;
        const double exact = alpha * sum + before + added,
                     terms = std::abs(alpha) * size + std::abs(before) + std::abs(added),
                     bound = terms * static_cast<double>(k + 4) * 0x1p-24;
        worst = std::max(worst, std::abs(got - (relu ? std::max(exact, 0.0) : exact)) / bound);
      }
    return worst;
  }

  I m, n, k;
  Stored a, b, d, bias;
  float alpha, beta;
  bool has_bias, relu;
};

void check_case(Case& x) {
  CAPTURE(x.m);
  CAPTURE(x.n);
  CAPTURE(x.k);
  const std::vector<float> first = x.run(kernels::gemm_bf16);
  CHECK(x.error(first) <= 1);
  test::on_every_isa<float>([&](const auto&) {
    CHECK(x.run(kernels::gemm_bf16) == first);
    CHECK(x.run(kernels::gemm_bf16_by_f32) == first);
    if (!x.b.flipped) return;
    CHECK(x.run(kernels::gemm_bf16, true) == first);
    CHECK(x.run(kernels::gemm_bf16_by_f32, true) == first);
  });
}

}  // namespace

TEST_CASE("bf16 product: odd shapes, layouts, and every instruction set") {
  std::mt19937 random(1);
  for (const I m : {1, 2, 5, 6, 7, 13})
    for (const I n : {1, 15, 16, 17, 63, 65})
      for (const I k : {1, 2, 3, 31, 32, 33}) {
        Case x(m, n, k, random);
        check_case(x);
      }
}

TEST_CASE("bf16 product: beyond what is packed at a time") {
  std::mt19937 random(2);
  for (const auto& [m, n, k] :
       {std::array<I, 3>{97, 40, 513}, {50, 130, 1100}, {7, 1030, 40}, {3, 520, 515}}) {
    Case x(m, n, k, random);
    check_case(x);
  }
}

TEST_CASE("bf16 product: what is not finite goes where it belongs") {
  std::mt19937 random(3);
  Case x(9, 20, 33, random);
  x.has_bias = x.relu = false, x.beta = 0, x.alpha = 1;
  x.a.at(4, 32) = std::numeric_limits<float>::quiet_NaN();
  x.b.at(0, 7) = HUGE_VALF;
  x.b.at(1, 7) = std::numeric_limits<float>::max();  // rounds to infinity
  for (const auto gemm : {kernels::gemm_bf16, kernels::gemm_bf16_by_f32}) {
    const std::vector<float> c = x.run(gemm);
    for (I i = 0; i < x.m; ++i)
      for (I j = 0; j < x.n; ++j) {
        const float y = c[static_cast<std::size_t>(i * x.d.ld + j)];
        CHECK(std::isfinite(y) == (i != 4 && j != 7));
        if (i == 4) CHECK(std::isnan(y));
      }
  }
}

TEST_CASE("bf16 product: numbers below f32's normal range") {
  // AVX512-BF16 takes them for 0; the f32 kernels do not.
  const float a[2] = {0x1p-130f, 1}, b[2] = {4, 0x1p-128f};
  for (const auto gemm : {kernels::gemm_bf16, kernels::gemm_bf16_by_f32}) {
    float c = 7;
    gemm({1, 1, 2, {a, 2}, {b, 1}, &c, 1});
    CHECK(std::abs(c - 0x1p-127f) <= 5 * 0x1p-126f);  // two operands that may be 0: 4 and 1 times 2^-126
  }
  float sum = 7;
  kernels::gemm_bf16_by_f32({1, 1, 2, {a, 2}, {b, 1}, &sum, 1});
  CHECK(sum == 0x1p-127f);
}

TEST_CASE("bf16 product: fast where the CPU has AVX512-BF16") {
  test::on_every_isa<float>([](const auto&) {
    CHECK(fast_bf16() == (current_isa() == Isa::avx512 && platform::cpu_has_avx512_bf16()));
  });
}
