#pragma once
// Backends: the instruction set of all loops, and the implementation of matrix products. They are chosen for
// this CPU at first use; a program may query them, to store with its results, and set them, to compare. Set
// them while no op runs.

#include "gradus/core/cxx20.h"

namespace gradus {

/// The instruction sets every loop is compiled for.
enum class Isa { scalar, avx2, avx512, neon, simd128 };

/// The one in use: the best this CPU has, or GRADUS_ISA=scalar|avx2|avx512|neon|simd128
/// from the environment.
///   if (current_isa() == Isa::avx2) ...
Isa current_isa();
/// Whether this CPU supports it.
bool isa_supported(Isa isa);
/// Uses it from now on; throws if this CPU lacks it.
///   set_isa(Isa::avx2);
void set_isa(Isa isa);
/// "scalar", "avx2", "avx512", "neon" or "simd128", which is WebAssembly's.
const char* name(Isa isa);

/// The instructions that multiply bf16 (see Autocast): AMX, AVX512-BF16, ARM's BFMMLA, or f32's on rounded
/// operands, which takes longer than f32 alone. avx512 and in_f32 give the same bits, except where a number
/// leaves f32's normal range; amx and bfmmla add in orders of their own. Each is bit-identical for any number
/// of threads.
enum class Bf16Backend { automatic, amx, avx512, bfmmla, in_f32 };

/// The choice in use: automatic, or GRADUS_BF16=automatic|amx|avx512|bfmmla|f32 from the environment.
Bf16Backend bf16_backend();
/// Uses it from now on; throws if it is not supported.
///   set_bf16_backend(Bf16Backend::avx512);
void set_bf16_backend(Bf16Backend backend);
/// Whether this CPU has its instructions and, for amx, the system permits them. Linux asks for a request,
/// which this function, like the first product in bf16, makes for the whole process: signal stacks
/// (sigaltstack) must then hold AMX's registers, about 12 KiB (AT_MINSIGSTKSZ); where a thread has a smaller
/// one, AMX is refused.
bool bf16_backend_supported(Bf16Backend backend);
/// The same as bf16_backend(), or what automatic stands for: amx, else avx512, if it is supported and avx512
/// is the instruction set in use; bfmmla, if it is supported and neon is; else in_f32.
Bf16Backend bf16_backend_in_use();
/// "automatic", "amx", "avx512", "bfmmla" or "f32".
const char* name(Bf16Backend backend);

/// Whether instructions made for bf16 multiply it: bf16_backend_in_use() is not in_f32.
bool fast_bf16();

/// How matrices are multiplied: always by gradus's own loops, always by OpenBLAS, or by whichever is faster
/// for a product's shape on this CPU (table in docs/performance.md). gradus always multiplies a vector and a
/// matrix itself. Results differ by rounding; each is bit-identical for any number of threads.
enum class MatmulBackend { automatic, gradus, openblas };

/// The choice in use: automatic, or GRADUS_MATMUL=automatic|gradus|openblas from the environment.
MatmulBackend matmul_backend();
/// Uses it from now on; throws for openblas if gradus was built without it.
///   set_matmul_backend(MatmulBackend::openblas);
void set_matmul_backend(MatmulBackend backend);
/// "automatic", "gradus" or "openblas".
const char* name(MatmulBackend backend);

/// The kernels OpenBLAS chose for this CPU, such as "Haswell", "Zen" or "SkylakeX" (OPENBLAS_CORETYPE names
/// others). If they are older than the instruction set in use, automatic uses gradus for everything. "none"
/// if gradus was built without OpenBLAS: gradus then multiplies all matrices.
const char* openblas_core();

}  // namespace gradus
