#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

TEST_CASE("prod: gradients, layouts, threads, instruction sets") {
  struct Case {
    Shape shape;
    Axes axes;
  };
  const Case cases[] = {
      {{}, {}},       {{7}, {}},       {{3, 4}, 0},       {{3, 4}, 1},   {{2, 3, 4}, {0, 2}},
      {{2, 3, 4}, 1}, {{2, 3, 4}, {}}, {{4, 1, 3}, {-2}}, {{1}, 0},      {{0, 3}, 0},
      {{0, 3}, 1},    {{0, 3}, {}},    {{300, 5}, 0},     {{5000, 4}, 1}};
  for (const Case& c : cases)
    for (const bool keepdim : {false, true})
      check_op("prod", [&](const Tensor& x) { return prod(x, c.axes, keepdim); },
               {Input(c.shape).between(0.9, 1.1)});
  check_op("prod", [](const Tensor& x) { return prod(x, 1); }, {{5, 4}});
}

TEST_CASE("prod: values, shapes, integers, nothing") {
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  CHECK(prod(x).item() == 720);
  CHECK(values(prod(x, 0)) == Values{4, 10, 18});
  CHECK(prod(x, -1, true).shape() == Shape{2, 1});
  CHECK(values(x.prod(1)) == Values{6, 120});
  CHECK(prod(zeros({0})).item() == 1);
  CHECK(values(prod(zeros({2, 0}), 1)) == Values{1, 1});
  CHECK(prod(tensor({2, 3})).dtype() == i64);
  CHECK(prod(tensor({INT64_MAX, std::int64_t{2}})).item() == -2);  // wraps around
  CHECK(prod(tensor({true, false, true})).dtype() == i64);
  CHECK(values(prod(tensor({{true, true}, {false, true}}), 1)) == Values{1, 0});
  // Range is kept on the way: f32 multiplies in f64.
  CHECK(prod(tensor({1e30, 1e30, 1e-30, 1e-30})).item() == doctest::Approx(1));
  CHECK(std::isnan(prod(tensor({kNan, 0.0})).item()));
}

TEST_CASE("prod: the gradient is right beside zeros, and where the product has left the range") {
  const auto gradient = [](const Tensor& x) {
    const Tensor in = leaf(x);
    prod(in).backward();
    return values(in.grad());
  };
  CHECK(gradient(tensor({2.0, 0.0, 3.0})) == Values{0, 6, 0});
  CHECK(gradient(tensor({0.0, 2.0, 0.0})) == Values{0, 0, 0});
  CHECK(gradient(tensor({0.0}, f64)) == Values{1});
  CHECK(gradient(tensor({1e-200, 1e-200, 4.0}, f64)) == Values{4e-200, 4e-200, 0});
  const Tensor rows = leaf(tensor({{2.0, 0.0}, {3.0, 4.0}}));
  sum(prod(rows, 1) * tensor({1.0, 10.0})).backward();
  CHECK(values(rows.grad()) == Values{0, 2, 40, 30});
}

TEST_CASE("prod: errors") {
  const Tensor x = zeros({2, 3}), undefined;
  check_error([&] { prod(x, 2); }, "prod: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { prod(x, {0, -2}); }, "prod: axis -2 is given twice in [0, -2]");
  check_error([&] { prod(undefined); }, "prod" + kUndefined);
  check_error([] { prod(zeros({}), 0); }, "prod: axis 0 does not exist: the tensor has 0 axes");
}

}  // namespace
}  // namespace gradus::test
