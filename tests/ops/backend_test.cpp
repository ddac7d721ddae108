// The implementation of products: its choice by shape; every choice is correct, with the same bits for any
// number of threads.

#include "gradus/ops/backend.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/kernels/blas.h"
#include "gradus/ops/kernels/paths.h"
#include "gradus/ops/ops.h"
#include "isas.h"
#include "support.h"

namespace gradus::test {
namespace {

using kernels::Path;
using I = std::int64_t;

/// Those this gradus was built with.
const std::vector<MatmulBackend> kBackends =
    blas::available() ? std::vector{MatmulBackend::automatic, MatmulBackend::gradus, MatmulBackend::openblas}
                      : std::vector{MatmulBackend::automatic, MatmulBackend::gradus};

/// Restores what computes after a test.
struct BackendGuard {
  MatmulBackend backend = matmul_backend();
  Isa isa = current_isa();
  int threads = num_threads();
  ~BackendGuard() {
    set_matmul_backend(backend);
    set_isa(isa);
    set_num_threads(threads);
  }
};

Path path(I m, I n, I k, bool transpose_a = false, bool transpose_b = false) {
  return kernels::path_of<float>({.m = m,
                                  .n = n,
                                  .k = k,
                                  .a = {nullptr, transpose_a ? m : k, transpose_a},
                                  .b = {nullptr, transpose_b ? k : n, transpose_b},
                                  .c = nullptr,
                                  .ldc = n});
}

bool openblas_is_one_of(const std::vector<std::string>& cores) {
  return std::find(cores.begin(), cores.end(), openblas_core()) != cores.end();
}

TEST_CASE("backend: names, and the backend that is set is used") {
  const BackendGuard guard;
  CHECK(std::string(name(MatmulBackend::automatic)) == "automatic");
  CHECK(std::string(name(MatmulBackend::gradus)) == "gradus");
  CHECK(std::string(name(MatmulBackend::openblas)) == "openblas");
  for (const MatmulBackend backend : kBackends) {
    set_matmul_backend(backend);
    CHECK(matmul_backend() == backend);
  }
  CHECK_FALSE(std::string(openblas_core()).empty());
  CHECK((std::string(openblas_core()) == "none") == !blas::available());
}

TEST_CASE("report who multiplies" * doctest::skip()) {  // run below, in a process of its own
  try {
    std::printf("[%s]\n", name(matmul_backend()));
  } catch (const Error& error) {
    std::printf("[%s]\n", error.what());
  }
}

/// Whether a fresh process with this GRADUS_MATMUL prints [line].
bool prints(const std::string& value, const std::string& line) {
  const std::string output = output_of_child("GRADUS_MATMUL='" + value + "'", "report who multiplies");
  return output.find("[" + line + "]\n") != std::string::npos;
}

TEST_CASE("backend: GRADUS_MATMUL chooses, and a wrong value is an error with a remedy") {
  CHECK(prints("", "automatic"));
  for (const MatmulBackend backend : kBackends) CHECK(prints(name(backend), name(backend)));
  CHECK(prints(
      "mkl",
      "GRADUS_MATMUL: expected automatic, gradus or openblas, got 'mkl'; leave it unset for the faster "
      "one by shape"));
  if (!blas::available())
    CHECK(prints("openblas",
                 "GRADUS_MATMUL=openblas: this gradus was built without OpenBLAS: it multiplies all matrices "
                 "itself"));
}

TEST_CASE("backend: without OpenBLAS, asking for it is an error and no product's path leads there") {
  if (blas::available()) return;
  const BackendGuard guard;
  CHECK_THROWS_WITH_AS(
      set_matmul_backend(MatmulBackend::openblas),
      "set_matmul_backend: this gradus was built without OpenBLAS: it multiplies all matrices itself", Error);
  CHECK(matmul_backend() == guard.backend);
  const float x = 1;
  float y = 0;
  CHECK_THROWS_WITH_AS(
      blas::gemm<float>({.m = 1, .n = 1, .k = 1, .a = {&x, 1}, .b = {&x, 1}, .c = &y, .ldc = 1}),
      "gemm: this gradus was built without OpenBLAS", Error);
  for (const Isa isa : kIsas) {
    if (!isa_supported(isa)) continue;
    set_isa(isa);
    CHECK(path(4096, 4096, 4096) == Path::blocks);
    CHECK(path(64, 64, 64) == Path::blocks);
  }
}

TEST_CASE("backend: a product's path follows from its shape") {
  const BackendGuard guard;
  for (const MatmulBackend backend : kBackends) {
    set_matmul_backend(backend);
    CHECK(path(1, 4000, 4000) == Path::vector);  // for any backend of other shapes
    CHECK(path(4000, 1, 4000) == Path::vector);
  }
  if (blas::available()) {
    set_matmul_backend(MatmulBackend::openblas);
    CHECK(path(2, 2, 2) == Path::openblas);
    CHECK(path(4, 4000, 4000, false, true) == Path::openblas);
  }
  for (const Isa isa : kIsas) {
    if (isa == Isa::scalar || !isa_supported(isa)) continue;
    set_isa(isa);
    for (const MatmulBackend backend : {MatmulBackend::automatic, MatmulBackend::gradus}) {
      set_matmul_backend(backend);
      CHECK(path(4, 4000, 4000, false, true) == Path::few_rows);
      CHECK(path(64, 64, 64) == Path::blocks);
      CHECK(path(1024, 192, 64, false, true) == Path::blocks);  // a narrow layer
      CHECK(path(20000, 20000, 2) == Path::blocks);             // and a thin one
    }
    CHECK(path(4096, 4096, 4096) == Path::blocks);
  }
}

TEST_CASE("backend: automatic gives large products to OpenBLAS where its kernels are this CPU's") {
  if (!blas::available()) return;
  const BackendGuard guard;
  set_matmul_backend(MatmulBackend::automatic);
  const bool avx512 = openblas_is_one_of({"SkylakeX", "Cooperlake", "SapphireRapids"});
  for (const Isa isa : kIsas) {
    if (isa == Isa::scalar || !isa_supported(isa)) continue;
    set_isa(isa);
    const bool level =
        isa == Isa::neon || avx512 || (isa == Isa::avx2 && openblas_is_one_of({"Haswell", "Zen"}));
    const Path large = level ? Path::openblas : Path::blocks;
    CHECK(path(2048, 2048, 2048) == large);
    CHECK(path(2048, 512, 1920, /*transpose_a=*/true) == large);
    if (isa == Isa::avx512) {
      CHECK(path(2048, 512, 1920) == Path::blocks);
      CHECK(path(768, 3072, 256, true) == Path::blocks);
    }
  }
  set_isa(Isa::scalar);
  CHECK(path(64, 64, 64) == Path::openblas);
}

TEST_CASE("backend: large products are correct with each, and have the same bits for any number of threads") {
  const BackendGuard guard;
  manual_seed(1);
  const Tensor x = randn({301, 520}), w = randn({700, 520}) * 0.05, bias = randn({700}),
               dy = randn({301, 700});
  const Tensor want = relu(matmul(x.to(f64), w.to(f64).t()) + bias.to(f64)),
               want_dw = matmul((dy.to(f64) * (want > 0).to(f64)).t(), x.to(f64));
  for (const MatmulBackend backend : kBackends) {
    CAPTURE(name(backend));
    set_matmul_backend(backend);
    Tensor first_y, first_dw;
    for (const int threads : {1, 2, 3, 4}) {
      set_num_threads(threads);
      Tensor weight = w.clone();
      weight.requires_grad_();
      const Tensor y = linear(x, weight, bias, Activation::relu);
      y.backward(dy);
      if (threads == 1) {
        first_y = y.detach(), first_dw = weight.grad();
        CHECK((first_y.to(f64) - want).abs().max().item() < 1e-4);
        // One that the rounding of ReLU's input makes 0 counts in full.
        CHECK((first_dw.to(f64) - want_dw).abs().mean().item() < 1e-4);
      }
      CHECK((y.detach() == first_y).all());
      CHECK((weight.grad() == first_dw).all());
    }
  }
}

TEST_CASE("backend: an element of our own product depends only on its row and its column") {
  const BackendGuard guard;
  set_matmul_backend(MatmulBackend::gradus);
  manual_seed(2);
  const Tensor a = randn({13, 20000}), b = randn({20000, 64});
  const Tensor c = matmul(a, b), last_first = matmul(cat({a.slice(0, 12), a.slice(0, 0, 12)}, 0), b);
  CHECK((last_first[0] == c[12]).all());  // a tile of one row there, of six here
  const Tensor wide = randn({20000, 65});
  const Tensor d = matmul(a, wide), turned = matmul(a, cat({wide.slice(1, 64), wide.slice(1, 0, 64)}, 1));
  CHECK((turned.slice(1, 0, 1) == d.slice(1, 64)).all());
}

}  // namespace
}  // namespace gradus::test
