#include "gradus/ops/kernels/gemm.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/ops/kernels/blas.h"

namespace gradus::kernels {
namespace {

using I = std::int64_t;

constexpr I kFewRows = 8, kLongRow = 256;  // found by measuring

constexpr int kUndecided = -1;
std::atomic<int> chosen = kUndecided;

/// Own kernels win or are level at every size measured, with AVX-512 and AVX2 (docs/performance.md).
MatmulBackend choose() {
  const char* wanted = std::getenv("GRADUS_MATMUL");
  if (!wanted || !*wanted)
    return current_isa() == Isa::scalar ? MatmulBackend::openblas : MatmulBackend::gradus;
  for (const MatmulBackend backend : {MatmulBackend::gradus, MatmulBackend::openblas})
    if (std::string_view(wanted) == name(backend)) return backend;
  fail_with(
      "GRADUS_MATMUL: expected gradus or openblas, got '{}'; leave it unset for the faster one on this CPU",
      wanted);
}

template <class T>
void check_rows(const char* what, I rows, I columns, I ld) {
  check(rows >= 0 && columns >= 0 && ld >= columns,
        "gemm: {} is [{}, {}]: its row stride must be at least {}, got {}", what, rows, columns, columns, ld);
}

template <class T>
void check_operand(const char* what, I rows, I columns, const Operand<T>& x) {
  x.transposed ? check_rows<T>(what, columns, rows, x.ld) : check_rows<T>(what, rows, columns, x.ld);
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

/// With a vector or through OpenBLAS, which both know only C = alpha A B + beta C.
template <class T>
void multiply_elsewhere(const Product<T>& x) {
  const bool prepare = x.bias || (x.beta != 0 && x.d != x.c);
  if (prepare) start(x);
  blas::gemm(x.a.transposed, x.b.transposed, x.m, x.n, x.k, x.alpha, x.a.data, x.a.ld, x.b.data, x.b.ld,
             prepare ? T{1} : x.beta, x.c, x.ldc);
}

}  // namespace

const char* name(MatmulBackend backend) { return backend == MatmulBackend::gradus ? "gradus" : "openblas"; }

MatmulBackend matmul_backend() {
  int backend = chosen.load(std::memory_order_relaxed);
  if (backend == kUndecided) {
    backend = static_cast<int>(choose());
    chosen.store(backend, std::memory_order_relaxed);  // threads that meet here choose the same
  }
  return static_cast<MatmulBackend>(backend);
}

void set_matmul_backend(MatmulBackend backend) {
  chosen.store(static_cast<int>(backend), std::memory_order_relaxed);
}

template <class T>
bool has_few_rows(const Product<T>& x) {
  return x.m > 1 && x.m <= kFewRows && x.k >= kLongRow && x.b.transposed && !x.a.transposed && x.alpha == 1 &&
         x.beta == 0 && matmul_backend() == MatmulBackend::gradus && current_isa() != Isa::scalar;
}
template bool has_few_rows(const Product<float>&);
template bool has_few_rows(const Product<double>&);

template <class T>
void multiply_few_rows(const Product<T>& x) {
  const auto& kernels = table<T>();
  kernels.gemv_few(x.n, x.k, x.b.data, x.b.ld, x.m, x.a.data, x.a.ld, x.c, x.ldc);
  if (x.bias)
    for (I i = 0; i < x.m; ++i)
      kernels.binary[static_cast<int>(Binary::add)](x.n, x.c + i * x.ldc, 1, x.bias, 1, x.c + i * x.ldc);
  if (x.relu) relu(x);
}
template void multiply_few_rows(const Product<float>&);
template void multiply_few_rows(const Product<double>&);

template <class T>
void multiply(const Product<T>& x) {
  check_operand("a", x.m, x.k, x.a);
  check_operand("b", x.k, x.n, x.b);
  check_rows<T>("c", x.m, x.n, x.ldc);
  if (x.m == 0 || x.n == 0) return;
  const bool nothing = x.k == 0 || x.alpha == 0;
  if (!nothing && x.m > 1 && x.n > 1 && matmul_backend() == MatmulBackend::gradus) return table<T>().gemm(x);
  nothing ? start(x) : multiply_elsewhere(x);
  if (x.relu) relu(x);
}
template void multiply(const Product<float>&);
template void multiply(const Product<double>&);

}  // namespace gradus::kernels
