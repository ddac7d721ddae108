#pragma once
// Matrix products of one tile by OpenBLAS: blas.cpp is the only file that includes cblas.

#include "gradus/ops/kernels/kernels.h"

namespace gradus::blas {

/// Whether gradus was built with OpenBLAS. Without it gemm throws, and no product's path leads there.
bool available();

/// C = alpha A B + beta C on the calling thread, for m, n, k >= 1 within 32 bits. Other
/// features of a product (a separate D, bias, ReLU) are up to the caller. beta 0 never reads C.
template <class T>
void gemm(const kernels::Product<T>& product);

}  // namespace gradus::blas
