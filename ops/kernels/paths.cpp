#include "gradus/ops/kernels/paths.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/ops/backend.h"
#include "gradus/ops/kernels/blas.h"

namespace gradus {
namespace {

using I = std::int64_t;

constexpr I kFewRows = 8, kLongRow = 256;  // found by measuring

/// From where on OpenBLAS makes a product: 2 m n k operations, and the shortest of m, n and k.
struct Large {
  double work;
  I side;
};

/// A transposed: our kernel reads down A's columns, while OpenBLAS rearranges A either way.
constexpr Large large_of(Isa isa, bool a_transposed) {
  switch (isa) {
    case Isa::avx2:
    case Isa::neon:  // not measured
      return a_transposed ? Large{5e7, 96} : Large{2e8, 128};
    case Isa::avx512:
      return a_transposed ? Large{1e9, 512} : Large{6e9, 1024};
    case Isa::scalar:   // its loops are a reference before they are fast
    case Isa::simd128:  // there is no OpenBLAS for it
      break;
  }
  return {0, 0};
}

/// OpenBLAS's kernels for AVX2, and for AVX-512. Others are older than what ours are compiled for.
constexpr std::string_view kAvx2Cores[] = {"Haswell", "Zen"};
constexpr std::string_view kAvx512Cores[] = {"SkylakeX", "Cooperlake", "SapphireRapids", "Zen4", "Zen5"};

constexpr int kUndecided = -1;
std::atomic<int> chosen = kUndecided, core_isa = kUndecided;

/// The value, made at its first use; threads that meet there make the same.
template <class F>
int once(std::atomic<int>& value, F make) {
  int known = value.load(std::memory_order_relaxed);
  if (known == kUndecided) value.store(known = make(), std::memory_order_relaxed);
  return known;
}

/// The instruction set OpenBLAS's kernels use.
Isa isa_of_openblas() {
  return static_cast<Isa>(once(core_isa, [] {
    const std::string_view core = openblas_core();
    const auto in = [core](const auto& names) {
      return std::find(std::begin(names), std::end(names), core) != std::end(names);
    };
    if (isa_supported(Isa::neon)) return static_cast<int>(Isa::neon);  // as all its kernels there
    return static_cast<int>(in(kAvx512Cores) ? Isa::avx512 : in(kAvx2Cores) ? Isa::avx2 : Isa::scalar);
  }));
}

void check_has_openblas(const char* who) {
  check(blas::available(), "{}: this gradus was built without OpenBLAS: it multiplies all matrices itself",
        who);
}

int choose() {
  const char* wanted = std::getenv("GRADUS_MATMUL");
  if (!wanted || !*wanted) return static_cast<int>(MatmulBackend::automatic);
  for (const MatmulBackend backend :
       {MatmulBackend::automatic, MatmulBackend::gradus, MatmulBackend::openblas})
    if (std::string_view(wanted) == name(backend)) {
      if (backend == MatmulBackend::openblas) check_has_openblas("GRADUS_MATMUL=openblas");
      return static_cast<int>(backend);
    }
  fail_with(
      "GRADUS_MATMUL: expected automatic, gradus or openblas, got '{}'; leave it unset for the faster one by "
      "shape",
      wanted);
}

template <class T>
bool is_large(const kernels::Product<T>& x, const Large& from) {
  return std::min({x.m, x.n, x.k}) >= from.side &&
         2.0 * static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k) >= from.work;
}

}  // namespace

const char* name(MatmulBackend backend) {
  switch (backend) {
    case MatmulBackend::gradus:
      return "gradus";
    case MatmulBackend::openblas:
      return "openblas";
    case MatmulBackend::automatic:
      break;
  }
  return "automatic";
}

MatmulBackend matmul_backend() { return static_cast<MatmulBackend>(once(chosen, choose)); }

void set_matmul_backend(MatmulBackend backend) {
  check(backend == MatmulBackend::automatic || backend == MatmulBackend::gradus ||
            backend == MatmulBackend::openblas,
        "set_matmul_backend: expects automatic, gradus or openblas, got {}", static_cast<int>(backend));
  if (backend == MatmulBackend::openblas) check_has_openblas("set_matmul_backend");
  chosen.store(static_cast<int>(backend), std::memory_order_relaxed);
}

namespace kernels {

template <class T>
Path path_of(const Product<T>& x) {
  if (x.bf16) return Path::bf16;
  if (x.m == 1 || x.n == 1) return Path::vector;
  const MatmulBackend backend = matmul_backend();
  if (backend == MatmulBackend::openblas) return Path::openblas;
  const Isa isa = current_isa();
  // With so few rows, rearranging B's columns would cost more than multiplying: they are read where they lie.
  if (x.m <= kFewRows && x.k >= kLongRow && x.b.transposed && !x.a.transposed && x.alpha == 1 &&
      x.beta == 0 && isa != Isa::scalar)
    return Path::few_rows;
  if (backend == MatmulBackend::automatic && is_large(x, large_of(isa, x.a.transposed)) &&
      blas::available() && isa_of_openblas() >= isa)
    return Path::openblas;
  return Path::blocks;
}
template Path path_of(const Product<float>&);
template Path path_of(const Product<double>&);

}  // namespace kernels
}  // namespace gradus
