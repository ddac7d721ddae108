#pragma once
// Matrix products on one thread. The caller cuts a large product into tiles and runs them on the pool.

#include "gradus/ops/kernels/paths.h"

namespace gradus::kernels {

/// C = alpha A B + beta D + bias, or its ReLU, the way `path` says: its own, or that of the product it is a
/// tile of. Any of m, n, k may be 0. Throws when a row stride is shorter than a row.
template <class T>
void multiply(const Product<T>& product, Path path);
template <class T>
void multiply(const Product<T>& product) {
  multiply(product, path_of(product));
}

}  // namespace gradus::kernels
