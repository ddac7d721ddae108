// One tile's product through OpenBLAS, kept to one thread: gradus cuts the tiles and runs them on its own
// pool.

#include "gradus/ops/kernels/blas.h"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "gradus/core/detail/format.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/threads/detail/locks.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus::blas {
namespace {

using I = std::int64_t;

/// Keeps OpenBLAS from starting threads of its own. One call does for the pthread build; the OpenMP build
/// counts threads per calling thread.
void use_one_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
  static const bool openmp = openblas_get_parallel() == OPENBLAS_OPENMP;
  thread_local bool done = false;
  if (openmp && !std::exchange(done, true)) openblas_set_num_threads(1);
}

struct InsideBlas {
  InsideBlas() { locks::blas.enter(); }
  ~InsideBlas() { locks::blas.leave(); }
};

/// A matrix as stored, row-major.
template <class T>
struct Stored {
  const char* name;
  const T* data;
  I rows, columns, ld;
};

/// OpenBLAS takes 32-bit sizes, and on a bad one prints a line and leaves C unwritten.
template <class T>
void check_matrix(const Stored<T>& x) {
  constexpr I most = std::numeric_limits<int>::max();
  check(x.rows >= 0 && x.columns >= 0 && x.rows <= most && x.columns <= most && x.ld <= most,
        "gemm: {} is [{}, {}] with row stride {}: each must lie in 0 .. {}", x.name, x.rows, x.columns, x.ld,
        most);
  check(x.ld >= x.columns, "gemm: {} is [{}, {}]: its row stride must be at least {}, got {}", x.name, x.rows,
        x.columns, x.columns, x.ld);
}

/// C = beta C; beta 0 overwrites whatever C held.
template <class T>
void scale_matrix(I m, I n, T beta, T* c, I ldc) {
  if (beta == 1) return;
  for (I i = 0; i < m; ++i, c += ldc)
    if (beta == 0)
      std::fill(c, c + n, T{0});
    else
      for (I j = 0; j < n; ++j) c[j] *= beta;
}

/// y = x op(M), without gaps.
template <class T>
void gemv(bool transpose, const Stored<T>& matrix, const T* x, T* y) {
  const kernels::Table<T>& kernel = kernels::table<T>();
  if (transpose)
    kernel.gemv(matrix.rows, matrix.columns, matrix.data, matrix.ld, x, y);
  else
    kernel.gemv_t(matrix.rows, matrix.columns, matrix.data, matrix.ld, x, y);
}

/// A product with m = 1 or n = 1: c_j = alpha sum_i x_i op(M)_ij + beta c_j, x and c with strides. On our own
/// kernels: OpenBLAS's gemm can be several times slower here, and the gemv of 0.3.21 is not reliable.
template <class T>
void gemv(bool transpose, const Stored<T>& matrix, T alpha, const T* x, I x_stride, T beta, T* c,
          I c_stride) {
  const I k = transpose ? matrix.columns : matrix.rows, n = transpose ? matrix.rows : matrix.columns;
  const bool no_gaps = (x_stride == 1 || k == 1) && (c_stride == 1 || n == 1);
  if (no_gaps && alpha == 1 && beta == 0) return gemv(transpose, matrix, x, c);
  const Storage scratch = Storage::allocate(static_cast<std::size_t>(k + n) * sizeof(T));
  T* const x_run = static_cast<T*>(scratch.data());
  T* const y = x_run + k;
  for (I i = 0; i < k; ++i) x_run[i] = x[i * x_stride];
  gemv(transpose, matrix, x_run, y);
  for (I j = 0; j < n; ++j) {
    T& out = c[j * c_stride];
    out = beta == 0 ? alpha * y[j] : alpha * y[j] + beta * out;
  }
}

}  // namespace

template <class T>
void gemm(bool transpose_a, bool transpose_b, I m, I n, I k, T alpha, const T* a, I lda, const T* b, I ldb,
          T beta, T* c, I ldc) {
  const Stored<T> stored_a{"a", a, transpose_a ? k : m, transpose_a ? m : k, lda};
  const Stored<T> stored_b{"b", b, transpose_b ? n : k, transpose_b ? k : n, ldb};
  check_matrix(stored_a);
  check_matrix(stored_b);
  check_matrix(Stored<T>{"c", c, m, n, ldc});
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == 0) return scale_matrix(m, n, beta, c, ldc);
  // c = a B, and c^T = b^T A^T: a vector times a matrix either way.
  if (m == 1) return gemv(transpose_b, stored_b, alpha, a, transpose_a ? lda : 1, beta, c, I{1});
  if (n == 1) return gemv(!transpose_a, stored_a, alpha, b, transpose_b ? I{1} : ldb, beta, c, ldc);

  const InsideBlas inside;
  use_one_thread();
  const auto order = [](bool transpose) { return transpose ? CblasTrans : CblasNoTrans; };
  const auto size = [](I value) { return static_cast<blasint>(value); };
  const auto call = [&](auto* cblas_gemm) {
    cblas_gemm(CblasRowMajor, order(transpose_a), order(transpose_b), size(m), size(n), size(k), alpha, a,
               size(lda), b, size(ldb), beta, c, size(ldc));
  };
  if constexpr (std::is_same_v<T, float>)
    call(cblas_sgemm);
  else
    call(cblas_dgemm);
}

template void gemm(bool, bool, I, I, I, float, const float*, I, const float*, I, float, float*, I);
template void gemm(bool, bool, I, I, I, double, const double*, I, const double*, I, double, double*, I);

std::string core_name() { return openblas_get_corename(); }

}  // namespace gradus::blas
