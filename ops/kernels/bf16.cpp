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

/// Where place p of k goes among `depth` of them: pairs are swapped, so that a sum in order takes the second
/// of a pair first.
I place_of(I p, I depth) { return (p ^ 1) < depth ? p ^ 1 : p; }

void round(I n, const float* x, float* y) {
  for (I i = 0; i < n; ++i) y[i] = static_cast<float>(BFloat16(x[i]));
}

/// `depth` places along k of an operand with `others` rows or columns, rounded, in `to`, as they are stored:
/// along memory, or with `across` from row to row.
Operand<float> rounded(const Operand<float>& x, bool across, I others, I depth, float* to) {
  if (across) {
    for (I p = 0; p < depth; ++p) round(others, x.data + p * x.ld, to + place_of(p, depth) * others);
    return {to, others, x.transposed};
  }
  for (I i = 0; i < others; ++i)
    for (I p = 0; p < depth; ++p)
      to[i * depth + place_of(p, depth)] = static_cast<float>(BFloat16(x.data[i * x.ld + p]));
  return {to, depth, x.transposed};
}

}  // namespace

void gemm_bf16_by_f32(const Product<float>& x) {
  const I most = x.k < kBf16Depth ? x.k : kBf16Depth;
  const Storage scratch = Storage::allocate(static_cast<std::size_t>((x.m + x.n) * most) * sizeof(float));
  float* const a = static_cast<float*>(scratch.data());
  float* const b = a + x.m * most;
  Product<float> part = x;
  for (I p = 0; p < x.k; p += kBf16Depth) {
    part.k = x.k - p < kBf16Depth ? x.k - p : kBf16Depth;
    part.a = rounded(x.a.from(0, p), x.a.transposed, x.m, part.k, a);
    part.b = rounded(x.b.from(p, 0), !x.b.transposed, x.n, part.k, b);
    part.relu = x.relu && p + part.k == x.k;
    table<float>().gemm(part);
    part.beta = 1, part.d = x.c, part.ldd = x.ldc, part.bias = nullptr;
  }
}

void gemm_bf16(const Product<float>& x) {
#ifdef GRADUS_X86
  if (fast_bf16()) return gemm_avx512bf16(x);
#endif
  gemm_bf16_by_f32(x);
}

}  // namespace kernels
}  // namespace gradus
