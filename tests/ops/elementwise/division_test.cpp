#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

TEST_CASE("floor_divide, remainder: gradients, layouts, threads, instruction sets") {
  // Quotients stay between two whole numbers: at these both ops jump.
  const auto quotients = [](const Tensor& x, const Tensor& y) { return floor_divide(x * 0.4 + y * 2.5, y); };
  const auto rest = [](const Tensor& x, const Tensor& y) { return remainder(x * 0.4 + y * 2.5, y); };
  for (const Shape& shape : odd_shapes()) {
    const Input x = Input(shape).between(-1, 1), y = Input(shape).between(1, 2);
    check_op("floor_divide", quotients, {x, y});
    check_op("remainder", rest, {x, y});
    check_op("remainder number", [](const Tensor& a) { return remainder(a, 3); },
             {Input(shape).between(-2.9, 2.9)}, {.kinks = {0}});
    check_op("floor_divide number", [](const Tensor& a) { return floor_divide(a, 3); },
             {Input(shape).between(-2.9, 2.9)}, {.kinks = {0}});
  }
  check_op("remainder", rest, {{3, 4}, Input({4}).between(1, 2)});
  check_op("remainder", rest, {Input({4}).between(-1, 1), Input({3, 1}).between(1, 2)});
  check_op("operator%", [](const Tensor& x, const Tensor& y) { return x % (y + 5); },
           {Input({3}).between(0.1, 2), Input({3})});
}

TEST_CASE("floor_divide, remainder: integers round down, the rest has the divisor's sign") {
  const Tensor a = tensor({7, -7, 7, -7, 6, -6, 0}), b = tensor({3, 3, -3, -3, 3, 3, -3});
  CHECK(values(floor_divide(a, b)) == Values{2, -3, -3, 2, 2, -2, 0});
  CHECK(values(remainder(a, b)) == Values{1, 2, -2, -1, 0, 0, 0});
  CHECK(values(a % 4) == Values{3, 1, 3, 1, 2, 2, 0});
  CHECK(values(a % b) == values(remainder(a, b)));
  CHECK(values(floor_divide(a, -2)) == Values{-4, 3, -4, 3, -3, 3, 0});
  CHECK(floor_divide(a, b).dtype() == i64);
  CHECK((floor_divide(a, b) * b + a % b == a).all());
  // By -1 the processor would trap; in two's complement the quotient wraps around.
  const Tensor least = full({1}, INT64_MIN, i64), minus = full({1}, -1, i64);
  CHECK(floor_divide(least, minus).item<std::int64_t>() == INT64_MIN);
  CHECK((least % minus).item() == 0);
  CHECK(floor_divide(least, -1).item<std::int64_t>() == INT64_MIN);
  CHECK(floor_divide(full({1}, INT64_MAX, i64), 2).item<std::int64_t>() == INT64_MAX / 2);
  CHECK((zeros({0}, i64) % 0).shape() == Shape{0});
}

TEST_CASE_TEMPLATE("floor_divide, remainder: floats, infinities and zeros as in PyTorch", T, float, double) {
  const T inf = std::numeric_limits<T>::infinity();
  const std::vector<T> a = {7, -7, 7, -7, 1, -1, 0, 5, -5, T(-0.0), T(0.3), inf};
  const std::vector<T> b = {3, 3, -3, -3, 0, 0, 0, inf, inf, 3, T(0.1), 3};
  const Tensor x = from_vector(a, {12}), y = from_vector(b, {12});
  const std::vector<T> q = floor_divide(x, y).to_vector<T>(), r = remainder(x, y).to_vector<T>();
  CHECK(std::vector<T>(q.begin(), q.begin() + 6) == std::vector<T>{2, -3, -3, 2, inf, -inf});
  CHECK(std::isnan(q[6]));
  CHECK(q[7] == 0);
  CHECK(q[8] == -1);
  CHECK((q[9] == 0 && std::signbit(q[9])));
  CHECK(q[10] == (sizeof(T) == 4 ? 3 : 2));  // 0.3f is above three times 0.1f, 0.3 below
  CHECK(std::vector<T>(r.begin(), r.begin() + 4) == std::vector<T>{1, 2, -2, -1});
  for (const std::size_t i : std::initializer_list<std::size_t>{4, 5, 6, 11}) CHECK(std::isnan(r[i]));
  CHECK(r[7] == 5);
  CHECK(r[8] == inf);
  CHECK(r[9] == 0);
}

TEST_CASE("remainder: gradients, also where the divisor repeats") {
  const Tensor a = leaf(tensor({7.0, -7.0}, f64)), b = leaf(tensor(3.0, f64));
  sum(remainder(a, b) * tensor({1.0, 10.0}, f64)).backward();
  CHECK(values(a.grad()) == Values{1, 10});
  CHECK(b.grad().item() == -2 + 30);
  a.zero_grad();
  sum(floor_divide(a, b)).backward();
  CHECK(values(a.grad()) == Values{0, 0});
}

TEST_CASE("floor_divide, remainder: errors") {
  const Tensor n = tensor({1, 2, 3}), zero = tensor({1, 0, 2}), x = zeros({2, 3}), undefined;
  const std::string by_zero = ": division of an i64 [3] by zero: convert with .to(f32) to get inf or NaN";
  check_error([&] { floor_divide(n, zero); }, "floor_divide" + by_zero);
  check_error([&] { floor_divide(n, 0); }, "floor_divide" + by_zero);
  check_error([&] { remainder(n, zero); }, "remainder" + by_zero);
  check_error([&] { n % 0; }, "remainder" + by_zero);
  check_error(
      [&] { n % 0.5; },
      "remainder: the number 0.5 is not an i64, as the tensor [3] is: convert the tensor with .to(f32)");
  check_error([&] { x % n; },
              "remainder: operands have different dtypes: f32 [2, 3] and i64 [3]: convert one with .to()");
  check_error([&] { floor_divide(x, zeros({2})); },
              "floor_divide: shapes [2, 3] and [2] do not broadcast: axis -1 has sizes 3 and 2");
  check_error([&] { floor_divide(x > 0, x > 0); },
              "floor_divide: expects numbers, got bool [2, 3]: convert with .to(f32)");
  check_error([&] { floor_divide(undefined, 2); }, "floor_divide" + kUndefined);
  check_error([&] { remainder(undefined, x); }, "remainder" + kUndefined);
  check_error(
      [&] { x % undefined; },
      "remainder: the second operand is undefined: assign it first; a grad() is undefined before backward");
}

}  // namespace
}  // namespace gradus::test
