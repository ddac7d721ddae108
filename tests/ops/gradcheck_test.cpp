#include "gradus/ops/gradcheck.h"

#include <doctest/doctest.h>

#include "check_layouts.h"
#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/record.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

/// x^2 with the derivative `factor` x.
Tensor square_with(double factor, const Tensor& x) {
  return record("square", x.detach().square().array(), {&x},
                [x = x.array(), factor](const Array& dy, Needs) -> Grads {
                  return {(Tensor(dy) * Tensor(x) * factor).array()};
                });
}

}  // namespace

TEST_CASE("gradcheck: accepts correct gradients, over shapes and layouts, and changes nothing") {
  manual_seed(1);
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{3, 0}, Shape{2, 3}, Shape{2, 1, 4}}) {
    const Tensor x = leaf(randn(shape, f64));
    const std::vector<double> before = values(x);
    gradcheck([](const Tensor& t) { return square_with(2, t); }, {x});
    CHECK(values(x) == before);
    CHECK_FALSE(x.grad().defined());
  }
  for (const Layout layout : {Layout::transposed, Layout::sliced, Layout::offset}) {
    const Tensor x = leaf(Tensor(lay_out(randn({3, 4}, f64).array(), layout)));
    gradcheck([](const Tensor& t) { return softmax(t, 0); }, {x});
    CHECK_THROWS_AS(gradcheck([](const Tensor& t) { return square_with(1.9, t); }, {x}), Error);
  }
}

TEST_CASE("gradcheck: several inputs and outputs, constants, integers, dropout, a model") {
  manual_seed(1);
  const Tensor a = leaf(randn({2, 3}, f64)), b = leaf(randn({3, 2}, f64)), c = randn({2, 2}, f64);
  gradcheck([](const Tensor& p, const Tensor& q, const Tensor& r) { return matmul(p, q) * r; }, {a, b, c});
  gradcheck(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{x[0] * 2, x[0].argmax(-1), x[1].sum()};
      },
      {a, b});
  gradcheck([](const Tensor& x) { return dropout(x, 0.5, true); }, {a});
  const DefaultDType guard(f64);
  const nn::PreLNBlock block({.d_model = 4, .heads = 2, .d_ff = 5, .dropout = 0.1});
  const Tensor x = randn({1, 3, 4});
  gradcheck([&] { return block(x).square().sum(); }, block.parameters());
  for (const Tensor& w : block.parameters()) CHECK_FALSE(w.grad().defined());
}

TEST_CASE("gradcheck: names the worst entry") {
  const Tensor w = leaf(tensor({0.5}, f64)), x = leaf(tensor({{1.0, 2.0}, {3.0, -4.0}}, f64));
  const auto wrong = [](const Tensor& p, const Tensor& t) {
    return std::vector<Tensor>{p * 2, square_with(1.5, t)};
  };
  check_error(
      [&] {
        gradcheck(wrong, {w, x});
      },
      "gradcheck: input 1 [2, 2] at [1, 1]: backward gives -6, central differences -8 for output 1 [2, "
      "2] at [1, 1]: off by 2, more than 1e-05 + 0.001 * 8; 4 of 25 derivatives are off");
  CHECK_FALSE(x.grad().defined());
  CHECK(values(x) == Values{1, 2, 3, -4});
  gradcheck(wrong, {w, x}, {.rtol = 0.26});
  // One that never reaches the tape, and NaN.
  CHECK_THROWS_WITH_AS(gradcheck([](const Tensor& t) { return t.detach() * 2; }, {w}),
                       doctest::Contains("backward gives 0, central differences 2 "), Error);
  CHECK_THROWS_WITH_AS(gradcheck([](const Tensor& t) { return square_with(kNan, t); }, {w}),
                       doctest::Contains("backward gives nan, central differences 1 "), Error);
  // An infinite difference, of 1 / x at 0, is not a derivative.
  const Tensor eps = leaf(tensor({1e-6}, f64));
  CHECK_THROWS_WITH_AS(gradcheck([](const Tensor& t) { return 1 / t; }, {eps}),
                       doctest::Contains("backward gives -1e+12, central differences -inf "), Error);
}

TEST_CASE("gradcheck: errors") {
  const Tensor x = leaf(ones({2}, f64)), constant = ones({2}, f64);
  const auto twice = [](const Tensor& t) { return t * 2; };
  check_error([&] { gradcheck(twice, {constant}); },
              "gradcheck: none of the 1 inputs requires grad: call requires_grad_() on those to be checked");
  check_error([&] { gradcheck(twice, {leaf(ones({2}))}); },
              "gradcheck: input 0 [2] is f32, whose rounding differences would magnify: make it f64, as "
              "DefaultDType does for a model made in its scope");
  check_error([&] { gradcheck(twice, {x * 3}); },
              "gradcheck: input 0 [2] is the output of mul, not a leaf: pass what it was made from, or a "
              "detach()");
  check_error(
      [&] {
        gradcheck(twice, {leaf(constant.expand({3, 2}))});
      },
      "gradcheck: input 0 [3, 2] is expanded, its elements share memory: make it of contiguous()");
  check_error([&] { gradcheck(twice, {x, x}); }, "gradcheck: the function takes 1 tensor, got 2 inputs");
  check_error([&] { gradcheck(twice, {Tensor()}); }, "gradcheck: input 0 is an undefined tensor");
  check_error([&] { gradcheck(twice, {x}, {.eps = 0}); },
              "gradcheck: expects an eps above 0 and tolerances of 0 or more, got eps 0, atol 1e-05, rtol "
              "0.001");
  check_error([&] { gradcheck([](const Tensor&) { return Tensor(); }, {x}); },
              "gradcheck: the function returned an undefined tensor");
  int calls = 0;
  check_error([&] { gradcheck([&](const Tensor& t) { return t * ++calls; }, {x}); },
              "gradcheck: the function gave other values in a second call with the same inputs: it must "
              "compute the same each time; recreate any generator in each call");
  CHECK_THROWS_WITH(gradcheck(
                        [&](const Tensor& t) {
                          if (!grad_enabled()) throw Error("inside");
                          return t * 2;
                        },
                        {x}),
                    "inside");
  CHECK(values(x) == Values{1, 1});
}

}  // namespace gradus::test
