// The same bits on every instruction set with vectors, AVX2, AVX-512 and NEON: wherever a result depends on
// its own inputs alone, or is a sum in an order that vectors do not change. Each function leaves a
// fingerprint of what it makes of the same numbers; a machine has one or two of the instruction sets, so the
// fingerprints stand here. The scalar kernels round some products twice (vec_scalar.h), and sums along a row
// are cut by the width of a vector.

#include <cstdint>
#include <vector>

#include "kernel_test.h"

namespace gradus::test {
namespace {

using kernels::Binary;
using kernels::Unary;
using kernels::UnaryGrad;

/// Of all bits, but for those of NaN, which tell nothing.
template <class T>
std::uint64_t fingerprint(const std::vector<T>& values) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const T value : values) {
    unsigned char bytes[sizeof(T)] = {};
    if (value == value) std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  return hash;
}

/// Numbers that need no library to be the same everywhere: bits of a multiplicative generator. Of any
/// exponent, or of moderate ones.
std::vector<float> numbers(I n, std::uint32_t seed, bool moderate) {
  std::vector<float> values;
  for (I i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const std::uint32_t bits = moderate ? (seed & 0x80ffffffu) | 0x3e000000u : seed;  // 0.125 to 2, or any
    float value;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  return values;
}

constexpr I n = 100'003;

struct Fingerprints {
  std::uint64_t unary = 0, waves = 0, gradients = 0, binary = 0, gemm = 0, gemm_f64 = 0, gemv_t = 0, adam = 0,
                dropout = 0;
};

template <class T>
std::uint64_t of_product() {
  const std::vector<float> a = numbers(37 * 700, 1, true), b = numbers(700 * 53, 2, true);
  const std::vector<T> ta(a.begin(), a.end()), tb(b.begin(), b.end());
  std::vector<T> c(37 * 53);
  kernels::table<T>().gemm(
      {.m = 37, .n = 53, .k = 700, .a = {ta.data(), 700}, .b = {tb.data(), 53}, .c = c.data(), .ldc = 53});
  return fingerprint(c);
}

Fingerprints fingerprints() {
  const kernels::Table<float>& table = kernels::table<float>();
  const std::vector<float> x = numbers(n, 3, false), y = numbers(n, 4, false), dy = numbers(n, 5, true);
  std::vector<float> out(static_cast<std::size_t>(n));
  Fingerprints all;
  for (const Unary f :
       {Unary::sqrt, Unary::rsqrt, Unary::reciprocal, Unary::exp, Unary::expm1, Unary::log, Unary::log2,
        Unary::log1p, Unary::tanh, Unary::sigmoid, Unary::relu, Unary::gelu, Unary::gelu_tanh, Unary::silu,
        Unary::erf, Unary::sign, Unary::floor, Unary::ceil, Unary::round}) {
    table.unary[static_cast<int>(f)](n, x.data(), out.data());
    all.unary = all.unary * 31 + fingerprint(out);
  }
  std::vector<float> angles(x.size());  // sin and cos leave those above 2^15 to libm
  for (std::size_t i = 0; i < angles.size(); ++i) angles[i] = 0.0007f * static_cast<float>(i) - 35;
  for (const Unary f : {Unary::sin, Unary::cos}) {
    table.unary[static_cast<int>(f)](n, angles.data(), out.data());
    all.waves = all.waves * 31 + fingerprint(out);
  }
  for (int f = 0; f < static_cast<int>(UnaryGrad::sin); ++f) {
    table.unary_grad[f](n, dy.data(), y.data(), out.data());
    all.gradients = all.gradients * 31 + fingerprint(out);
  }
  for (const Binary f :
       {Binary::add, Binary::sub, Binary::mul, Binary::div, Binary::maximum, Binary::minimum}) {
    table.binary[static_cast<int>(f)](n, x.data(), 1, y.data(), 1, out.data());
    all.binary = all.binary * 31 + fingerprint(out);
  }
  all.gemm = of_product<float>();
  all.gemm_f64 = of_product<double>();
  std::vector<float> row(101);
  table.gemv_t(900, 101, dy.data(), 101, dy.data() + 5, row.data());
  all.gemv_t = fingerprint(row);
  std::vector<float> p = dy, m(dy.size()), v(dy.size());
  for (int t = 1; t <= 3; ++t)
    table.adam(n,
               {.lr = 0.01,
                .beta1 = 0.9,
                .beta2 = 0.999,
                .eps = 1e-8,
                .weight_decay = 0.1,
                .bias_correction1 = 0.1 * t,
                .bias_correction2_sqrt = 0.03 * t,
                .decoupled = true},
               dy.data(), p.data(), m.data(), v.data());
  all.adam = fingerprint(p);
  table.dropout(n, 0.3, 7, 1, 5, 3, dy.data(), out.data());
  all.dropout = fingerprint(out);
  return all;
}

TEST_CASE("kernels: the same bits on every instruction set") {
  const Fingerprints expected = {.unary = 0x9d751740f7037a2d,
                                 .waves = 0x9a37d3487c2fe8de,
                                 .gradients = 0x96737001d8ce816d,
                                 .binary = 0xeb204e0d96f79a41,
                                 .gemm = 0x08d74885eb36314a,
                                 .gemm_f64 = 0x0bcaf4ab5fb09a6b,
                                 .gemv_t = 0x8d057ed4f6168457,
                                 .adam = 0x6419ab90d2067ba5,
                                 .dropout = 0xcf231941f9a73584};
  on_every_isa<float>([&](const auto&) {
    const Fingerprints got = fingerprints();
    CHECK(got.unary == expected.unary);
    CHECK(got.waves == expected.waves);
    CHECK(got.gradients == expected.gradients);
    CHECK(got.binary == expected.binary);
    CHECK(got.adam == expected.adam);
    CHECK(got.dropout == expected.dropout);
    if (current_isa() == Isa::scalar || current_isa() == Isa::simd128) return;  // their products round twice
    CHECK(got.gemm == expected.gemm);
    CHECK(got.gemm_f64 == expected.gemm_f64);
    CHECK(got.gemv_t == expected.gemv_t);
  });
}

}  // namespace
}  // namespace gradus::test
