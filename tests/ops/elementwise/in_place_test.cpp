// x += y and similar operators: memory, rules of the tape, errors.

#include <doctest/doctest.h>

#include "check_layouts.h"
#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/layers/linear.h"
#include "gradus/ops/ops.h"
#include "threads_guard.h"
#include "values.h"

namespace gradus::test {
namespace {

TEST_CASE("x += y writes into x, where views and other handles see it") {
  Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor other = x, row = x[1];
  x += 1;
  CHECK(values(other) == Values{2, 3, 4, 5});
  x -= tensor({1.0, 0.0});
  CHECK(values(row) == Values{3, 5});
  x *= other;
  CHECK(values(other) == Values{1, 9, 9, 25});
  x /= 2;
  CHECK(values(row) == Values{4.5, 12.5});
  x[0] *= 10;
  CHECK(values(other) == Values{5, 45, 4.5, 12.5});
  x.slice(1, 0, 1) += tensor({{1.0}, {2.0}});
  CHECK(values(x) == Values{6, 45, 6.5, 12.5});
  x -= x.t();  // overlapping memory is read before it is written
  CHECK(values(x) == Values{0, 38.5, -38.5, 0});
  other += 1;  // the handle is const, not the numbers, as for copy_
  CHECK(values(x) == Values{1, 39.5, -37.5, 1});
  (x += 1) *= 2;
  CHECK(values(x) == Values{4, 81, -73, 4});
}

TEST_CASE("x += y gives the bits of x + y, in every layout, dtype and number of threads") {
  manual_seed(0);
  const Shape shapes[] = {{}, {1}, {0, 3}, {7}, {3, 5}, {70, 300}};
  for (const DType dtype : {f32, f64})
    for (const Shape& shape : shapes)
      for (const Layout layout :
           {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::offset, Layout::mixed})
        for (const int threads : {1, 4}) {
          const ThreadsGuard guard(threads);
          const Tensor x = randn(shape, dtype), y = rand(shape, dtype) + 0.5;
          const auto check_same = [&](auto update, const Tensor& want) {
            Tensor z(lay_out(x.array(), layout));
            update(z, Tensor(lay_out(y.array(), layout, 1)));
            CHECK(values(z) == values(want));
            CHECK(z.strides() == lay_out(x.array(), layout).strides());
          };
          check_same([](Tensor& a, const Tensor& b) { a += b; }, x + y);
          check_same([](Tensor& a, const Tensor& b) { a -= b; }, x - y);
          check_same([](Tensor& a, const Tensor& b) { a *= b; }, x * y);
          check_same([](Tensor& a, const Tensor& b) { a /= b; }, x / y);
          check_same([](Tensor& a, const Tensor&) { a += 1.5; }, x + 1.5);
          check_same([](Tensor& a, const Tensor&) { a -= 1.5; }, x - 1.5);
          check_same([](Tensor& a, const Tensor&) { a *= 1.5; }, x * 1.5);
          check_same([](Tensor& a, const Tensor&) { a /= 1.5; }, x / 1.5);
        }
  Tensor counts = tensor({1, 2, 3});
  counts += tensor({10, 20, 30});
  counts *= 2;
  counts -= 1;
  CHECK(counts.dtype() == i64);
  CHECK(values(counts) == Values{21, 43, 65});
}

TEST_CASE("x += y without a tape raises the version: a change of saved arrays is detected") {
  const Tensor w = leaf(tensor({2.0, 3.0}));
  Tensor x = tensor({1.0, 1.0}), big = ones({40, 40});
  const Tensor y = (w * x).sum(), z = (w.sum() * big).sum();
  x += 1;
  big += big.clone();
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("it saved was changed in place"), Error);
  CHECK_THROWS_WITH_AS(z.backward(), doctest::Contains("it saved was changed in place"), Error);
}

TEST_CASE("a step by hand: parameters are written under NoGrad, and the model sees it") {
  nn::Linear layer(2, 1);
  const Tensor x = tensor({{1.0, 2.0}}), before = layer.weight.clone().detach();
  layer(x).sum().backward();
  {
    const NoGrad guard;
    for (const Tensor& p : layer.parameters()) p -= p.grad() * 0.5;
    layer.weight *= 2;
  }
  CHECK(values(layer.weight) == values((before - tensor({{0.5, 1.0}})) * 2));
  CHECK(layer.weight.requires_grad());
  CHECK(layer.weight.is_leaf());
}

TEST_CASE("on the tape loss += x is loss = loss + x") {
  const Tensor a = leaf(tensor({1.0, 2.0})), b = leaf(tensor({3.0, 4.0}));
  Tensor loss = a.square().sum();
  loss += b.sum();
  loss *= 2;
  loss -= a.sum();
  loss /= 4;
  CHECK(loss.item() == doctest::Approx((2 * (5 + 7) - 3) / 4.0));
  loss.backward();
  CHECK(values(a.grad()) == Values{(4 - 1) / 4.0, (8 - 1) / 4.0});
  CHECK(values(b.grad()) == Values{0.5, 0.5});
  Tensor total = zeros({});  // a constant becomes part of the tape
  for (int i = 0; i < 3; ++i) total += (a * i).sum();
  CHECK(total.requires_grad());
  a.zero_grad();
  total.backward();
  CHECK(values(a.grad()) == Values{3, 3});
}

TEST_CASE("x += y on the tape: gradients of a chain") {
  check_op("updates",
           [](const Tensor& x, const Tensor& y) {
             Tensor z = x * 2;
             z += y;
             z *= 3;
             z -= y * y;
             z /= 2.5;
             return z;
           },
           {{3, 4}, {4}});
}

TEST_CASE("x += y on the tape: an error if it could be distinguished from x = x + y") {
  const Tensor w = leaf(tensor({1.0, 2.0}));
  Tensor x = w * 2;
  const Tensor other = x;
  const std::string held =
      ": another handle, a view or the tape holds the numbers of x [2] too, and on the tape they are not "
      "changed in place: write x = x ";
  check_error([&] { x += 1; }, "operator+=" + held + "+ y");
  Tensor saved = exp(w), input = w * 1, viewed = w * 1;
  const Tensor square_of = input * input, part = viewed[0];
  check_error([&] { saved -= w; }, "operator-=" + held + "- y");
  check_error([&] { input *= 2; }, "operator*=" + held + "* y");
  check_error([&] { viewed /= w; }, "operator/=" + held + "/ y");
  Tensor constant = zeros({2});
  const Tensor handle = constant;
  check_error([&] { constant += w; }, "operator+=" + held + "+ y");
}

TEST_CASE("x += y: errors") {
  const std::string leaf_remedy =
      " requires grad, and an in-place write is not recorded: write it under NoGrad";
  Tensor w = leaf(tensor({1.0, 2.0})), x = zeros({2, 3}), n = tensor({4, 6}), undefined;
  const Tensor constant = zeros({2, 3}), inner = w * 2;
  check_error([&] { w += 1; }, "operator+=: the tensor [2]" + leaf_remedy);
  check_error([&] { w -= w * 1; }, "operator-=: the tensor [2]" + leaf_remedy);
  nn::Linear layer(2, 1);
  check_error([&] { layer.weight *= 0.5; }, "operator*=: the tensor [1, 2]" + leaf_remedy);
  check_error(
      [&] { constant += w[0]; },
      "operator+=: the operand [] requires grad, and an in-place write is not recorded: write x = x + "
      "y, or give it y.detach()");
  check_error(
      [&] { x[0] -= w[0]; },
      "operator-=: the operand [] requires grad, and an in-place write is not recorded: write x = x - "
      "y, or give it y.detach()");
  check_error([&] { inner[0] *= 2; },
              "operator*=: the tensor [] came from select and needs its gradient, and an in-place write is "
              "not recorded: build the values with where, cat or stack, write into a detach().clone(), or "
              "write a parameter under NoGrad");
  check_error(
      [&] {
        x[0] += zeros({2, 3});
      },
      "operator+=: [2, 3] does not broadcast to x [3], whose shape stays: write x = x + y");
  check_error(
      [&] {
        x *= zeros({4, 2, 3});
      },
      "operator*=: [4, 2, 3] does not broadcast to x [2, 3], whose shape stays: write x = x * y");
  check_error([&] { x -= zeros({2}); },
              "operator-=: shapes [2, 3] and [2] do not broadcast: axis -1 has sizes 3 and 2");
  check_error([&] { x += zeros({3}, f64); },
              "operator+=: operands have different dtypes: f32 [2, 3] and f64 [3]: convert one with .to()");
  check_error(
      [&] { n += 0.5; },
      "operator+=: the number 0.5 is not an i64, as the tensor [2] is: convert the tensor with .to(f32)");
  check_error(
      [&] { n /= 2; },
      "operator/=: / gives a fraction, and x [2] stays i64: write x = floor_divide(x, y), or x = x / y");
  check_error(
      [&] {
        n /= tensor({1, 2});
      },
      "operator/=: / gives a fraction, and x [2] stays i64: write x = floor_divide(x, y), or x = x / y");
  Tensor flags = x > 0;
  check_error([&] { flags += flags; }, "operator+=: expects numbers, got bool [2, 3]: convert with .to(f32)");
  check_error([&] { undefined += x; }, "operator+=" + kUndefined);
  check_error(
      [&] { x += undefined; },
      "operator+=: the second operand is undefined: assign it first; a grad() is undefined before backward");
  check_error(
      [&] { zeros({3}) += 1; },
      "operator+=: nothing else holds the tensor [3] that is written, so the values would be lost: "
      "ops, and reshape, flatten, contiguous and to where they must, give copies: write through view, "
      "select or slice");
  Tensor wide = zeros({1, 3}).expand({2, 3});
  check_error([&] { wide += 1; },
              "operator+=: the target [2, 3] is expanded: its elements along axis 0 are one, and would get 2 "
              "values: write into a clone()");
  CHECK(values(x) == Values(6, 0));
  CHECK(values(n) == Values{4, 6});
}

}  // namespace
}  // namespace gradus::test
