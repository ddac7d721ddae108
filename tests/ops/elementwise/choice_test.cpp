#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

/// A fixed pattern of true and false.
Tensor pattern(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  Tensor mask = zeros({n}, boolean);
  for (std::int64_t i = 0; i < n; ++i) mask[i] = i * i % 7 < 3 ? 1.0 : 0.0;
  return mask.reshape(shape);
}

TEST_CASE("comparisons: values in every dtype") {
  for (const DType dtype : {f32, f64, i64}) {
    const Tensor a = tensor({1, 2, 3}, dtype), b = tensor({2, 2, 2}, dtype);
    CHECK((a == b).dtype() == boolean);
    CHECK(values(a == b) == Values{0, 1, 0});
    CHECK(values(a != b) == Values{1, 0, 1});
    CHECK(values(a < b) == Values{1, 0, 0});
    CHECK(values(a <= b) == Values{1, 1, 0});
    CHECK(values(a > b) == Values{0, 0, 1});
    CHECK(values(a >= b) == Values{0, 1, 1});
    CHECK(values(a == 2) == Values{0, 1, 0});
    CHECK(values(a != 2) == Values{1, 0, 1});
    CHECK(values(a < 2.5) == Values{1, 1, 0});
    CHECK(values(a <= 2) == Values{1, 1, 0});
    CHECK(values(a > 1.5) == Values{0, 1, 1});
    CHECK(values(a >= 2) == Values{0, 1, 1});
  }
  const Tensor a = tensor({true, false}), b = tensor({true, true});
  CHECK(values(a == b) == Values{1, 0});
  CHECK(values(a != b) == Values{0, 1});
  CHECK(values(a < b) == Values{0, 1});
  CHECK(values(a == 1) == Values{1, 0});
}

TEST_CASE("comparisons of integers with numbers are exact") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1, top = std::numeric_limits<std::int64_t>::max();
  const Tensor x = tensor({big, top, -3});
  CHECK(values(x == 0x1p53) == Values{0, 0, 0});  // f64 would round 2^53 + 1 to 2^53
  CHECK(values(x > 0x1p53) == Values{1, 1, 0});
  CHECK(values(x < 0x1p63) == Values{1, 1, 1});
  CHECK(values(x >= 0x1p63) == Values{0, 0, 0});
  CHECK(values(x > -kInf) == Values{1, 1, 1});
  CHECK(values(x < -2.5) == Values{0, 0, 1});
  CHECK(values(x != kNan) == Values{1, 1, 1});
  CHECK(values(x < kNan) == Values{0, 0, 0});
}

TEST_CASE("comparisons: NaN equals nothing") {
  const Tensor x = tensor({kNan, 1.0});
  CHECK(values(x == x) == Values{0, 1});
  CHECK(values(x != x) == Values{1, 0});
  CHECK(values(x < kInf) == Values{0, 1});
  CHECK(values(x >= -kInf) == Values{0, 1});
}

TEST_CASE("comparisons: layouts, threads, instruction sets") {
  for (const Shape& shape : odd_shapes()) {
    const auto op = [](const Tensor& a, const Tensor& b) {
      return Tensors{a<b, a >= b, a == b, a> 0, a != 0.5};
    };
    check_op("compare", op, {Input(shape).constant(), Input(shape).constant()}, {.kinks = {0}});
  }
  check_op("lt", [](const Tensor& a, const Tensor& b) { return a < b; },
           {Input({30, 1, 40}).constant(), Input({50, 1}).constant()});
}

TEST_CASE("logic") {
  const Tensor a = tensor({true, true, false, false}), b = tensor({true, false, true, false});
  CHECK(values(a & b) == Values{1, 0, 0, 0});
  CHECK(values(a | b) == Values{1, 1, 1, 0});
  CHECK(values(!a) == Values{0, 0, 1, 1});
  CHECK(values(tensor({{true}, {false}}) & tensor({true, false})) == Values{1, 0, 0, 0});
  CHECK(values(tensor({{true}, {false}}) | tensor({true, false})) == Values{1, 1, 1, 0});
  CHECK((!zeros({0}, boolean)).shape() == Shape{0});
}

TEST_CASE("where") {
  const auto op = [](const Tensor& a, const Tensor& b, const Tensor& c) { return where(c, a, b); };
  for (const Shape& shape : odd_shapes()) check_op("where", op, {shape, shape, Input(pattern(shape))});
  check_op("where", op, {{3, 1}, {4}, Input(pattern({2, 1, 1}))});
  check_op("where", op, {{}, {2, 3}, Input(pattern({3}))});
  check_op("where", op, {{20, 1, 40}, {50, 1}, Input(pattern({40}))});
  CHECK(values(where(tensor({true, false}), tensor({1, 2}), tensor({3, 4}))) == Values{1, 4});
  CHECK(where(tensor({true, false}), tensor({true, true}), tensor({false, false})).dtype() == boolean);
}

TEST_CASE("where: a number takes the tensor's dtype, on either side") {
  check_op("where", [](const Tensor& x, const Tensor& c) { return where(c, x, 1.5); },
           {{2, 3}, Input(pattern({3}))});
  check_op("where", [](const Tensor& x, const Tensor& c) { return where(c, -1, x); },
           {{2, 3}, Input(pattern({3}))});
  const Tensor c = tensor({true, false});
  CHECK(values(where(c, tensor({1, 2}), 7)) == Values{1, 7});
  CHECK(values(where(c, 7, tensor({1, 2}))) == Values{7, 2});
  CHECK(where(c, tensor({1, 2}), 7).dtype() == i64);
  CHECK(where(c, ones({2}, f64), 7).dtype() == f64);
  CHECK(where(c, tensor({1.0, 2.0}), 0).shape() == Shape{2});
  check_error(
      [&] {
        where(c, tensor({1, 2}), 0.5);
      },
      "where: the number 0.5 is not an i64, as the tensor [2] is: convert the tensor with .to(f32)");
  check_error([&] { where(c, Tensor(), 0); },
              "where: the tensor is undefined: assign it first; a grad() is undefined before backward");
  check_error([&] { where(ones({2}), ones({2}), 0); },
              "where: expects bool, got f32 [2]: compare first, as in x != 0");
}

TEST_CASE("comparison: bools have no order relative to numbers") {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const std::string rest =
      ": bools are neither more nor less than a number; write a < b < c as (a < b) & (b < c)";
  check_error([&] { return x > 0 > 1; }, "gt" + rest);
  check_error([&] { return x > 0 >= 1; }, "ge" + rest);
  check_error([&] { return x > 0 < 1; }, "lt" + rest);
  check_error([&] { return x > 0 <= 1; }, "le" + rest);
  CHECK(values((x > 1) == true) == Values{0, 1, 1});
  CHECK(values((x > 1) != 1) == Values{1, 0, 0});
}

TEST_CASE("where: NaN in the branch not taken does not show, forward or backward") {
  Tensor x = tensor({0.0, 4.0}, f64).requires_grad_();
  const Tensor y = where(x > 1, x, full_like(x, kNan));
  CHECK(values(y)[1] == 4);
  const Tensor z = where(x > 1, x * 2, zeros_like(x));
  sum(z).backward();
  CHECK(values(x.grad()) == Values{0, 2});
}

TEST_CASE("masked_fill") {
  const auto op = [](const Tensor& x, const Tensor& mask) { return masked_fill(x, mask, 1.5); };
  for (const Shape& shape : odd_shapes()) check_op("masked_fill", op, {shape, Input(pattern(shape))});
  check_op("masked_fill", op, {{2, 3, 4}, Input(pattern({3, 1}))});
  check_op("masked_fill", op, {{2, 3, 4}, Input(pattern({}))});
  CHECK(values(masked_fill(tensor({1.0, 2.0}), tensor({false, true}), -kInf)) == Values{1, -kInf});
  CHECK(values(masked_fill(tensor({1, 2}), tensor({false, true}), 9)) == Values{1, 9});
}

TEST_CASE("clamp") {
  for (const Shape& shape : odd_shapes())
    check_op("clamp", [](const Tensor& x) { return clamp(x, -1, 0.5); }, {shape}, {.kinks = {-1, 0.5}});
  check_op("clamp", [](const Tensor& x) { return clamp(x, 0, kInf); }, {{3, 5}}, {.kinks = {0}});
  const Tensor x = tensor({-2.0, -1.0, 0.0, 3.0, kNan, kInf});
  const Values y = values(clamp(x, -1, 1));
  CHECK(Values(y.begin(), y.begin() + 4) == Values{-1, -1, 0, 1});
  CHECK(std::isnan(y[4]));
  CHECK(y[5] == 1);
  Tensor edge = tensor({-1.0, 1.0, 2.0}, f64).requires_grad_();
  sum(clamp(edge, -1, 1)).backward();
  CHECK(values(edge.grad()) == Values{1, 1, 0});
}

TEST_CASE("clamp: on one side") {
  const Tensor x = tensor({-2.0, 0.5, kInf, -kInf});
  CHECK(values(clamp(x, 0)) == Values{0, 0.5, kInf, 0});
  CHECK(values(x.clamp({}, 0)) == Values{-2, 0, 0, -kInf});
  CHECK((clamp(tensor({-3, INT64_MAX}), 0) == tensor({std::int64_t{0}, INT64_MAX})).all());
  CHECK(values(clamp(tensor({-3, 5}), {}, 4.5)) == Values{-3, 4});
  for (const Shape& shape : odd_shapes()) {
    check_op("clamp low", [](const Tensor& y) { return clamp(y, -1); }, {shape}, {.kinks = {-1}});
    check_op("clamp high", [](const Tensor& y) { return clamp(y, {}, 1); }, {shape}, {.kinks = {1}});
  }
}

TEST_CASE("isnan, isinf, isfinite: every dtype, every layout") {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = tensor({{1.0, kNan, kInf}, {-kInf, 0.0, -kNan}}, dtype);
    for (const Tensor& y : {x, x.t().contiguous().t()}) {
      CHECK(values(isnan(y)) == Values{0, 1, 0, 0, 0, 1});
      CHECK(values(isinf(y)) == Values{0, 0, 1, 1, 0, 0});
      CHECK(values(isfinite(y)) == Values{1, 0, 0, 0, 1, 0});
    }
    CHECK(isnan(x).dtype() == boolean);
    CHECK(isfinite(full({1}, dtype == f32 ? 3.4028235e38 : 1.7976931348623157e308, dtype)).all());
    CHECK_FALSE(isinf(leaf(ones({2}, dtype))).requires_grad());
  }
  for (const Tensor& x : {tensor({INT64_MAX, INT64_MIN}), tensor({true, false})}) {
    CHECK(values(isnan(x)) == Values{0, 0});
    CHECK(values(isinf(x)) == Values{0, 0});
    CHECK(values(isfinite(x)) == Values{1, 1});
  }
  CHECK(isnan(zeros({0, 2})).shape() == Shape{0, 2});
  const auto tests = [](const Tensor& x) {
    return Tensors{isnan(log(x)).to(f32), isinf(1 / floor(x)).to(f32), isfinite(1 / floor(x)).to(f32)};
  };
  for (const Shape& shape : odd_shapes())
    check_op("isnan", tests, {Input(shape).constant()}, {.kinks = {-1, 0, 1}});
}

TEST_CASE("clamp: integers") {
  const Tensor x = tensor({-5, 0, 5});
  CHECK(clamp(x, -1, 2).dtype() == i64);
  CHECK(values(clamp(x, -1, 2)) == Values{-1, 0, 2});
  CHECK(values(clamp(x, -1.5, 2.5)) == Values{-1, 0, 2});
  CHECK(values(clamp(x, -kInf, 2)) == Values{-5, 0, 2});
  CHECK(values(clamp(x, 0, kInf)) == Values{0, 0, 5});
}

TEST_CASE("choice: errors") {
  const Tensor x = zeros({2, 3}), mask = x > 0, undefined;
  check_error([&] { (void)(x == zeros({4})); },
              "eq: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error([&] { (void)(x < zeros({3}, f64)); },
              "lt: operands have different dtypes: f32 [2, 3] and f64 [3]: convert one with .to()");
  check_error([&] { (void)(undefined > 1); }, "gt" + kUndefined);
  check_error([&] { (void)(x != undefined); },
              "ne: the second operand is undefined: assign it first; a grad() is undefined before backward");
  check_error([&] { !x; }, "operator!: expects bool, got f32 [2, 3]: compare first, as in x != 0");
  check_error([&] { mask& x; }, "operator&: expects bool, got f32 [2, 3]: compare first, as in x != 0");
  check_error(
      [&] {
        tensor({1, 2}) | mask;
      },
      "operator|: expects bool, got i64 [2]: compare first, as in x != 0");
  check_error([&] { mask& zeros({4}, boolean); },
              "operator&: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error([&] { where(x, x, x); }, "where: expects bool, got f32 [2, 3]: compare first, as in x != 0");
  check_error([&] { where(mask, x, tensor({1})); },
              "where: operands have different dtypes: f32 [2, 3] and i64 [1]: convert one with .to()");
  check_error(
      [&] {
        where(mask, x, zeros({2, 2}));
      },
      "where: shapes [2, 3] and [2, 2] do not broadcast: axis -1 has sizes 3 and 2");
  check_error([&] { where(zeros({5}, boolean), x, x); },
              "where: shapes [5] and [2, 3] do not broadcast: axis -1 has sizes 5 and 3");
  check_error([&] { where(undefined, x, x); }, "where" + kUndefined);
  check_error(
      [&] { where(mask, undefined, x); },
      "where: the first operand is undefined: assign it first; a grad() is undefined before backward");
  check_error([&] { masked_fill(x, x, 0); },
              "masked_fill: expects bool, got f32 [2, 3]: compare first, as in x != 0");
  check_error([&] { masked_fill(x, zeros({4}, boolean), 0); },
              "masked_fill: shapes [4] and [2, 3] do not broadcast: axis -1 has sizes 4 and 3");
  check_error(
      [&] {
        masked_fill(x, zeros({5, 2, 3}, boolean), 0);
      },
      "masked_fill: a mask [5, 2, 3] does not broadcast to x [2, 3]");
  check_error(
      [&] {
        masked_fill(tensor({1, 2}), tensor({true}), -kInf);
      },
      "masked_fill: the number -inf is not an i64, as the tensor [2] is: convert the tensor with .to(f32)");
  check_error([&] { masked_fill(undefined, mask, 0); }, "masked_fill" + kUndefined);
  check_error([&] { clamp(x, 2, 1); }, "clamp: expects low <= high, got 2 and 1");
  check_error([&] { clamp(x, kNan, 1); }, "clamp: expects low <= high, got nan and 1");
  check_error([&] { clamp(mask, 0, 1); },
              "clamp: expects f32 or f64, got bool [2, 3]: convert with .to(f32)");
  check_error([&] { clamp(undefined, 0, 1); }, "clamp" + kUndefined);
  check_error([&] { clamp(x, {}); }, "clamp: expects a bound, low or high, for the tensor [2, 3]");
  check_error([&] { clamp(x, {}, kNan); }, "clamp: expects low <= high, got -inf and nan");
  check_error([&] { isnan(undefined); }, "isnan" + kUndefined);
  check_error([&] { isinf(undefined); }, "isinf" + kUndefined);
  check_error([&] { isfinite(undefined); }, "isfinite" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
