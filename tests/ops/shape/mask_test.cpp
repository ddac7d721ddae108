#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::kUndefined;
using gradus::test::odd_shapes;
using gradus::test::Values;

namespace {
using Values = std::vector<double>;
}

TEST_CASE("tril and triu keep one side of a diagonal") {
  const Tensor x = full({3, 4}, 1.0);
  CHECK(tril(x).to_vector<double>() == Values{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0});
  CHECK(tril(x, 1).to_vector<double>() == Values{1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1});
  CHECK(tril(x, -2).to_vector<double>() == Values{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
  CHECK(triu(x).to_vector<double>() == Values{1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1});
  CHECK(triu(x, 2).to_vector<double>() == Values{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0});
  CHECK(triu(x, -1).to_vector<double>() == Values{1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1});
  CHECK(tril(full({2, 2, 2}, 1.0)).to_vector<double>() == Values{1, 0, 1, 1, 1, 0, 1, 1});
  for (const std::int64_t far : {std::int64_t{4}, INT64_MAX}) {
    CHECK(tril(x, far).to_vector<double>() == Values(12, 1));
    CHECK(triu(x, far).to_vector<double>() == Values(12, 0));
    CHECK(tril(x, -far).to_vector<double>() == Values(12, 0));
    CHECK(triu(x, -far).to_vector<double>() == Values(12, 1));
  }
  CHECK(tril(full({2, 2}, 1, boolean)).to_vector<bool>() == std::vector<bool>{true, false, true, true});
  // What lies outside is 0 whatever it was: also NaN.
  CHECK(triu(full({2, 2}, NAN), 3).to_vector<double>() == Values(4, 0));
}

TEST_CASE("one_hot marks the class") {
  const Tensor y = one_hot(tensor({{1, 0}, {2, 1}}), 3);
  CHECK(y.shape() == Shape{2, 2, 3});
  CHECK(y.dtype() == i64);
  CHECK(y.to_vector<double>() == Values{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0});
  CHECK(one_hot(tensor(1), 2).to_vector<double>() == Values{0, 1});
  CHECK(one_hot(zeros({0}, i64), 4).shape() == Shape{0, 4});
}

TEST_CASE("gradients of triangles") {
  for (const Shape& shape : odd_shapes()) {
    if (shape.size() < 2) continue;
    check_op("tril", [](const Tensor& x) { return tril(x); }, {shape});
    check_op("triu", [](const Tensor& x) { return triu(x, 1); }, {shape});
  }
  check_op("tril", [](const Tensor& x) { return tril(x, -1); }, {{2, 3, 4}});
  check_op("triu", [](const Tensor& x) { return triu(x, -1); }, {{5, 3}});
  check_op("tril", [](const Tensor& x) { return tril(x, 2); }, {{300, 200}});
}

TEST_CASE("masks: errors") {
  check_error([] { tril(zeros({3})); }, "tril: expects 2 axes or more, got [3]");
  check_error([] { triu(tensor(1.0)); }, "triu: expects 2 axes or more, got []");
  check_error([] { triu(Tensor()); }, "triu" + kUndefined);
  check_error([] { one_hot(tensor({0, 3}), 3); }, "one_hot: index 3 in [2] is out of range: expects 0 to 2");
  check_error([] { one_hot(tensor({-1}), 3); }, "one_hot: index -1 in [1] is out of range: expects 0 to 2");
  check_error([] { one_hot(tensor({0}), 0); }, "one_hot: expects 1 class or more, got 0");
  check_error([] { one_hot(tensor({1.0}), 2); },
              "one_hot: expects an i64 index, got f32 [1]: convert with .to(i64)");
}
