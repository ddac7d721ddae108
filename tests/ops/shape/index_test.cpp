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
using gradus::test::Values;

namespace {

Tensor indices(std::int64_t bound, const Shape& shape) {
  Generator generator(7);
  return randint(0, bound, shape, generator);
}

}  // namespace

TEST_CASE("gather picks along an axis") {
  const Tensor x = counting({2, 3});
  CHECK(gather(x, 1, tensor({{2, 0}, {1, 1}})).to_vector<double>() == Values{2, 0, 4, 4});
  CHECK(gather(x, -2, tensor({{1, 0, 1}})).to_vector<double>() == Values{3, 1, 5});
  // Axes other than the gathered one may be shorter than x's.
  CHECK(gather(x, 1, tensor({{2, 2, 2, 2}})).to_vector<double>() == Values{2, 2, 2, 2});
  CHECK(gather(counting({2, 3}, i64), 0, tensor({{1, 1, 0}})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{3, 4, 2});
  CHECK(gather(tensor({true, false}), 0, tensor({1, 0, 1})).to_vector<bool>() ==
        std::vector<bool>{false, true, false});
  CHECK(gather(x, 1, zeros({2, 0}, i64)).shape() == Shape{2, 0});
}

TEST_CASE("gather equals its definition on every axis and layout") {
  const Tensor x = counting({3, 4, 5}, f64);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    Shape shape = {3, 4, 5};
    shape[static_cast<int>(axis)] = 2;
    const Tensor index = indices(3, shape);
    const Tensor y = gather(permute(permute(x, {2, 0, 1}).contiguous(), {1, 2, 0}), axis, index);
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < shape[1]; ++j)
        for (std::int64_t k = 0; k < shape[2]; ++k) {
          Dims from = {i, j, k};
          from[static_cast<int>(axis)] = static_cast<std::int64_t>(index.array().at({i, j, k}));
          CHECK(y.array().at({i, j, k}) == x.array().at(from));
        }
  }
}

TEST_CASE("scatter_add adds repeated indices up") {
  const Tensor y =
      scatter_add(full({2, 3}, 10.0), 1, tensor({{0, 0}, {2, 1}}), tensor({{1.0, 2.0}, {3.0, 4.0}}));
  CHECK(y.to_vector<double>() == Values{13, 10, 10, 10, 14, 13});
  CHECK(scatter_add(tensor({1, 1}), 0, tensor({1, 1, 1}), tensor({5, 6, 7})).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{1, 19});
  CHECK(scatter_add(zeros({2}), 0, zeros({0}, i64), zeros({0})).to_vector<double>() == Values{0, 0});
  // In the order of the index: 1e8 + 1 is 1e8 in f32, so another order would give another sum.
  const Tensor sum = scatter_add(zeros({1}), 0, zeros({3}, i64), tensor({1e8, 1.0, -1e8}));
  CHECK(sum.item() == 0);
}

TEST_CASE("index_select and embedding take rows") {
  const Tensor x = counting({3, 2});
  CHECK(index_select(x, 0, tensor({2, 0, 2})).to_vector<double>() == Values{4, 5, 0, 1, 4, 5});
  CHECK(index_select(x, -1, tensor({1})).to_vector<double>() == Values{1, 3, 5});
  CHECK(index_select(transpose(x, 0, 1), 1, tensor({1, 0})).to_vector<double>() == Values{2, 0, 3, 1});
  CHECK(index_select(x, 0, zeros({0}, i64)).shape() == Shape{0, 2});
  const Tensor ids = tensor({{1, 0}, {2, 2}});
  CHECK(embedding(ids, x).shape() == Shape{2, 2, 2});
  CHECK(embedding(ids, x).to_vector<double>() == Values{2, 3, 0, 1, 4, 5, 4, 5});
  CHECK(embedding(transpose(ids, 0, 1), x).to_vector<double>() == Values{2, 3, 4, 5, 0, 1, 4, 5});
  CHECK(embedding(tensor(1), x).to_vector<double>() == Values{2, 3});
  CHECK(embedding(zeros({2, 0}, i64), x).shape() == Shape{2, 0, 2});
  CHECK(embedding(tensor({0}), zeros({1, 0})).shape() == Shape{1, 0});
}

TEST_CASE("a repeated id accumulates all its gradients") {
  Tensor weight = zeros({3, 2});
  weight.requires_grad_();
  embedding(tensor({2, 0, 2}), weight).backward(tensor({{1.0, 2.0}, {10.0, 20.0}, {100.0, 200.0}}));
  CHECK(weight.grad().to_vector<double>() == Values{10, 20, 0, 0, 101, 202});
}

TEST_CASE("gradients of picking by index") {
  const auto with = [](const Tensor& index, auto op) {
    return [=](const Tensor& x) { return op(x, index); };
  };
  const auto gather0 = [](const Tensor& x, const Tensor& index) { return gather(x, 0, index); };
  const auto gather_last = [](const Tensor& x, const Tensor& index) { return gather(x, -1, index); };
  check_op("gather", with(indices(4, {5, 3}), gather0), {{4, 3}});
  check_op("gather", with(indices(4, {2, 3, 6}), gather_last), {{2, 5, 4}});
  check_op("gather", gather_last, {{300, 200}, indices(200, {300, 50})});
  check_op("gather", gather0, {{300, 200}, indices(300, {500, 200})});
  check_op("gather", gather0, {{4}, zeros({0}, i64)});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const auto scatter = [axis](const Tensor& x, const Tensor& index, const Tensor& source) {
      return scatter_add(x, axis, index, source);
    };
    check_op("scatter_add", scatter, {{2, 3, 4}, indices(2, {2, 3, 4}), {2, 3, 4}});
  }
  const auto scatter0 = [](const Tensor& x, const Tensor& index, const Tensor& source) {
    return scatter_add(x, 0, index, source);
  };
  check_op("scatter_add", scatter0, {{100, 40}, indices(100, {900, 40}), {900, 40}});
  check_op("scatter_add", scatter0, {{3}, indices(3, {20000}), {20000}});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const auto pick = [axis](const Tensor& x, const Tensor& index) { return index_select(x, axis, index); };
    check_op("index_select", pick, {{2, 3, 4}, indices(2, {5})});
  }
  const auto look_up = [](const Tensor& ids, const Tensor& weight) { return embedding(ids, weight); };
  check_op("embedding", look_up, {indices(5, {2, 3}), {5, 4}});
  check_op("embedding", look_up, {indices(50, {30, 20}), {50, 130}});
  check_op("embedding", look_up, {zeros({0}, i64), {2, 3}});
  check_op("embedding", look_up, {test::Input(tensor(1)), {2, 1}});
}

TEST_CASE("gather and scatter_add: errors") {
  const Tensor x = zeros({2, 3}), none;
  check_error(
      [&] {
        gather(x, 1, tensor({{0, 3}}));
      },
      "gather: index 3 at [0, 1] is out of range for axis 1 of [2, 3]: expects 0 to 2");
  check_error(
      [&] {
        gather(x, 1, tensor({{0}, {-1}}));
      },
      "gather: index -1 at [1, 0] is out of range for axis 1 of [2, 3]: expects 0 to 2");
  check_error([&] { gather(x, 0, tensor({0})); },
              "gather: x [2, 3] and index [1] must have the same number of axes");
  check_error(
      [&] {
        gather(x, 0, zeros({1, 4}, i64));
      },
      "gather: index [1, 4] does not fit into x [2, 3]: axis 1 is longer than x's");
  check_error(
      [&] {
        gather(x, 0, zeros({1, 3}));
      },
      "gather: expects an i64 index, got f32 [1, 3]: convert with .to(i64)");
  check_error(
      [&] {
        gather(x, 2, zeros({1, 3}, i64));
      },
      "gather: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { gather(x, 0, none); },
              "gather: the index is undefined: assign it first; a grad() is undefined before backward");
  const Tensor index = zeros({2, 3}, i64);
  check_error(
      [&] {
        scatter_add(x, 0, full({2, 3}, 2, i64), x);
      },
      "scatter_add: index 2 at [0, 0] is out of range for axis 0 of [2, 3]: expects 0 to 1");
  check_error(
      [&] {
        scatter_add(x, 0, index, zeros({2, 2}));
      },
      "scatter_add: index [2, 3] and source [2, 2] must have the same shape");
  check_error(
      [&] {
        scatter_add(x, 0, index, zeros({2, 3}, f64));
      },
      "scatter_add: x and source have different dtypes: f32 [2, 3] and f64 [2, 3]: convert one with .to()");
  check_error(
      [&] {
        scatter_add(zeros({2, 3}, boolean), 0, index, zeros({2, 3}, boolean));
      },
      "scatter_add: expects numbers, got bool [2, 3]: convert with .to(f32)");
  check_error([&] { scatter_add(none, 0, index, x); }, "scatter_add" + kUndefined);
}

TEST_CASE("index_select and embedding: errors") {
  const Tensor x = zeros({4, 3});
  check_error(
      [&] {
        index_select(x, 0, tensor({1, 4}));
      },
      "index_select: index 4 at [1] is out of range for axis 0 of [4, 3]: expects 0 to 3");
  check_error([&] { index_select(x, 0, tensor({{1}})); }, "index_select: expects a 1-d index, got [1, 1]");
  check_error([&] { index_select(x, 0, tensor({1.0})); },
              "index_select: expects an i64 index, got f32 [1]: convert with .to(i64)");
  check_error([&] { index_select(x, -3, tensor({1})); },
              "index_select: axis -3 is out of range for 2 axes: expects -2 to 1");
  check_error(
      [&] {
        embedding(tensor({{0, 65}}), x);
      },
      "embedding: index 65 at [0, 1] is out of range for axis 0 of [4, 3]: expects 0 to 3");
  check_error([&] { embedding(tensor({-1}), x); },
              "embedding: index -1 at [0] is out of range for axis 0 of [4, 3]: expects 0 to 3");
  check_error([&] { embedding(x, tensor({1})); },
              "embedding: expects an i64 index, got f32 [4, 3]: convert with .to(i64)");
  check_error([&] { embedding(tensor({1}), zeros({4})); }, "embedding: expects a weight [V, C], got [4]");
  check_error(
      [&] {
        embedding(tensor({0}), zeros({0, 3}));
      },
      "embedding: index 0 at [0] is out of range for axis 0 of [0, 3]: expects no index");
}

TEST_CASE("an index changed before backward is an error") {
  Tensor x = zeros({3});
  x.requires_grad_();
  const Tensor index = tensor({0, 1});
  const Tensor y = gather(x, 0, index);
  index.fill_(2);
  check_error(
      [&] { y.backward(zeros({2})); },
      "gather backward: the i64 [2] it saved was changed in place after the forward pass: change it before "
      "the forward pass or after backward, or work on a clone()");
}
