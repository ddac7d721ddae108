#pragma once
// Products in bf16, for tests: their operands as they may be stored, and their errors.

#include "gradus/ops/kernels/bf16.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gradus/core/half.h"

namespace gradus::test {

using I = std::int64_t;
using kernels::Product;

/// Restores what multiplies bf16.
struct Bf16BackendGuard {
  Bf16Backend before = bf16_backend();
  explicit Bf16BackendGuard(Bf16Backend backend) { set_bf16_backend(backend); }
  ~Bf16BackendGuard() { set_bf16_backend(before); }
  Bf16BackendGuard(const Bf16BackendGuard&) = delete;
  Bf16BackendGuard& operator=(const Bf16BackendGuard&) = delete;
};

/// Those this CPU has.
inline std::vector<Bf16Backend> bf16_backends() {
  std::vector<Bf16Backend> all;
  for (const Bf16Backend backend :
       {Bf16Backend::amx, Bf16Backend::avx512, Bf16Backend::bfmmla, Bf16Backend::in_f32})
    if (bf16_backend_supported(backend)) all.push_back(backend);
  return all;
}

inline double rounded(float x) { return static_cast<double>(static_cast<float>(BFloat16(x))); }

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

  /// The largest error, in units of the bound for a sum whose terms are rounded so many times each.
  double error(const std::vector<float>& c, I roundings) {
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
                     bound = terms * static_cast<double>(roundings + 4) * 0x1p-24;
        worst = std::max(worst, std::abs(got - (relu ? std::max(exact, 0.0) : exact)) / bound);
      }
    return worst;
  }

  /// What a kernel must return, between rows what was there: `depth` of k at a time, sum_from(i, j, p, end)
  /// from p to `end`.
  template <class F>
  std::vector<float> written_out(I depth, F sum_from) {
    // A product that no compiler fuses with the next addition.
    const auto part = [&](I i, I j, I p) {
      return std::fma(alpha, sum_from(i, j, p, std::min(k, p + depth)), 0.0f);
    };
    std::vector<float> c(static_cast<std::size_t>(m * d.ld), 77);
    for (I i = 0; i < m; ++i)
      for (I j = 0; j < n; ++j) {
        float y = part(i, j, 0);
        if (beta != 0) y = std::fma(beta, d.at(i, j), y);
        if (has_bias) y += bias.at(0, j);
        for (I p = depth; p < k; p += depth) y += part(i, j, p);
        c[static_cast<std::size_t>(i * d.ld + j)] = relu && y < 0 ? 0.0f : y;  // NaN stays
      }
    return c;
  }

  I m, n, k;
  Stored a, b, d, bias;
  float alpha, beta;
  bool has_bias, relu;
};

}  // namespace gradus::test
