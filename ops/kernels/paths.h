#pragma once
// Which way a product takes: by its shape, the instruction set and what OpenBLAS runs on this CPU.

#include "gradus/ops/kernels/kernels.h"

namespace gradus::kernels {

/// Each adds up an element's terms in an order of its own, so a product of arrays takes one of them as a
/// whole, whatever its tiles look like. (The tiles of attention, and the pieces of linear_cross_entropy, are
/// products of their own.)
enum class Path {
  vector,    // a single row or column: Table::gemv, Table::gemv_t
  few_rows,  // two to eight rows times columns that lie apart: Table::gemv_few
  blocks,    // Table::gemm
  openblas   // blas::gemm, which fetches nothing ahead
};

template <class T>
Path path_of(const Product<T>& product);

}  // namespace gradus::kernels
