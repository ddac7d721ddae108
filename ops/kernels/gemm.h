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

/// Whether the product has so few rows that rearranging B's columns, which lie apart, would cost more than
/// multiplying: multiply_few_rows then reads them once where they lie.
template <class T>
bool has_few_rows(const Product<T>& product);

/// What multiply does, where has_few_rows of it or of the product it is a part of. An element's sum has an
/// order of its own, so a product is made by one of the two as a whole.
template <class T>
void multiply_few_rows(const Product<T>& product);

/// C = alpha A B + beta D + bias, or its ReLU. Any of m, n, k may be 0. Throws when a row stride is shorter
/// than a row.
template <class T>
void multiply(const Product<T>& product);

}  // namespace gradus::kernels
