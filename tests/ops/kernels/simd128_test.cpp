// WebAssembly's vectors against the scalar kernels: where both do the same operations, the bits are the same.

#include <string>

#include "gradus/ops/kernels/multiply.h"
#include "kernel_test.h"

namespace gradus::test {
namespace {

/// body(table) on scalar kernels and on vectors; false where there are none.
template <class T, class Body>
bool on_both(Body body) {
  if (!isa_supported(Isa::simd128)) return false;
  const Isa before = current_isa();
  for (const Isa isa : {Isa::scalar, Isa::simd128}) {
    set_isa(isa);
    body(kernels::table<T>());
  }
  set_isa(before);
  return true;
}

/// Fails where the second half of what was computed differs from the first.
template <class T>
void check_halves(const std::vector<std::vector<T>>& results) {
  if (results.size() != 2) return;
  I different = 0;
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    // relu(-0) may be 0: scalar code is compiled to an instruction that takes 0 for the larger of both.
    const T a = results[0][i], b = results[1][i];
    different += a != b && !same(a, b);
  }
  CHECK(different == 0);
}

TEST_CASE_TEMPLATE("simd128: functions of numbers give the bits of the scalar kernels", T, float, double) {
  constexpr I n = 20001;
  const std::vector<T> a = hard_values<T>(n), b = hard_values<T>(n, 2);
  const auto check = [&](const std::string& kind, int count, auto compute) {
    for (int f = 0; f < count; ++f) {
      CAPTURE(kind);
      CAPTURE(f);
      std::vector<std::vector<T>> results;
      on_both<T>([&](const kernels::Table<T>& table) {
        results.emplace_back(static_cast<std::size_t>(n));
        compute(table, f, results.back().data());
      });
      check_halves(results);
    }
  };
  check("unary", static_cast<int>(kernels::Unary::count),
        [&](const auto& table, int f, T* y) { table.unary[f](n, a.data(), y); });
  check("unary_grad", static_cast<int>(kernels::UnaryGrad::count),
        [&](const auto& table, int f, T* y) { table.unary_grad[f](n, a.data(), b.data(), y); });
  check("binary", static_cast<int>(kernels::Binary::count),
        [&](const auto& table, int f, T* y) { table.binary[f](n, a.data(), 1, b.data(), 1, y); });
}

TEST_CASE_TEMPLATE("simd128: products of at most 512 terms give the bits of the scalar kernels", T, float,
                   double) {
  constexpr I m = 29, n = 43, k = 512;
  const std::vector<T> a = normal_values<T>(m * k, 1), b = normal_values<T>(k * n, 2),
                       bias = normal_values<T>(n, 3);
  for (int flags = 0; flags < 16; ++flags) {
    CAPTURE(flags);
    const bool ta = flags & 1, tb = flags & 2;
    std::vector<std::vector<T>> results;
    on_both<T>([&](const auto&) {
      results.emplace_back(static_cast<std::size_t>(m * n), T(0.25));
      kernels::multiply<T>({.m = m,
                            .n = n,
                            .k = k,
                            .a = {a.data(), ta ? m : k, ta},
                            .b = {b.data(), tb ? k : n, tb},
                            .c = results.back().data(),
                            .ldc = n,
                            .alpha = T(0.5),
                            .beta = T(flags & 4 ? 1 : 0),
                            .bias = bias.data(),
                            .relu = (flags & 8) != 0},
                           kernels::Path::blocks);
    });
    check_halves(results);
  }
}

}  // namespace
}  // namespace gradus::test
