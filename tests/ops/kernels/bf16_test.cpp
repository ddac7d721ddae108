// Products with operands rounded to bf16: by AVX512-BF16 where this CPU has it, and by the f32 kernels of
// every instruction set, all with the same bits, and next to sums in f64; what all backends have in common.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "bf16_case.h"
#include "gradus/core/detail/platform.h"
#include "kernel_test.h"

using namespace gradus;
using test::Case;
using I = std::int64_t;

namespace {

void check_case(Case& x) {
  CAPTURE(x.m);
  CAPTURE(x.n);
  CAPTURE(x.k);
  const std::vector<float> first = x.run(kernels::gemm_bf16_by_f32);
  CHECK(x.error(first, x.k) <= 1);
  test::on_every_isa<float>([&](const auto&) {
    for (const Bf16Backend backend : {Bf16Backend::avx512, Bf16Backend::in_f32}) {
      if (!bf16_backend_supported(backend)) continue;
      CAPTURE(name(backend));
      const test::Bf16BackendGuard guard(backend);
      CHECK(x.run(kernels::gemm_bf16) == first);
      if (x.b.flipped) CHECK(x.run(kernels::gemm_bf16, true) == first);
    }
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
  for (const Bf16Backend backend : test::bf16_backends()) {
    CAPTURE(name(backend));
    const test::Bf16BackendGuard guard(backend);
    const std::vector<float> c = x.run(kernels::gemm_bf16);
    for (I i = 0; i < x.m; ++i)
      for (I j = 0; j < x.n; ++j) {
        const float y = c[static_cast<std::size_t>(i * x.d.ld + j)];
        CHECK(std::isfinite(y) == (i != 4 && j != 7));
        if (i == 4) CHECK(std::isnan(y));
      }
  }
}

TEST_CASE("bf16 product: numbers below f32's normal range") {
  // AVX512-BF16, AMX and BFMMLA take them for 0; the f32 kernels do not.
  const float a[2] = {0x1p-130f, 1}, b[2] = {4, 0x1p-128f};
  for (const Bf16Backend backend : test::bf16_backends()) {
    CAPTURE(name(backend));
    const test::Bf16BackendGuard guard(backend);
    float c = 7;
    kernels::gemm_bf16({1, 1, 2, {a, 2}, {b, 1}, &c, 1});
    CHECK(std::abs(c - 0x1p-127f) <= 5 * 0x1p-126f);  // two operands that may be 0: 4 and 1 times 2^-126
  }
  float sum = 7;
  kernels::gemm_bf16_by_f32({1, 1, 2, {a, 2}, {b, 1}, &sum, 1});
  CHECK(sum == 0x1p-127f);
}

TEST_CASE("bf16 product: automatic is the fastest of the instruction set in use") {
  const test::Bf16BackendGuard guard(Bf16Backend::automatic);
  test::on_every_isa<float>([](const auto&) {
    const Bf16Backend in_use = bf16_backend_in_use();
    if (current_isa() == Isa::avx512 && platform::cpu_has_avx512_bf16())
      CHECK(in_use == (platform::cpu_has_amx_bf16() ? Bf16Backend::amx : Bf16Backend::avx512));
    else if (current_isa() == Isa::neon && platform::cpu_has_bfmmla())
      CHECK(in_use == Bf16Backend::bfmmla);
    else
      CHECK(in_use == Bf16Backend::in_f32);
    CHECK(fast_bf16() == (in_use != Bf16Backend::in_f32));
    for (const Bf16Backend backend : test::bf16_backends()) {
      const test::Bf16BackendGuard set(backend);
      CHECK(bf16_backend_in_use() == backend);
      CHECK(fast_bf16() == (backend != Bf16Backend::in_f32));
    }
  });
}

TEST_CASE("bf16 product: reads nothing beyond its operands, and writes nothing beyond its result") {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  const auto values = [&](I n) {
    std::vector<float> all(static_cast<std::size_t>(n));
    for (float& value : all) value = normal(random);
    return all;
  };
  for (const Bf16Backend backend : test::bf16_backends()) {
    CAPTURE(name(backend));
    const test::Bf16BackendGuard guard(backend);
    for (const auto& [m, n, k] :
         {std::array<I, 3>{1, 1, 1}, {3, 5, 7}, {17, 33, 31}, {40, 16, 65}, {70, 21, 34}})
      for (const bool a_transposed : {false, true})
        for (const int b_stored : {0, 1, 2})  // as it is, transposed, transposed in bf16
          for (const I offset : {I{0}, test::at_front}) {
            const I rows = m;  // clang 14 captures no structured binding
            CAPTURE(rows);
            CAPTURE(b_stored);
            test::Guarded<float> a(values(m * k), m * k, offset), b(values(k * n), k * n, offset),
                bias(values(n), n, offset), c(m * n, offset);
            test::Guarded<std::uint16_t> weight(
                std::vector<std::uint16_t>(static_cast<std::size_t>(n * k), BFloat16(0.5f).bits), n * k,
                offset);
            kernels::Product<float> x{m,
                                      n,
                                      k,
                                      {a.data(), a_transposed ? m : k, a_transposed},
                                      {b.data(), b_stored == 0 ? n : k, b_stored != 0},
                                      c.data(),
                                      n};
            x.bias = bias.data();
            if (b_stored == 2) x.weight = reinterpret_cast<const BFloat16*>(weight.data());
            kernels::gemm_bf16(x);
            CHECK(c.intact());
            const std::vector<float> first(c.data(), c.data() + m * n);
            kernels::gemm_bf16(x);
            CHECK(first == std::vector<float>(c.data(), c.data() + m * n));
          }
  }
}

TEST_CASE("bf16 product: an element depends only on its row and its column") {
  std::mt19937 random(5);
  Case x(70, 530, 1100, random);
  for (const Bf16Backend backend : test::bf16_backends()) {
    CAPTURE(name(backend));
    const test::Bf16BackendGuard guard(backend);
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
}
