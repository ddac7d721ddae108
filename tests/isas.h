#pragma once

#include "gradus/ops/backend.h"

namespace gradus::test {

/// Every instruction set loops are compiled for, whether this CPU has it or not.
inline constexpr Isa kIsas[] = {Isa::scalar, Isa::avx2, Isa::avx512, Isa::neon, Isa::simd128};

}  // namespace gradus::test
