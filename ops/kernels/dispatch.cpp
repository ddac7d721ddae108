// Chooses the kernel table: once, at the first use, by CPU and environment.

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/core/detail/platform.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus {
namespace {

struct Choice {
  Isa isa;
  const kernels::Table<float>& f32;
  const kernels::Table<double>& f64;
};

const Choice& choice_of([[maybe_unused]] Isa isa) {
  static const Choice scalar{Isa::scalar, kernels::scalar_table<float>(), kernels::scalar_table<double>()};
#ifdef GRADUS_X86
  static const Choice avx2{Isa::avx2, kernels::avx2_table<float>(), kernels::avx2_table<double>()};
  static const Choice avx512{Isa::avx512, kernels::avx512_table<float>(), kernels::avx512_table<double>()};
  if (isa == Isa::avx2) return avx2;
  if (isa == Isa::avx512) return avx512;
#endif
#ifdef GRADUS_NEON
  static const Choice neon{Isa::neon, kernels::neon_table<float>(), kernels::neon_table<double>()};
  if (isa == Isa::neon) return neon;
#endif
#ifdef GRADUS_SIMD128
  static const Choice simd128{Isa::simd128, kernels::simd128_table<float>(),
                              kernels::simd128_table<double>()};
  if (isa == Isa::simd128) return simd128;
#endif
  return scalar;
}

// All are made when the library is loaded: their first use by several threads would hold a lock, which
// a fork in that moment would leave locked in the child.
[[maybe_unused]] const Choice& made_at_start = choice_of(Isa::scalar);

constexpr Isa best_first[] = {Isa::avx512, Isa::avx2, Isa::neon, Isa::simd128, Isa::scalar};
constexpr const char* names = "scalar, avx2, avx512, neon or simd128";

std::string remedy() {
  return fmt::format("set GRADUS_ISA to {}, or leave it unset for the best this CPU has", names);
}

Isa choose() {
  const char* wanted = std::getenv("GRADUS_ISA");
  const bool any = !wanted || !*wanted;
  for (Isa isa : best_first) {
    if (any && isa_supported(isa)) return isa;
    if (any || std::string_view(wanted) != name(isa)) continue;
    check(isa_supported(isa), "GRADUS_ISA: this CPU does not have {}; {}", wanted, remedy());
    return isa;
  }
  fail_with("GRADUS_ISA: expected {}, got '{}'; {}", names, wanted, remedy());
}

std::atomic<const Choice*> active = nullptr;

const Choice& first_use() {
  // Threads that meet here choose the same.
  const Choice& chosen = choice_of(choose());
  active.store(&chosen, std::memory_order_release);
  return chosen;
}

const Choice& current() {
  const Choice* choice = active.load(std::memory_order_acquire);
  return choice ? *choice : first_use();
}

}  // namespace

const char* name(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::neon:
      return "neon";
    case Isa::simd128:
      return "simd128";
    case Isa::scalar:
      break;
  }
  return "scalar";
}

bool isa_supported(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return true;
#ifdef GRADUS_X86
    case Isa::avx2:
      return platform::cpu_has_avx2();
    case Isa::avx512:
      return platform::cpu_has_avx512();
#endif
#ifdef GRADUS_NEON
    case Isa::neon:  // part of every 64-bit ARM
      return true;
#endif
#ifdef GRADUS_SIMD128
    case Isa::simd128:  // without it the module would not have loaded
      return true;
#endif
    default:
      return false;
  }
}

Isa current_isa() { return current().isa; }

void set_isa(Isa isa) {
  check(isa_supported(isa), "set_isa: this CPU does not have {}; ask isa_supported first", name(isa));
  active.store(&choice_of(isa), std::memory_order_release);
}

namespace kernels {

template <>
const Table<float>& table<float>() {
  return current().f32;
}

template <>
const Table<double>& table<double>() {
  return current().f64;
}

}  // namespace kernels
}  // namespace gradus
