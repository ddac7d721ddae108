#pragma once
// Matrix products on one thread. The caller cuts a large product into tiles and runs them on the pool.

#include "gradus/ops/kernels/kernels.h"

namespace gradus::kernels {

/// Who multiplies matrices: gradus's own kernels, or OpenBLAS where there are none for this CPU (and where
/// GRADUS_MATMUL=openblas|gradus in the environment says so).
enum class MatmulBackend { gradus, openblas };
MatmulBackend matmul_backend();
void set_matmul_backend(MatmulBackend backend);
const char* name(MatmulBackend backend);

/// C = alpha A B + beta D + bias, or its ReLU. Any of m, n, k may be 0. Throws when a row stride is shorter
/// than a row.
template <class T>
void multiply(const Product<T>& product);

}  // namespace gradus::kernels
