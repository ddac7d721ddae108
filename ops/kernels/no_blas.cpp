// A library built with GRADUS_BLAS=none: every product is made by gradus's own kernels (paths.cpp).

#include "gradus/core/detail/format.h"
#include "gradus/ops/kernels/blas.h"

namespace gradus {
namespace blas {

bool available() { return false; }

template <class T>
void gemm(const kernels::Product<T>&) {
  fail_with("gemm: this gradus was built without OpenBLAS");
}
template void gemm(const kernels::Product<float>&);
template void gemm(const kernels::Product<double>&);

}  // namespace blas

const char* openblas_core() { return "none"; }

}  // namespace gradus
