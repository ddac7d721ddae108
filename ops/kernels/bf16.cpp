// The bf16 product for CPUs without an instruction for it, and the choice between all four.

#include "gradus/ops/kernels/bf16.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/core/detail/platform.h"
#include "gradus/core/half.h"
#include "gradus/core/memory/storage.h"

namespace gradus {

namespace {

constexpr Bf16Backend kBackends[] = {Bf16Backend::automatic, Bf16Backend::amx, Bf16Backend::avx512,
                                     Bf16Backend::bfmmla, Bf16Backend::in_f32};
constexpr const char* kRemedy =
    "set GRADUS_BF16 to automatic, amx, avx512, bfmmla or f32, or leave it unset for the fastest this CPU "
    "has";

constexpr int kUndecided = -1;
std::atomic<int> chosen = kUndecided;

const char* missing(Bf16Backend backend) {
  switch (backend) {
    case Bf16Backend::amx:
      return "this CPU does not have AMX for bf16, or the system does not permit it";
    case Bf16Backend::bfmmla:
      return "this CPU does not have ARM's BFMMLA, or the system does not say so";
    default:
      return "this CPU does not have AVX512-BF16";
  }
}

void check_supported(const char* who, Bf16Backend backend, const char* remedy) {
  check(bf16_backend_supported(backend), "{}: {}; {}", who, missing(backend), remedy);
}

Bf16Backend choose() {
  const char* wanted = std::getenv("GRADUS_BF16");
  if (!wanted || !*wanted) return Bf16Backend::automatic;
  for (const Bf16Backend backend : kBackends)
    if (std::string_view(wanted) == name(backend)) {
      check_supported("GRADUS_BF16", backend, kRemedy);
      return backend;
    }
  fail_with("GRADUS_BF16: expected automatic, amx, avx512, bfmmla or f32, got '{}'; {}", wanted, kRemedy);
}

}  // namespace

const char* name(Bf16Backend backend) {
  switch (backend) {
    case Bf16Backend::amx:
      return "amx";
    case Bf16Backend::avx512:
      return "avx512";
    case Bf16Backend::bfmmla:
      return "bfmmla";
    case Bf16Backend::in_f32:
      return "f32";
    case Bf16Backend::automatic:
      break;
  }
  return "automatic";
}

bool bf16_backend_supported(Bf16Backend backend) {
#ifdef GRADUS_X86
  if (backend == Bf16Backend::amx) return platform::cpu_has_amx_bf16();
  if (backend == Bf16Backend::avx512) return platform::cpu_has_avx512_bf16();
#endif
#ifdef GRADUS_NEON
  if (backend == Bf16Backend::bfmmla) return platform::cpu_has_bfmmla();
#endif
  return backend == Bf16Backend::automatic || backend == Bf16Backend::in_f32;
}

Bf16Backend bf16_backend() {
  int known = chosen.load(std::memory_order_relaxed);
  if (known == kUndecided)  // threads that meet here choose the same
    chosen.store(known = static_cast<int>(choose()), std::memory_order_relaxed);
  return static_cast<Bf16Backend>(known);
}

void set_bf16_backend(Bf16Backend backend) {
  check(std::find(std::begin(kBackends), std::end(kBackends), backend) != std::end(kBackends),
        "set_bf16_backend: expects automatic, amx, avx512, bfmmla or in_f32, got {}",
        static_cast<int>(backend));
  check_supported("set_bf16_backend", backend,
                  "Bf16Backend::automatic is the fastest this CPU has, and in_f32 runs on all");
  chosen.store(static_cast<int>(backend), std::memory_order_relaxed);
}

Bf16Backend bf16_backend_in_use() {
  const Bf16Backend backend = bf16_backend();
  if (backend != Bf16Backend::automatic) return backend;
  if (current_isa() == Isa::avx512)
    for (const Bf16Backend fast : {Bf16Backend::amx, Bf16Backend::avx512})
      if (bf16_backend_supported(fast)) return fast;
  if (current_isa() == Isa::neon && bf16_backend_supported(Bf16Backend::bfmmla)) return Bf16Backend::bfmmla;
  return Bf16Backend::in_f32;
}

bool fast_bf16() { return bf16_backend_in_use() != Bf16Backend::in_f32; }

namespace kernels {
namespace {

using I = std::int64_t;

constexpr I kThinRows = 16;     // of A: a copy of B then takes longer than multiplying,
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

#ifdef GRADUS_X86
void gemm_amx(const Product<float>& x) {
  constexpr I small = 64 * 1024;  // attention of short texts makes thousands of such products
  alignas(64) char on_stack[small];
  const I bytes = amx_scratch(x);
  if (bytes <= small) return gemm_amx(x, on_stack);
  const Storage scratch = Storage::allocate(static_cast<std::size_t>(bytes));
  gemm_amx(x, scratch.data());
}
#endif

void gemm_bf16(const Product<float>& x) {
  [[maybe_unused]] const Bf16Backend backend = bf16_backend_in_use();
#ifdef GRADUS_X86
  if (backend == Bf16Backend::amx) return gemm_amx(x);
  if (backend == Bf16Backend::avx512) return gemm_avx512bf16(x);
#endif
#ifdef GRADUS_NEON
  if (backend == Bf16Backend::bfmmla) return gemm_bfmmla(x);
#endif
  gemm_bf16_by_f32(x);
}

}  // namespace kernels
}  // namespace gradus
