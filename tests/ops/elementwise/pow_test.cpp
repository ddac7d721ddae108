// pow's derivatives of any order. Values, first derivatives and errors: arithmetic_test.cpp.
#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/tape/grad.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "ops/derivatives_of.h"
#include "values.h"

namespace gradus::test {
namespace {

/// The k-th derivative of x^n for a whole n.
double exact(int n, int k, double x) {
  double factor = 1;
  for (int i = 0; i < k; ++i) factor *= n - i;
  return factor == 0 ? 0 : factor * std::pow(x, n - k);
}

void check_orders(const std::vector<Values>& got, int n, const Values& x) {
  CAPTURE(n);
  for (std::size_t k = 0; k < got.size(); ++k)
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = exact(n, static_cast<int>(k) + 1, x[i]);
      CAPTURE(k);
      CAPTURE(x[i]);
      CHECK(std::abs(got[k][i] - want) <= 1e-6 * std::abs(want) + 1e-37);
    }
}

/// A base whose powers to -1 are finite, and those to -2 are not.
double tiny(DType dtype) { return dtype == f32 ? 1e-30 : 1e-200; }

}  // namespace

TEST_CASE("pow: derivatives of any order of 1, x, x^2 and x^3, down to x = 0") {
  for (const DType dtype : {f32, f64}) {
    const double small = tiny(dtype), denormal = dtype == f32 ? 1e-40 : 1e-310;
    const Tensor x = leaf(tensor({0.0, small, -small, denormal, 1e-20, 2.0, -2.0}, dtype));
    for (const int n : {0, 1, 2, 3}) {
      check_orders(derivatives_of([n](const Tensor& t) { return pow(t, n); }, x, n + 1), n, values(x));
      for (const bool trained : {false, true}) {
        const Tensor exponent = full({}, n, dtype).requires_grad_(trained);
        const auto f = [&](const Tensor& t) { return pow(t, exponent); };
        check_orders(derivatives_of(f, x, 7), n, values(x));
      }
    }
  }
}

TEST_CASE("pow: mixed derivatives where an exponent is whole") {
  for (const DType dtype : {f32, f64}) {
    const double small = tiny(dtype);
    const Tensor a = leaf(tensor(small, dtype)), b = leaf(tensor(0.0, dtype));
    const TensorList first = grad(pow(a, b), {a, b}, {.create_graph = true});
    const TensorList of_da = grad(first[0], {a, b}, {.create_graph = true});
    const TensorList of_db = grad(first[1], {a, b}, {.retain_graph = true});
    CHECK(of_da[0].item() == 0);
    CHECK(of_da[1].item() == near(1 / small));
    CHECK(of_db[0].item() == near(1 / small));
    CHECK(of_db[1].item() == near(std::pow(std::log(small), 2)));
  }
  for (const double exponent : {0.0, 1.0, 2.0}) {
    const Tensor a = leaf(tensor(1e-10)), b = leaf(tensor(exponent));
    const Tensor second =
        grad(grad(pow(a, b), {a}, {.create_graph = true})[0], {a}, {.create_graph = true})[0];
    const double want =
        (2 * exponent - 1 + exponent * (exponent - 1) * std::log(1e-10)) * std::pow(1e-10, exponent - 2);
    CHECK(grad(second, {b})[0].item() == near(want));
  }
}

TEST_CASE("pow: at 0^0 both gradients are constants") {
  const Tensor a = leaf(tensor(0.0, f64)), b = leaf(tensor(0.0, f64));
  const TensorList first = grad(pow(a, b), {a, b}, {.create_graph = true});
  for (const Tensor& g : {first[0], first[1]}) {
    CHECK(g.item() == 0);
    for (const Tensor& second : grad(g, {a, b}, {.retain_graph = true})) CHECK(second.item() == 0);
  }
}

TEST_CASE("pow: derivatives at NaN") {
  const Tensor x = leaf(tensor({kNan}));
  for (const double exponent : {0.5, 3.0}) {
    const Tensor b = tensor({exponent});
    for (const Values& d : derivatives_of([&](const Tensor& t) { return pow(t, b); }, x, 2))
      CHECK(std::isnan(d[0]));
  }
  CHECK(derivatives_of([](const Tensor& t) { return pow(t, zeros({1})); }, x, 2) ==
        std::vector<Values>{{0}, {0}});  // x^0 is 1 there too
}

}  // namespace gradus::test
