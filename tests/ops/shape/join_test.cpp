#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::counting;
using gradus::test::kUndefined;
using gradus::test::odd_shapes;
using gradus::test::Tensors;
using gradus::test::Values;

namespace {

std::vector<Shape> shapes(const std::vector<Tensor>& xs) {
  std::vector<Shape> result;
  for (const Tensor& x : xs) result.push_back(x.shape());
  return result;
}

}  // namespace

TEST_CASE("cat and stack join tensors") {
  const Tensor a = counting({2, 2}), b = counting({2, 1});
  CHECK(cat({a, b}, 1).to_vector<double>() == Values{0, 1, 0, 2, 3, 1});
  CHECK(cat({a, transpose(a, 0, 1)}).to_vector<double>() == Values{0, 1, 2, 3, 0, 2, 1, 3});
  CHECK(cat({zeros({0, 2}), a}, -2).to_vector<double>() == Values{0, 1, 2, 3});
  CHECK(stack({a, a}, 0).shape() == Shape{2, 2, 2});
  CHECK(stack({a, flip(a, {})}, -1).to_vector<double>() == Values{0, 3, 1, 2, 2, 1, 3, 0});
  CHECK(stack({tensor(1.0), tensor(2.0)}).to_vector<double>() == Values{1, 2});
  CHECK(cat({tensor({1, 2}), tensor({3})}).dtype() == i64);
  CHECK(cat({tensor({true}), tensor({false})}).to_vector<bool>() == std::vector<bool>{true, false});
}

TEST_CASE("split and chunk cut into views") {
  const Tensor x = counting({5, 2});
  CHECK(shapes(split(x, 2)) == std::vector<Shape>{{2, 2}, {2, 2}, {1, 2}});
  CHECK(shapes(split(x, 100)) == std::vector<Shape>{{5, 2}});
  CHECK(shapes(split(x, {1, 0, 4}, 0)) == std::vector<Shape>{{1, 2}, {0, 2}, {4, 2}});
  CHECK(split(x, {1, 4}, 0)[1].to_vector<double>() == Values{2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(split(x, 2)[1].array().storage() == x.array().storage());
  CHECK(shapes(chunk(x, 2)) == std::vector<Shape>{{3, 2}, {2, 2}});
  CHECK(shapes(chunk(x, 4)) == std::vector<Shape>{{2, 2}, {2, 2}, {1, 2}});  // as PyTorch: pieces of 2
  CHECK(shapes(chunk(x, 9, -1)) == std::vector<Shape>{{5, 1}, {5, 1}});
  CHECK(shapes(split(zeros({0, 2}), 3)) == std::vector<Shape>{{0, 2}});
  CHECK(shapes(chunk(zeros({0, 2}), 3)) == std::vector<Shape>{{0, 2}, {0, 2}, {0, 2}});
  CHECK(split(zeros({0}), std::vector<std::int64_t>{}).empty());
}

TEST_CASE("unbind gives the parts along an axis as views") {
  const Tensor x = counting({2, 3});
  CHECK(shapes(unbind(x)) == std::vector<Shape>{{3}, {3}});
  CHECK(shapes(unbind(x, -1)) == std::vector<Shape>{{2}, {2}, {2}});
  CHECK(unbind(x, 1)[2].to_vector<double>() == Values{2, 5});
  CHECK(unbind(x)[1].array().storage() == x.array().storage());
  CHECK(unbind(zeros({0, 3})).empty());
  CHECK(shapes(unbind(zeros({2, 0}))) == std::vector<Shape>{{0}, {0}});
  unbind(x)[0].fill_(7);
  CHECK(x.to_vector<double>() == Values{7, 7, 7, 3, 4, 5});
}

TEST_CASE("flip and roll reorder") {
  const Tensor x = counting({2, 3});
  CHECK(flip(x, 1).to_vector<double>() == Values{2, 1, 0, 5, 4, 3});
  CHECK(flip(x, {0, -1}).to_vector<double>() == Values{5, 4, 3, 2, 1, 0});
  CHECK(flip(transpose(x, 0, 1), 0).to_vector<double>() == Values{2, 5, 1, 4, 0, 3});
  CHECK(flip(zeros({0, 2}), 0).shape() == Shape{0, 2});
  CHECK(roll(x, 1, 1).to_vector<double>() == Values{2, 0, 1, 5, 3, 4});
  CHECK(roll(x, -4, 1).to_vector<double>() == Values{1, 2, 0, 4, 5, 3});
  CHECK(roll(x, INT64_MIN, 0).to_vector<double>() == x.to_vector<double>());
  CHECK(roll(zeros({0, 2}), 3, 0).shape() == Shape{0, 2});
}

TEST_CASE("gradients of joins and cuts") {
  for (const Shape& shape : odd_shapes()) {
    check_op("stack", [](const Tensor& a, const Tensor& b) { return stack({a, b, a}, -1); }, {shape, shape});
    if (shape.empty()) continue;
    check_op("cat", [](const Tensor& a, const Tensor& b) { return cat({a, b, a}, 0); }, {shape, shape});
    check_op("flip", [](const Tensor& x) { return flip(x, {0}); }, {shape});
    check_op("roll", [](const Tensor& x) { return roll(x, 2, -1); }, {shape});
    check_op("split", [](const Tensor& x) -> Tensors { return split(x, 2, -1); }, {shape});
    check_op("chunk", [](const Tensor& x) -> Tensors { return chunk(x, 3, 0); }, {shape});
    if (shape[0] > 0 && shape[0] < 10)
      check_op("unbind", [](const Tensor& x) -> Tensors { return unbind(x, 0); }, {shape});
  }
  check_op("cat",
           [](const Tensor& a, const Tensor& b, const Tensor& c) {
             return cat({a, b, c}, 1);
           },
           {{2, 3, 2}, {2, 0, 2}, {2, 1, 2}});
  check_op("split", [](const Tensor& x) -> Tensors { return split(x, {1, 3, 0}, 1); }, {{2, 4}});
  check_op("flip", [](const Tensor& x) { return flip(x, {0, 2}); }, {{2, 3, 4}});
}

TEST_CASE("pieces of nothing, and nothing joined") {
  const Tensor none = zeros({2, 0}).requires_grad_();
  const std::vector<Tensor> three = chunk(none, 3, 1);
  REQUIRE(three.size() == 3);
  for (const Tensor& piece : three) CHECK(piece.shape() == Shape{2, 0});
  CHECK(split(none, 4, 1).size() == 1);
  CHECK(split(none, {0, 0}, 1).size() == 2);
  const Tensor joined = cat(three, 1), stacked = stack(three);
  CHECK(joined.shape() == Shape{2, 0});
  CHECK(stacked.shape() == Shape{3, 2, 0});
  CHECK(cat({none, ones({2, 2}), none}, 1).to_vector<double>() == Values(4, 1));
  (joined.sum() + stacked.sum()).backward();
  CHECK(none.grad().shape() == Shape{2, 0});
  check_error([&] { chunk(none, std::int64_t{1} << 40, 1); },
              "chunk: expects at most 1048576 pieces of an empty axis, got 1099511627776");
}

TEST_CASE("split takes one size, or a list of them, even of one") {
  const Tensor x = arange(4);
  CHECK(split(x, 2).size() == 2);
  CHECK(split(x, {4}).size() == 1);
  check_error([&] { split(x, {2}); }, "split: sizes [2] add up to 2, but axis 0 of [4] has 4");
}

TEST_CASE("an unused piece leaves zeros in the gradient") {
  Tensor x = ones({4});
  x.requires_grad_();
  split(x, 2)[1].backward(full({2}, 3.0));
  CHECK(x.grad().to_vector<double>() == Values{0, 0, 3, 3});
}

TEST_CASE("joins: errors") {
  const Tensor x = zeros({2, 3}), none;
  check_error([&] { cat({}); }, "cat: expects one tensor or more, got none");
  check_error([&] { cat({x, none}); }, "cat" + kUndefined);
  check_error(
      [&] {
        cat({x, zeros({3, 2})}, 0);
      },
      "cat: number 1 is [3, 2], expects the sizes of number 0 [2, 3] except along axis 0");
  check_error(
      [&] {
        cat({x, x, zeros({2, 3, 1})}, -1);
      },
      "cat: number 2 is [2, 3, 1], expects the sizes of number 0 [2, 3] except along axis 1");
  check_error(
      [&] {
        cat({x, zeros({2, 3}, f64)});
      },
      "cat: tensors 0 and 1 have different dtypes: f32 [2, 3] and f64 [2, 3]: convert one with .to()");
  check_error([&] { cat({tensor(1.0)}); }, "cat: axis 0 does not exist: the tensor has 0 axes");
  check_error([&] { stack({}); }, "stack: expects one tensor or more, got none");
  check_error([&] { stack({x, zeros({2, 1})}); }, "stack: number 1 is [2, 1], expects [2, 3] as number 0");
  check_error([&] { stack({x}, 3); }, "stack: axis 3 is out of range for 3 axes: expects -3 to 2");
}

TEST_CASE("cuts: errors") {
  const Tensor x = zeros({2, 3});
  check_error([&] { split(x, 0); }, "split: expects a size of 1 or more, got 0 for axis 0 of [2, 3]");
  check_error([&] { split(x, {1, 1}, 1); }, "split: sizes [1, 1] add up to 2, but axis 1 of [2, 3] has 3");
  check_error([&] { split(x, {2, 2}, 1); }, "split: sizes [2, 2] do not cut axis 1 of [2, 3] into pieces");
  check_error([&] { split(x, {4, -1}, 1); }, "split: sizes [4, -1] do not cut axis 1 of [2, 3] into pieces");
  check_error([&] { split(x, 1, 2); }, "split: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { chunk(x, 0); }, "chunk: expects a count of 1 or more, got 0 for axis 0 of [2, 3]");
  check_error([&] { chunk(tensor(1.0), 2); }, "chunk: axis 0 does not exist: the tensor has 0 axes");
  check_error([&] { unbind(x, 2); }, "unbind: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { unbind(tensor(1.0)); }, "unbind: axis 0 does not exist: the tensor has 0 axes");
  check_error([&] { flip(x, {0, -2}); }, "flip: axis -2 is given twice in [0, -2]");
  check_error([&] { flip(x, 2); }, "flip: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { roll(x, 1, 5); }, "roll: axis 5 is out of range for 2 axes: expects -2 to 1");
}
