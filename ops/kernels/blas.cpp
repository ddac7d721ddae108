// One tile's product by OpenBLAS, kept to one thread: gradus cuts the tiles and runs them on its own pool.

#include "gradus/ops/kernels/blas.h"

#ifdef GRADUS_OPENBLAS
#include <cblas.h>
#endif

#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "gradus/core/detail/format.h"
#include "gradus/core/threads/detail/locks.h"

namespace gradus {
namespace blas {
namespace {

using I = std::int64_t;

/// OpenBLAS takes 32-bit sizes, and on a bad one prints a line and leaves C unwritten.
void check_matrix(const char* name, I rows, I columns, I ld) {
  constexpr I most = std::numeric_limits<int>::max();
  check(rows >= 1 && columns >= 1 && rows <= most && columns <= most && ld <= most,
        "gemm: {} is [{}, {}] with row stride {}: each must lie in 1 .. {}", name, rows, columns, ld, most);
  check(ld >= columns, "gemm: {} is [{}, {}]: its row stride must be at least {}, got {}", name, rows,
        columns, columns, ld);
}

/// The same for [rows, columns] as seen.
template <class T>
void check_operand(const char* name, I rows, I columns, const kernels::Operand<T>& x) {
  x.transposed ? check_matrix(name, columns, rows, x.ld) : check_matrix(name, rows, columns, x.ld);
}

#ifdef GRADUS_OPENBLAS
/// Keeps OpenBLAS from starting its own threads. One call suffices for the pthread build; the OpenMP build
/// counts threads per calling thread.
void use_one_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
  // Set up while the lock is held, so that no child is forked in the middle of it.
  static const bool openmp = openblas_get_parallel() == OPENBLAS_OPENMP;
  thread_local bool done = false;
  if (openmp && !std::exchange(done, true)) openblas_set_num_threads(1);
}

struct InsideBlas {
  InsideBlas() { locks::blas.enter(); }
  ~InsideBlas() { locks::blas.leave(); }
};

template <class T>
void call(const kernels::Product<T>& x) {
  const InsideBlas inside;
  use_one_thread();
  const auto order = [](const kernels::Operand<T>& operand) {
    return operand.transposed ? CblasTrans : CblasNoTrans;
  };
  const auto size = [](I value) { return static_cast<blasint>(value); };
  const auto with = [&](auto* cblas_gemm) {
    cblas_gemm(CblasRowMajor, order(x.a), order(x.b), size(x.m), size(x.n), size(x.k), x.alpha, x.a.data,
               size(x.a.ld), x.b.data, size(x.b.ld), x.beta, x.c, size(x.ldc));
  };
  if constexpr (std::is_same_v<T, float>)
    with(cblas_sgemm);
  else
    with(cblas_dgemm);
}
#else
template <class T>
void call(const kernels::Product<T>&) {
  fail("gemm: this gradus was built without OpenBLAS");
}
#endif

}  // namespace

template <class T>
void gemm(const kernels::Product<T>& x) {
  check_operand("a", x.m, x.k, x.a);
  check_operand("b", x.k, x.n, x.b);
  check_matrix("c", x.m, x.n, x.ldc);
  call(x);
}

bool available() {
#ifdef GRADUS_OPENBLAS
  return true;
#else
  return false;
#endif
}

template void gemm(const kernels::Product<float>&);
template void gemm(const kernels::Product<double>&);

}  // namespace blas

#ifdef GRADUS_OPENBLAS
const char* openblas_core() { return openblas_get_corename(); }
#else
const char* openblas_core() { return "none"; }
#endif

}  // namespace gradus
