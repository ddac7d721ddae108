#include "gradus/ops/kernels/multiply.h"

#include "gradus/core/detail/format.h"
#include "gradus/core/memory/storage.h"
#include "gradus/ops/kernels/bf16.h"
#include "gradus/ops/kernels/blas.h"

namespace gradus::kernels {
namespace {

using I = std::int64_t;

void check_rows(const char* what, I rows, I columns, I ld) {
  check(rows >= 0 && columns >= 0 && ld >= columns,
        "multiply: {} is [{}, {}]: its row stride must be at least {}, got {}", what, rows, columns, columns,
        ld);
}

template <class T>
void check_operand(const char* what, I rows, I columns, const Operand<T>& x) {
  x.transposed ? check_rows(what, columns, rows, x.ld) : check_rows(what, rows, columns, x.ld);
}

template <class T>
void relu(const Product<T>& x) {
  for (I i = 0; i < x.m; ++i)
    table<T>().unary[static_cast<int>(Unary::relu)](x.n, x.c + i * x.ldc, x.c + i * x.ldc);
}

/// C = beta D + bias.
template <class T>
void start(const Product<T>& x) {
  for (I i = 0; i < x.m; ++i)
    for (I j = 0; j < x.n; ++j) {
      const T y = x.beta == 0 ? T{0} : x.beta * x.d[i * x.ldd + j];
      x.c[i * x.ldc + j] = x.bias ? y + x.bias[j] : y;
    }
}

/// The product for backends that support only C = alpha A B + beta C: C already holds D and bias.
template <class T>
Product<T> started(Product<T> x) {
  if (x.bias || (x.beta != 0 && x.d != x.c)) start(x), x.beta = 1;
  return x;
}

/// y = v M, or y = v M^T where M is stored so, without gaps.
template <class T>
void gemv(const Operand<T>& matrix, I k, I n, const T* v, T* y) {
  const auto& kernels = table<T>();
  if (matrix.transposed)
    kernels.gemv(n, k, matrix.data, matrix.ld, v, y);
  else
    kernels.gemv_t(k, n, matrix.data, matrix.ld, v, y);
}

/// c_j = alpha sum_p v_p M_pj + beta c_j, M [k, n], v and c with strides.
template <class T>
void multiply_vector(const Operand<T>& matrix, I k, I n, T alpha, const T* v, I v_stride, T beta, T* c,
                     I c_stride) {
  const bool no_gaps = (v_stride == 1 || k == 1) && (c_stride == 1 || n == 1);
  if (no_gaps && alpha == 1 && beta == 0) return gemv(matrix, k, n, v, c);
  const Storage scratch = Storage::allocate(static_cast<std::size_t>(k + n) * sizeof(T));
  T* const v_run = static_cast<T*>(scratch.data());
  T* const y = v_run + k;
  for (I p = 0; p < k; ++p) v_run[p] = v[p * v_stride];
  gemv(matrix, k, n, v_run, y);
  for (I j = 0; j < n; ++j) {
    T& out = c[j * c_stride];
    out = beta == 0 ? alpha * y[j] : alpha * y[j] + beta * out;
  }
}

/// m = 1 or n = 1: c = a B, or c^T = b^T A^T; a vector times a matrix either way.
template <class T>
void multiply_vector(const Product<T>& x) {
  if (x.m == 1)
    return multiply_vector(x.b, x.k, x.n, x.alpha, x.a.data, x.a.transposed ? x.a.ld : 1, x.beta, x.c, I{1});
  const Operand<T> a{x.a.data, x.a.ld, !x.a.transposed};
  multiply_vector(a, x.k, x.m, x.alpha, x.b.data, x.b.transposed ? I{1} : x.b.ld, x.beta, x.c, x.ldc);
}

template <class T>
void multiply_few_rows(const Product<T>& x) {
  const auto& kernels = table<T>();
  kernels.gemv_few(x.n, x.k, x.b.data, x.b.ld, x.m, x.a.data, x.a.ld, x.c, x.ldc);
  if (x.bias)
    for (I i = 0; i < x.m; ++i)
      kernels.binary[static_cast<int>(Binary::add)](x.n, x.c + i * x.ldc, 1, x.bias, 1, x.c + i * x.ldc);
}

void multiply_bf16(const Product<float>& x) { gemm_bf16(x); }
void multiply_bf16(const Product<double>&) { fail("multiply: only products of f32 are made in bf16"); }

}  // namespace

template <class T>
void multiply(const Product<T>& x, Path path) {
  check_operand("a", x.m, x.k, x.a);
  check_operand("b", x.k, x.n, x.b);
  check_rows("c", x.m, x.n, x.ldc);
  if (x.m == 0 || x.n == 0) return;
  if (x.k == 0 || x.alpha == 0)
    start(x);
  else if (path == Path::blocks)
    return table<T>().gemm(x);  // knows all of it
  else if (path == Path::bf16)
    return multiply_bf16(x);  // so does this
  else if (path == Path::few_rows)
    multiply_few_rows(x);
  else if (path == Path::vector)
    multiply_vector(started(x));
  else
    blas::gemm(started(x));
  if (x.relu) relu(x);
}
template void multiply(const Product<float>&, Path);
template void multiply(const Product<double>&, Path);

}  // namespace gradus::kernels
