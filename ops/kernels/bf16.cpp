// The bf16 product for CPUs without an instruction for it, and the choice between both.

#include "gradus/ops/kernels/bf16.h"

#include "gradus/core/detail/platform.h"
#include "gradus/core/half.h"
#include "gradus/core/memory/storage.h"

namespace gradus {

bool fast_bf16() { return current_isa() == Isa::avx512 && platform::cpu_has_avx512_bf16(); }

namespace kernels {
namespace {

using I = std::int64_t;

constexpr I kThinRows = 16;         // of A: a copy of B then takes longer than multiplying,
constexpr I kThinColumns = 64;  // and is made for so many columns at a time, to stay in cache

/// A float rounded to bf16, as bits of a float: BFloat16's rule without leaving 32 bits, which compilers turn
/// into vectors.
std::uint32_t rounded(float x) {
  const auto u = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t number = u + 0x7fffu + ((u >> 16) & 1u), nan = u | 0x400000u;
  return (static_cast<std::int32_t>(u & 0x7fffffffu) > 0x7f800000 ? nan : number) & 0xffff0000u;
}
std::uint32_t rounded(BFloat16 x) { return std::uint32_t{x.bits} << 16; }

template <class T>
void round(I n, const T* x, float* y) {
  for (I i = 0; i < n; ++i) y[i] = __builtin_bit_cast(float, rounded(x[i]));
}

/// The same with pairs swapped, so that a sum in order takes the second of a pair first.
template <class T>
void round_swapped(I n, const T* x, float* y) {
  for (I i = 0; i + 1 < n; i += 2) {
    y[i] = __builtin_bit_cast(float, rounded(x[i + 1]));
    y[i + 1] = __builtin_bit_cast(float, rounded(x[i]));
  }
  if (n % 2 == 1) y[n - 1] = __builtin_bit_cast(float, rounded(x[n - 1]));
}

/// `depth` places along k of an operand with `others` rows or columns, rounded, in `to`, as they are stored:
/// along memory, or with `across` from row to row; pairs along k are swapped.
template <class T>
Operand<float> rounded(const Operand<T>& x, bool across, I others, I depth, float* to) {
  if (!across) {
    for (I i = 0; i < others; ++i) round_swapped(depth, x.data + i * x.ld, to + i * depth);
    return {to, depth, x.transposed};
  }
  for (I p = 0; p < depth; ++p) round(others, x.data + p * x.ld, to + ((p ^ 1) < depth ? p ^ 1 : p) * others);
  return {to, others, x.transposed};
}

template <class T>
void multiply_rounded(const Product<float>& x, const Operand<T>& b) {
  const I most = x.k < kBf16Depth ? x.k : kBf16Depth;
  const I width = x.m <= kThinRows && x.n > kThinColumns ? kThinColumns : x.n;
  const Storage scratch = Storage::allocate(static_cast<std::size_t>((x.m + width) * most) * sizeof(float));
  float* const some_a = static_cast<float*>(scratch.data());
  float* const some_b = some_a + x.m * most;
  Product<float> part = x;
  for (I p = 0; p < x.k; p += kBf16Depth) {
    part.k = x.k - p < kBf16Depth ? x.k - p : kBf16Depth;
    part.a = rounded(x.a.from(0, p), x.a.transposed, x.m, part.k, some_a);
    part.relu = x.relu && p + part.k == x.k;
    for (I j = 0; j < x.n; j += width) {
      part.n = x.n - j < width ? x.n - j : width;
      part.b = rounded(b.from(p, j), !b.transposed, part.n, part.k, some_b);
      part.c = x.c + j;
      if (p == 0) {
        part.d = x.d + j;
        part.bias = x.bias ? x.bias + j : nullptr;
      } else {
        part.beta = 1, part.d = part.c, part.ldd = x.ldc, part.bias = nullptr;
      }
      table<float>().gemm(part);
    }
  }
}

}  // namespace

void gemm_bf16_by_f32(const Product<float>& x) {
  x.weight ? multiply_rounded(x, Operand<BFloat16>{x.weight, x.b.ld, true}) : multiply_rounded(x, x.b);
}

void gemm_bf16(const Product<float>& x) {
#ifdef GRADUS_X86
  if (fast_bf16()) return gemm_avx512bf16(x);
#endif
  gemm_bf16_by_f32(x);
}

}  // namespace kernels
}  // namespace gradus
