#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

/// Pairs of shapes that broadcast, each way one can.
const std::vector<std::pair<Shape, Shape>>& broadcast_pairs() {
  static const std::vector<std::pair<Shape, Shape>> pairs = {
      {{}, {}},
      {{5}, {5}},
      {{3, 4}, {4}},
      {{4}, {3, 4}},
      {{3, 1}, {1, 4}},
      {{2, 3}, {}},
      {{}, {2, 3}},
      {{1}, {7}},
      {{0, 3}, {1, 3}},
      {{1, 3}, {0, 3}},
      {{0}, {1}},
      {{4, 1, 3}, {2, 1}},
      {{2, 1, 3, 1}, {4}},
      {{300, 200}, {200}},
      {{300, 200}, {300, 1}},
      {{1, 1}, {1, 1}},
      {{2, 3, 4}, {3, 1}},
      {{17, 33}, {17, 33}},
      {{20, 1, 40}, {50, 1}},
  };
  return pairs;
}

void check_broadcast(const std::string& name, const Op& op, double low = -2, double high = 2,
                     const CheckOptions& options = {}) {
  for (const auto& [a, b] : broadcast_pairs())
    check_op(name, op, {Input(a).between(low, high), Input(b).between(low, high)}, options);
}

TEST_CASE("add, sub, mul") {
  check_broadcast("add", [](const Tensor& a, const Tensor& b) { return a + b; });
  check_broadcast("sub", [](const Tensor& a, const Tensor& b) { return a - b; });
  check_broadcast("mul", [](const Tensor& a, const Tensor& b) { return a * b; });
}

TEST_CASE("div") {
  check_broadcast(
      "div", [](const Tensor& a, const Tensor& b) { return a / b; }, 0.5, 2);
  check_broadcast(
      "div", [](const Tensor& a, const Tensor& b) { return a / b; }, -2, -0.5);
}

TEST_CASE("a tensor used as both operands") {
  check_op("mul", [](const Tensor& x) { return x * x; }, {{3, 4}});
  check_op("div", [](const Tensor& x) { return (x + 1) / x; }, {Input({3, 4}).between(0.5, 2)});
  check_op("mul", [](const Tensor& x) { return x * (x - x) + x; }, {{3, 4}});
}

TEST_CASE("operators with a number") {
  for (const Shape& shape : odd_shapes()) {
    const Input x = Input(shape).between(0.5, 2);
    check_op("add", [](const Tensor& a) { return a + 1.5; }, {x});
    check_op("add", [](const Tensor& a) { return 1.5 + a; }, {x});
    check_op("sub", [](const Tensor& a) { return a - 1.5; }, {x});
    check_op("sub", [](const Tensor& a) { return 1.5 - a; }, {x});
    check_op("mul", [](const Tensor& a) { return a * 1.5; }, {x});
    check_op("mul", [](const Tensor& a) { return 1.5 * a; }, {x});
    check_op("div", [](const Tensor& a) { return a / 1.5; }, {x});
    check_op("div", [](const Tensor& a) { return 1.5 / a; }, {x});
  }
}

TEST_CASE("pow with a number") {
  for (const double exponent : {-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 2.7})
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{0}, Shape{150, 200}})
      check_op("pow", [exponent](const Tensor& x) { return pow(x, exponent); },
               {Input(shape).between(0.5, 2)});
  for (const double exponent : {-3.0, 2.0, 3.0})
    check_op("pow", [exponent](const Tensor& x) { return pow(x, exponent); },
             {Input({3, 5}).between(-2, -0.5)});
}

TEST_CASE("pow with a tensor") {
  check_broadcast(
      "pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }, 0.5, 2);
}

TEST_CASE("maximum, minimum") {
  check_broadcast("maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
  check_broadcast("minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); });
}

TEST_CASE("values at special points") {
  const Tensor x = tensor({1.0, -1.0, 0.0, kInf, kNan}, f64);
  CHECK(values(x / 0.0)[0] == kInf);
  CHECK(values(x / 0.0)[1] == -kInf);
  CHECK(std::isnan(values(x / 0.0)[2]));
  CHECK(std::isnan(values(x - x)[3]));
  CHECK(values(pow(x, 0.0)) == Values{1, 1, 1, 1, 1});
  CHECK(values(pow(tensor({-8.0, 4.0}, f64), 3)) == Values{-512, 64});
  CHECK(std::isnan(pow(tensor(-8.0), 1.5).item()));
  CHECK(pow(tensor(0.0), -1).item() == kInf);
}

TEST_CASE("pow: gradients at zero") {
  Tensor x = tensor({0.0, 2.0}, f64).requires_grad_();
  sum(pow(x, 0.0)).backward();
  CHECK(values(x.grad()) == Values{0, 0});
  x.zero_grad();
  sum(pow(x, 1.0)).backward();
  CHECK(values(x.grad()) == Values{1, 1});
  x.zero_grad();
  sum(pow(x, 2.0)).backward();
  CHECK(values(x.grad()) == Values{0, 4});

  Tensor base = zeros({3}, f64).requires_grad_();
  Tensor exponent = tensor({0.0, 2.0, 1.0}, f64).requires_grad_();
  sum(pow(base, exponent)).backward();
  CHECK(values(base.grad()) == Values{0, 0, 1});
  CHECK(values(exponent.grad()) == Values{0, 0, 0});
}

TEST_CASE("maximum and minimum: ties share the gradient, NaN passes on") {
  Tensor a = tensor({1.0, 2.0, 3.0}, f64).requires_grad_();
  Tensor b = tensor({1.0, 3.0, 2.0}, f64).requires_grad_();
  const Tensor weights = tensor({10.0, 20.0, 30.0}, f64);
  sum(maximum(a, b) * weights).backward();
  CHECK(values(a.grad()) == Values{5, 0, 30});
  CHECK(values(b.grad()) == Values{5, 20, 0});
  a.zero_grad();
  sum(minimum(a, b) * weights).backward();
  CHECK(values(a.grad()) == Values{5, 20, 0});

  const Tensor x = tensor({kNan, 1.0, kNan}), y = tensor({1.0, kNan, kNan});
  for (const double v : values(maximum(x, y))) CHECK(std::isnan(v));
  for (const double v : values(minimum(x, y))) CHECK(std::isnan(v));
}

TEST_CASE("integers") {
  const Tensor a = tensor({7, -7, 0}), b = tensor({2, 2, 5});
  CHECK((a + b).dtype() == i64);
  CHECK(values(a + b) == Values{9, -5, 5});
  CHECK(values(a - b) == Values{5, -9, -5});
  CHECK(values(a * b) == Values{14, -14, 0});
  CHECK(values(maximum(a, b)) == Values{7, 2, 5});
  CHECK(values(minimum(a, b)) == Values{2, -7, 0});
  CHECK(values(a + 1) == Values{8, -6, 1});
  CHECK(values(10 - a) == Values{3, 17, 10});
  CHECK(values(-a) == Values{-7, 7, 0});
  CHECK(values(a.transpose(0, 0) * tensor({{1}, {2}})) == Values{7, -7, 0, 14, -14, 0});
}

TEST_CASE("integers divide truly, to the default dtype") {
  const Tensor y = tensor({7, -7, 0, 1}) / tensor({2, 2, 5, 0});
  CHECK(y.dtype() == f32);
  CHECK(values(y) == Values{3.5, -3.5, 0, kInf});
  CHECK(values(tensor({7, 2}) / 2) == Values{3.5, 1});
  CHECK(values(7 / tensor({2, 0})) == Values{3.5, kInf});
  const DefaultDType guard(f64);
  CHECK((tensor({1}) / tensor({3})).item() == 1.0 / 3.0);
}

TEST_CASE("integers wrap around") {
  const Tensor top = tensor({std::numeric_limits<std::int64_t>::max()});
  CHECK((top + tensor({1})).to_vector<std::int64_t>()[0] == std::numeric_limits<std::int64_t>::min());
  CHECK((top * tensor({2})).to_vector<std::int64_t>()[0] == -2);
}

TEST_CASE("arithmetic records nothing for numbers and constants") {
  Tensor x = ones({3}).requires_grad_();
  const std::int64_t before = live_nodes();
  const Tensor y = 2 * x + 1;
  CHECK(live_nodes() == before + 2);
  const Tensor z = ones({3}) + ones({3});
  CHECK(live_nodes() == before + 2);
}

TEST_CASE("mul saves only what a gradient needs") {
  Tensor x = ones({3}).requires_grad_();
  const Tensor constant = ones({3});
  const Tensor y = x * constant;
  {
    NoGrad guard;
    x.fill_(5);
  }  // x itself was not saved: the constant's gradient is not wanted
  sum(y).backward();
  CHECK(values(x.grad()) == Values{1, 1, 1});

  const Tensor z = x * constant;
  constant.fill_(3);
  check_error(
      [&] { sum(z).backward(); },
      "mul backward: the f32 [3] it saved was changed in place after the forward pass: change it before the "
      "forward pass or after backward, or work on a clone()");
}

TEST_CASE("arithmetic: errors") {
  const Tensor a = zeros({2, 3}), b = zeros({4}), undefined;
  check_error([&] { a + b; }, "add: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error([&] { a - b; }, "sub: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error(
      [&] {
        a* zeros({2, 1, 2});
      },
      "mul: shapes [2, 3] and [2, 1, 2] do not broadcast: axis -1 has sizes 3 and 2");
  check_error(
      [&] {
        a / zeros({3, 3});
      },
      "div: shapes [2, 3] and [3, 3] do not broadcast: axis -2 has sizes 2 and 3");
  check_error([&] { maximum(a, b); },
              "maximum: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error([&] { pow(a, b); }, "pow: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error([&] { a + zeros({3}, f64); },
              "add: operands have different dtypes: f32 [2, 3] and f64 [3]: convert one with .to()");
  check_error(
      [&] {
        a* tensor({1, 2, 3});
      },
      "mul: operands have different dtypes: f32 [2, 3] and i64 [3]: convert one with .to()");
  check_error([&] { minimum(a, a > 0); },
              "minimum: operands have different dtypes: f32 [2, 3] and bool [2, 3]: convert one with .to()");
  check_error([&] { (a > 0) + (a > 0); }, "add: expects numbers, got bool [2, 3]: convert with .to(f32)");
  check_error([&] { (a > 0) * 2; }, "mul: expects numbers, got bool [2, 3]: convert with .to(f32)");
  check_error([&] { 1 - (a > 0); }, "sub: expects numbers, got bool [2, 3]: convert with .to(f32)");
  check_error(
      [&] {
        tensor({1, 2}) + 0.5;
      },
      "add: the number 0.5 is not an i64, as the tensor [2] is: convert the tensor with .to(f32)");
  check_error(
      [&] {
        tensor({1, 2}) * 1e30;
      },
      "mul: the number 1e+30 is not an i64, as the tensor [2] is: convert the tensor with .to(f32)");
  check_error(
      [&] {
        kNan - tensor({1, 2});
      },
      "sub: the number nan is not an i64, as the tensor [2] is: convert the tensor with .to(f32)");
  check_error([&] { pow(tensor({1, 2}), 2); }, "pow: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error(
      [&] {
        pow(tensor({1, 2}), tensor({1, 2}));
      },
      "pow: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([&] { a + undefined; },
              "add: the second operand is undefined: assign it first; a grad() is undefined before backward");
  check_error([&] { undefined* a; },
              "mul: the first operand is undefined: assign it first; a grad() is undefined before backward");
  check_error([&] { undefined / 2; }, "div" + kUndefined);
  check_error([&] { maximum(undefined, a); }, "maximum" + kUndefined);
  check_error([&] { pow(undefined, 2); }, "pow" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
