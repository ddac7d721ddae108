#pragma once
// Matrix products of one tile by OpenBLAS: blas.cpp is the only file that includes cblas. A library built
// with GRADUS_BLAS=none has no_blas.cpp in its place.

#include "gradus/ops/kernels/kernels.h"

namespace gradus::blas {

/// Whether there is one.
bool available();

/// C = alpha A B + beta C on the calling thread, for m, n, k >= 1 within 32 bits. What else a product may
/// have, another D, bias, ReLU, is the caller's. beta 0 never reads C.
template <class T>
void gemm(const kernels::Product<T>& product);

}  // namespace gradus::blas
