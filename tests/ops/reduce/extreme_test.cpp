#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

struct Case {
  Shape shape;
  Axes axes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{}, {}},        {{7}, {}},    {{3, 4}, 0},    {{3, 4}, 1},  {{2, 3, 4}, {0, 2}},
      {{2, 3, 4}, 1},  {{1}, 0},     {{4, 1, 3}, 1}, {{70, 3}, 0}, {{40, 1500}, 0},
      {{40, 1500}, 1}, {{9000}, {}}, {{0, 3}, 1},
  };
  return all;
}

TEST_CASE("max, min") {
  for (const Case& c : cases())
    for (const bool keepdim : {false, true}) {
      check_op("max", [&](const Tensor& x) { return max(x, c.axes, keepdim); }, {c.shape});
      check_op("min", [&](const Tensor& x) { return min(x, c.axes, keepdim); }, {c.shape});
    }
}

TEST_CASE("argmax, argmin: layouts, threads, instruction sets") {
  const auto op = [](std::optional<std::int64_t> axis, bool keepdim) {
    return [=](const Tensor& x) { return Tensors{argmax(x, axis, keepdim), argmin(x, axis, keepdim)}; };
  };
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 4}, Shape{2, 3, 4}, Shape{150, 200}})
    for (const bool keepdim : {false, true}) check_op("argmax", op({}, keepdim), {Input(shape).constant()});
  for (const std::int64_t axis : {0, 1, -1})
    for (const bool keepdim : {false, true})
      for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 4}, Shape{1, 1}, Shape{150, 200}})
        check_op("argmax", op(axis, keepdim), {Input(shape).constant()});
}

TEST_CASE("argmax, argmin: values and shapes") {
  const Tensor x = tensor({{1.0, 5.0, 5.0}, {7.0, 2.0, -1.0}});
  CHECK(argmax(x).dtype() == i64);
  CHECK(argmax(x).item() == 3);
  CHECK(values(argmax(x, 1)) == Values{1, 0});  // the first of equal ones
  CHECK(values(argmax(x, 0)) == Values{1, 0, 0});
  CHECK(values(argmin(x, 1)) == Values{0, 2});
  CHECK(argmin(x).item() == 5);
  CHECK(argmax(x, -1, true).shape() == Shape{2, 1});
  CHECK(argmax(x, {}, true).shape() == Shape{1, 1});
  CHECK(argmax(zeros({0, 3}), 1).shape() == Shape{0});
  CHECK(values(argmax(tensor({{3, 9, 9}, {4, 4, 1}}), 1)) == Values{1, 0});
  CHECK(argmax(tensor({false, true})).item() == 1);
  CHECK(x.argmax(1)[0].item() == 1);
}

TEST_CASE("max, min: values, integers, infinities") {
  const Tensor x = tensor({{1, 5}, {7, 2}});
  CHECK(max(x).dtype() == i64);
  CHECK(max(x).item() == 7);
  CHECK(values(max(x, 0)) == Values{7, 5});
  CHECK(values(min(x, 1)) == Values{1, 2});
  CHECK(max(full({3}, -kInf)).item() == -kInf);
  CHECK(min(full({3}, kInf)).item() == kInf);
  CHECK(values(max(zeros({2, 0, 3}), 2).to(f64)).empty());
}

TEST_CASE("a NaN is the largest and the smallest") {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = tensor({{kInf, 1.0, kNan, kNan}, {0.0, 1.0, 2.0, 3.0}}, dtype);
    CHECK(std::isnan(max(x).item()));
    CHECK(std::isnan(min(x).item()));
    CHECK(std::isnan(max(x, 1)[0].item()));
    CHECK(max(x, 1)[1].item() == 3);
    CHECK(std::isnan(max(x, 0)[2].item()));
    CHECK(max(x, 0)[0].item() == kInf);
    CHECK(argmax(x).item() == 2);
    CHECK(argmin(x).item() == 2);
    CHECK(values(argmax(x, 1)) == Values{2, 3});
    CHECK(values(argmin(x, 1)) == Values{2, 0});
  }
}

TEST_CASE("max, min: where the extreme is NaN the gradients are NaN, as in PyTorch") {
  const Tensor x = leaf(tensor({{1.0, kNan, 2.0}, {1.0, 3.0, 2.0}}));
  (max(x, 1) + min(x, 1)).sum().backward();
  CHECK(x.grad()[0].isnan().all());
  CHECK(x.grad()[1].to_vector<float>() == std::vector<float>{1, 1, 0});
}

TEST_CASE("max: equal elements share the gradient evenly") {
  Tensor x = tensor({{1.0, 3.0, 3.0}, {2.0, 2.0, 2.0}}, f64).requires_grad_();
  sum(max(x, 1) * tensor({6.0, 9.0}, f64)).backward();
  CHECK(values(x.grad()) == Values{0, 3, 3, 3, 3, 3});
  x.zero_grad();
  min(x).backward();
  CHECK(values(x.grad()) == Values{1, 0, 0, 0, 0, 0});
}

TEST_CASE("max_with_indices, min_with_indices: gradients, layouts, threads, instruction sets") {
  for (const std::int64_t axis : {0, 1, -1})
    for (const bool keepdim : {false, true})
      for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 4}, Shape{1, 1}, Shape{3, 0, 4}, Shape{150, 200}}) {
        if (shape[axis < 0 ? shape.size() - 1 : static_cast<int>(axis)] == 0) continue;
        const auto op = [=](const Tensor& x) {
          return Tensors{max_with_indices(x, axis, keepdim).first, min_with_indices(x, axis, keepdim).first};
        };
        check_op("max_with_indices", op, {shape});
        const auto places = [=](const Tensor& x) {
          return Tensors{max_with_indices(x, axis, keepdim).second,
                         min_with_indices(x, axis, keepdim).second};
        };
        check_op("max_with_indices", places, {Input(shape).constant()});
      }
}

TEST_CASE("max_with_indices, min_with_indices: the first of equal ones, with the whole gradient") {
  Tensor x = leaf(tensor({{1.0, 3.0, 3.0}, {2.0, 2.0, 2.0}}, f64));
  const auto [value, index] = max_with_indices(x, 1);
  CHECK(values(value) == Values{3, 2});
  CHECK(values(index) == Values{1, 0});
  CHECK(index.dtype() == i64);
  index.fill_(0);  // what backward saved stays
  sum(value * tensor({6.0, 9.0}, f64)).backward();
  CHECK(values(x.grad()) == Values{0, 6, 0, 9, 0, 0});
  const auto [low, at] = x.min_with_indices(0, true);
  CHECK(low.shape() == Shape{1, 3});
  CHECK(values(low) == Values{1, 2, 2});
  CHECK(values(at) == Values{0, 1, 1});
  CHECK(values(x.max_with_indices(-1).second) == Values{1, 0});
  const auto [nan, where_nan] = max_with_indices(tensor({{1.0, kNan, 5.0, kNan}}), 1);
  CHECK(std::isnan(nan.item()));
  CHECK(where_nan.item() == 1);
  CHECK(max_with_indices(tensor({3, 9, 9}), 0).first.item<std::int64_t>() == 9);
  CHECK(max_with_indices(tensor({false, true}), 0).first.dtype() == boolean);
  CHECK(max_with_indices(zeros({0, 3}), 1).second.shape() == Shape{0});
}

TEST_CASE("extremes: errors") {
  const Tensor x = zeros({2, 3}), none = zeros({0, 3}), undefined;
  check_error([&] { max(none); }, "max: of nothing: axis 0 of [0, 3] has size 0");
  check_error([&] { min(none, 0); }, "min: of nothing: axis 0 of [0, 3] has size 0");
  check_error([&] { argmax(none, 0); }, "argmax: of nothing: axis 0 of [0, 3] has size 0");
  check_error([&] { argmin(zeros({2, 0})); }, "argmin: of nothing: axis 1 of [2, 0] has size 0");
  check_error([&] { max(x, 2); }, "max: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { max(x, {1, -1}); }, "max: axis -1 is given twice in [1, -1]");
  check_error([&] { min(x, -3); }, "min: axis -3 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { argmax(x, 2); }, "argmax: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { argmin(zeros({}), 0); }, "argmin: axis 0 does not exist: the tensor has 0 axes");
  check_error([&] { max(undefined); }, "max" + kUndefined);
  check_error([&] { min(undefined); }, "min" + kUndefined);
  check_error([&] { argmax(undefined); }, "argmax" + kUndefined);
  check_error([&] { argmin(undefined, 0); }, "argmin" + kUndefined);
  check_error([&] { max_with_indices(none, 0); },
              "max_with_indices: of nothing: axis 0 of [0, 3] has size 0");
  check_error([&] { min_with_indices(x, 2); },
              "min_with_indices: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { max_with_indices(undefined, 0); }, "max_with_indices" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
