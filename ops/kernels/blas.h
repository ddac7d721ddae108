#pragma once
// Matrix products of one tile, through OpenBLAS: blas.cpp is the only file that includes cblas.

#include <cstdint>
#include <string>

namespace gradus::blas {

/// C = alpha op(A) op(B) + beta C on the calling thread, row-major; op(A) is [m, k], op(B) [k, n], C [m, n].
/// ld* are row strides in elements as stored. beta 0 never reads C; any of m, n, k may be 0.
template <class T>
void gemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
          const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc);

/// The kernel set OpenBLAS chose for this CPU, such as "Haswell" or "SkylakeX".
std::string core_name();

}  // namespace gradus::blas
