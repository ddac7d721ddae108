// Products with one row or one column, which read a matrix once: cut into pieces by rows or columns of it.

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

/// The largest difference from the product in the other order of summing, over the largest value.
double error_of(const Tensor& got, const Tensor& want) {
  REQUIRE(got.shape() == want.shape());
  return ((got.to(f64) - want).abs().max() / want.abs().max()).item();
}

/// The same values in other layouts: transposed in memory, with gaps between rows, with gaps in rows.
Tensors layouts(const Tensor& x) {
  const Tensor wide = full({x.size(0) + 1, x.size(1) + 5}, NAN, x.dtype());
  const Tensor apart = wide.slice(0, 1).slice(1, 2, 2 + x.size(1));
  apart.copy_(x);
  const Tensor sparse = full({x.size(0), 2 * x.size(1)}, NAN, x.dtype()).slice(1, 0, {}, 2);
  sparse.copy_(x);
  return {x, x.t().contiguous().t(), apart, sparse};
}

TEST_CASE("vector products: gradients, layouts and threads where the matrix is cut") {
  const Op product = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
  const CheckOptions reordered = {.layout_bits = false};  // another layout is another order of summing
  check_op("matmul", product, {{1, 300}, {300, 700}}, reordered);
  check_op("matmul", product, {{900, 200}, {200, 1}}, reordered);
  check_op("matmul", product, {{3, 1, 170}, {3, 170, 600}}, reordered);
  check_op(
      "linear", [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); },
      {{1, 1, 250}, {800, 250}, {800}}, reordered);
}

TEST_CASE("vector products: every layout of the matrix and the vector, f32 and f64") {
  manual_seed(5);
  for (const DType dtype : {f32, f64})
    for (const std::int64_t k : {1, 37, 768})
      for (const std::int64_t n : {1, 5, 511, 512, 513, 1300}) {
        const Tensor x = randn({1, k}, dtype), w = randn({k, n}, dtype);
        const Tensor want = (x.to(f64).t() * w.to(f64)).sum(0, /*keepdim=*/true);
        const double most = dtype == f32 ? 1e-5 : 1e-13;
        CAPTURE(k);
        CAPTURE(n);
        for (const Tensor& row : layouts(x))
          for (const Tensor& matrix : layouts(w)) {
            CHECK(error_of(matmul(row, matrix), want) < most);
            CHECK(error_of(matmul(matrix.t(), row.t()), want.t()) < most);
          }
      }
}

TEST_CASE("vector products: a row of a batch has the same bits as alone") {
  manual_seed(6);
  const Tensor x = randn({4, 1, 96}), w = randn({4, 96, 1030});
  const Tensor y = matmul(x, w), z = matmul(x, w.transpose(1, 2).contiguous().transpose(1, 2));
  for (std::int64_t i = 0; i < 4; ++i) {
    CHECK((y[i] == matmul(x[i], w[i])).all());
    CHECK((z[i] == matmul(x[i], w[i].t().contiguous().t())).all());
  }
}

}  // namespace
}  // namespace gradus::test
