#pragma once
// Chooses a product's path by its shape, the instruction set and OpenBLAS's kernels for this CPU.

#include "gradus/ops/kernels/kernels.h"

namespace gradus::kernels {

/// Each sums an element's terms in its own order, so a product of arrays uses one path for all its tiles.
/// (The tiles of attention, and the pieces of linear_cross_entropy, are separate products.)
enum class Path {
  vector,    // a single row or column: Table::gemv, Table::gemv_t
  few_rows,  // two to eight rows times columns that lie apart: Table::gemv_few
  blocks,    // Table::gemm
  openblas,  // blas::gemm, which does not prefetch
  bf16       // gemm_bf16, the same; for every product that asks for it, of any shape
};

template <class T>
Path path_of(const Product<T>& product);

}  // namespace gradus::kernels
