#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::counting;
using gradus::test::kUndefined;
using gradus::test::leaf;
using gradus::test::Values;

namespace {

Tensor indices_below(std::int64_t bound, const Shape& shape) {
  Generator generator(11);
  return randint(0, bound, shape, generator);
}

}  // namespace

TEST_CASE("scatter puts values at indices, the last if they repeat") {
  const Tensor x = zeros({2, 3});
  CHECK(scatter(x, 1, tensor({{2, 0}, {1, 1}}), tensor({{1.0, 2.0}, {3.0, 4.0}})).to_vector<double>() ==
        Values{2, 0, 1, 0, 4, 0});
  CHECK(scatter(x, 0, tensor({{1, 0}}), 7).to_vector<double>() == Values{0, 7, 0, 7, 0, 0});
  CHECK(scatter(arange(3), 0, tensor({2, 0}), tensor({5, 6})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{6, 1, 5});
  CHECK(scatter(zeros({3}, boolean), -1, tensor({1}), true).to_vector<bool>() ==
        std::vector<bool>{false, true, false});
  CHECK(scatter(ones({2}), 0, zeros({0}, i64), zeros({0})).to_vector<double>() == Values{1, 1});
  CHECK(x.to_vector<double>() == Values(6, 0.0));  // in none of these was x changed
}

TEST_CASE("scatter equals its definition on every axis") {
  const Tensor x = counting({3, 4, 5}, f64), source = -counting({3, 4, 5}, f64) - 1;
  for (int axis = 0; axis < 3; ++axis) {
    const Tensor index = indices_below(3, {3, 4, 5});
    const Tensor want = x.clone();
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        for (std::int64_t k = 0; k < 5; ++k) {
          Dims to = {i, j, k};
          to[axis] = index[i][j][k].item<std::int64_t>();
          want[to[0]][to[1]][to[2]] = source[i][j][k];
        }
    CHECK(scatter(x, axis, index, source).to_vector<double>() == want.to_vector<double>());
  }
}

TEST_CASE("overwritten elements have no gradient") {
  const Tensor x = leaf(zeros({3})), source = leaf(tensor({1.0, 2.0, 3.0}));
  scatter(x, 0, tensor({2, 0, 2}), source).backward(tensor({1.0, 10.0, 100.0}));
  CHECK(x.grad().to_vector<double>() == Values{0, 10, 0});
  CHECK(source.grad().to_vector<double>() == Values{0, 1, 100});
}

TEST_CASE("index_add adds rows") {
  const Tensor x = ones({3, 2});
  CHECK(index_add(x, 0, tensor({2, 0, 2}), counting({3, 2})).to_vector<double>() == Values{3, 4, 1, 1, 5, 7});
  CHECK(index_add(x, 1, tensor({1}), tensor({{1.0}, {2.0}, {3.0}})).to_vector<double>() ==
        Values{1, 2, 1, 3, 1, 4});
  CHECK(index_add(arange(2), 0, tensor({1, 1}), tensor({5, 6})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, 12});
  CHECK(index_add(x, 0, zeros({0}, i64), zeros({0, 2})).to_vector<double>() == Values(6, 1.0));
  // In the order of the index: 1e8 + 1 is 1e8 in f32, so another order would give another sum.
  CHECK(index_add(zeros({1}), 0, zeros({3}, i64), tensor({1e8, 1.0, -1e8})).item() == 0);
}

TEST_CASE("gradients of putting by index") {
  using test::Input;
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const auto put = [axis](const Tensor& x, const Tensor& index, const Tensor& source) {
      return scatter(x, axis, index, source);
    };
    check_op("scatter", put, {{3, 4, 2}, indices_below(2, {3, 4, 2}), {3, 4, 2}});
    check_op("scatter", put, {{3, 4, 2}, indices_below(2, {2, 1, 2}), {2, 1, 2}});
    const auto add = [axis](const Tensor& x, const Tensor& index, const Tensor& source) {
      return index_add(x, axis, index, source);
    };
    Shape rows = {3, 4, 2};
    rows[static_cast<int>(axis)] = 5;
    check_op("index_add", add, {{3, 4, 2}, indices_below(2, {5}), rows});
    check_op("index_add", add, {{3, 4, 2}, zeros({0}, i64), [&] {
                                  rows[static_cast<int>(axis)] = 0;
                                  return Input(rows);
                                }()});
  }
  const auto put = [](const Tensor& x, const Tensor& index, const Tensor& source) {
    return scatter(x, -1, index, source);
  };
  check_op("scatter", put, {{300, 200}, indices_below(200, {300, 90}), {300, 90}});
  check_op("scatter", put, {{4}, zeros({0}, i64), {0}});
  check_op("scatter", put, {{1}, zeros({20000}, i64), {20000}});
  check_op("scatter a number", [](const Tensor& x, const Tensor& index) { return scatter(x, 0, index, 1.5); },
           {{4, 3}, indices_below(4, {2, 3})});
  const auto add = [](const Tensor& x, const Tensor& index, const Tensor& source) {
    return index_add(x, 0, index, source);
  };
  check_op("index_add", add, {{300, 200}, indices_below(300, {500}), {500, 200}});
}

TEST_CASE("scatter and index_add: errors") {
  const Tensor x = zeros({2, 3}), index = zeros({2, 3}, i64);
  check_error(
      [&] {
        scatter(x, 1, full({2, 3}, 3, i64), x);
      },
      "scatter: index 3 at [0, 0] is out of range for axis 1 of [2, 3]: expects 0 to 2");
  check_error(
      [&] {
        scatter(x, 1, full({2, 3}, -1, i64), 0);
      },
      "scatter: index -1 at [0, 0] is out of range for axis 1 of [2, 3]: expects 0 to 2");
  check_error(
      [&] {
        scatter(x, 0, index, zeros({2, 2}));
      },
      "scatter: index [2, 3] and source [2, 2] must have the same shape");
  check_error(
      [&] {
        scatter(x, 0, index, zeros({2, 3}, f64));
      },
      "scatter: x and source have different dtypes: f32 [2, 3] and f64 [2, 3]: convert one with .to()");
  check_error([&] { scatter(x, 0, x, 1); },
              "scatter: expects an i64 index, got f32 [2, 3]: convert with .to(i64)");
  check_error([&] { scatter(x, 0, zeros({1}, i64), 1); },
              "scatter: x [2, 3] and index [1] must have the same number of axes");
  check_error(
      [&] { scatter(arange(3), 0, tensor({0}), 0.5); },
      "scatter: the number 0.5 is not an i64, as the tensor [3] is: convert the tensor with .to(f32)");
  check_error([&] { scatter(Tensor(), 0, index, x); }, "scatter" + kUndefined);
  check_error(
      [&] {
        index_add(x, 0, tensor({0}), zeros({2, 3}));
      },
      "index_add: expects a source [1, 3], as x [2, 3] with the 1 rows of the index, got [2, 3]");
  check_error(
      [&] {
        index_add(x, 0, tensor({2}), zeros({1, 3}));
      },
      "index_add: index 2 at [0] is out of range for axis 0 of [2, 3]: expects 0 to 1");
  check_error([&] { index_add(x, 0, index, x); }, "index_add: expects a 1-d index, got [2, 3]");
  check_error([&] { index_add(x, 2, tensor({0}), x); },
              "index_add: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { index_add(zeros({1}, boolean), 0, tensor({0}), zeros({1}, boolean)); },
              "index_add: expects numbers, got bool [1]: convert with .to(f32)");
  check_error([&] { index_add(x, 0, tensor({0}), Tensor()); }, "index_add" + kUndefined);
}
