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
using gradus::test::Values;

namespace {

bool same_memory(const Tensor& a, const Tensor& b) { return a.array().storage() == b.array().storage(); }

}  // namespace

TEST_CASE("reshape keeps row-major order and shares memory where strides allow") {
  const Tensor x = counting({2, 3, 4});
  const Tensor y = reshape(x, {4, -1});
  CHECK(y.shape() == Shape{4, 6});
  CHECK(y.array().at({2, 1}) == 13);
  CHECK(same_memory(x, y));
  const Tensor turned = reshape(transpose(x, 0, 2), {-1});
  CHECK_FALSE(same_memory(x, turned));
  CHECK(reshape(transpose(counting({2, 2}), 0, 1), {4}).to_vector<double>() == Values{0, 2, 1, 3});
  CHECK(reshape(zeros({0, 3}), {3, 0, 2}).shape() == Shape{3, 0, 2});
  CHECK(reshape(tensor(2.0), {1, 1}).shape() == Shape{1, 1});
}

TEST_CASE("view never copies") {
  const Tensor x = counting({4, 3, 2});
  CHECK(same_memory(x, view(x, {12, 2})));
  // A slice along the first axis keeps the others in one block.
  const Tensor part = slice(x, 0, 1, 3);
  CHECK(view(part, {2, 6}).array().at({1, 5}) == 17);
  // A step splits axis 0 from the rest, but the rest can still be reshaped.
  CHECK(view(slice(x, 0, 0, {}, 2), {2, 2, 3}).array().at({1, 1, 0}) == 15);
}

TEST_CASE("flatten merges a range of axes") {
  const Tensor x = counting({2, 3, 4});
  CHECK(flatten(x).shape() == Shape{24});
  CHECK(flatten(x, 1).shape() == Shape{2, 12});
  CHECK(flatten(x, 0, 1).shape() == Shape{6, 4});
  CHECK(flatten(x, -2, -1).shape() == Shape{2, 12});
  CHECK(flatten(x, 1, 1).shape() == Shape{2, 3, 4});
  CHECK(flatten(tensor(1.0)).shape() == Shape{1});
  CHECK(flatten(zeros({2, 0, 3}), 0, 1).shape() == Shape{0, 3});
}

TEST_CASE("permute and transpose move axes without a copy") {
  const Tensor x = counting({2, 3, 4});
  const Tensor y = permute(x, {2, 0, -2});
  CHECK(y.shape() == Shape{4, 2, 3});
  CHECK(y.array().at({3, 1, 2}) == x.array().at({1, 2, 3}));
  CHECK(same_memory(x, y));
  CHECK(transpose(x, 0, -1).shape() == Shape{4, 3, 2});
  CHECK(transpose(x, 0, -1).array().at({3, 2, 1}) == 23);
  CHECK(transpose(x, 1, 1).to_vector<double>() == x.to_vector<double>());
}

TEST_CASE("squeeze, unsqueeze and expand") {
  const Tensor x = counting({1, 3, 1});
  CHECK(squeeze(x).shape() == Shape{3});
  CHECK(squeeze(x, 0).shape() == Shape{3, 1});
  CHECK(squeeze(x, 1).shape() == Shape{1, 3, 1});  // not 1: stays
  CHECK(squeeze(zeros({1, 1})).shape() == Shape{});
  CHECK(unsqueeze(x, -1).shape() == Shape{1, 3, 1, 1});
  CHECK(unsqueeze(x, 0).shape() == Shape{1, 1, 3, 1});
  const Tensor wide = expand(x, {2, -1, 2});
  CHECK(wide.to_vector<double>() == Values{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
  CHECK(same_memory(x, wide));
  CHECK(expand(tensor(1.0), {2, 2}).shape() == Shape{2, 2});
  CHECK(expand(zeros({1, 3}), {0, 3}).shape() == Shape{0, 3});
}

TEST_CASE("select and slice are parts that share memory") {
  const Tensor x = counting({3, 4});
  CHECK(select(x, 0, -1).to_vector<double>() == Values{8, 9, 10, 11});
  CHECK(select(x, 1, 2).to_vector<double>() == Values{2, 6, 10});
  CHECK(slice(x, 1, 1, 3).to_vector<double>() == Values{1, 2, 5, 6, 9, 10});
  CHECK(slice(x, 1, -3, -1).to_vector<double>() == Values{1, 2, 5, 6, 9, 10});
  CHECK(slice(x, 1, 0, {}, 3).to_vector<double>() == Values{0, 3, 4, 7, 8, 11});
  CHECK(slice(x, 0, 2, 100).shape() == Shape{1, 4});
  CHECK(slice(x, 0, 2, 1).shape() == Shape{0, 4});
  CHECK(slice(x, 0, 7).shape() == Shape{0, 4});
  CHECK(slice(x, 0, INT64_MIN, INT64_MAX, INT64_MAX).to_vector<double>() == Values{0, 1, 2, 3});
  CHECK(same_memory(x, select(x, 0, 1)));
}

TEST_CASE("contiguous, clone and to") {
  const Tensor x = counting({2, 3});
  CHECK(same_memory(x, contiguous(x)));
  const Tensor y = contiguous(transpose(x, 0, 1));
  CHECK(y.is_contiguous());
  CHECK(y.to_vector<double>() == Values{0, 3, 1, 4, 2, 5});
  CHECK_FALSE(same_memory(x, clone(x)));
  CHECK(same_memory(x, to(x, f32)));
  CHECK(to(tensor({0.0, 0.5, -2.0}), boolean).to_vector<bool>() == std::vector<bool>{false, true, true});
  CHECK(to(tensor({1.75, -1.75}), i64).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, -1});
  CHECK(to(tensor({true, false}), f64).to_vector<double>() == Values{1, 0});
  const Tensor leaf = ones({2}).requires_grad_();
  CHECK_FALSE(to(leaf, i64).requires_grad());
}

TEST_CASE("gradients of views") {
  for (const Shape& shape : odd_shapes()) {
    const Shape flat = {numel(shape)};
    check_op("reshape", [=](const Tensor& x) { return reshape(x, flat); }, {shape});
    check_op("view", [=](const Tensor& x) { return view(contiguous(x), flat); }, {shape});
    check_op("flatten", [](const Tensor& x) { return flatten(x); }, {shape});
    check_op("squeeze", [](const Tensor& x) { return squeeze(x); }, {shape});
    check_op("unsqueeze", [](const Tensor& x) { return unsqueeze(x, -1); }, {shape});
    check_op("clone", [](const Tensor& x) { return clone(x); }, {shape});
    check_op("contiguous", [](const Tensor& x) { return contiguous(x); }, {shape});
    if (shape.empty()) continue;
    check_op("transpose", [](const Tensor& x) { return transpose(x, 0, -1); }, {shape});
    check_op("slice", [](const Tensor& x) { return slice(x, -1, 1, {}, 2); }, {shape});
    if (shape[0] > 0) check_op("select", [](const Tensor& x) { return select(x, 0, -1); }, {shape});
  }
  check_op("permute", [](const Tensor& x) { return permute(x, {2, 0, 3, 1}); }, {{2, 3, 4, 5}});
  check_op("permute", [](const Tensor& x) { return permute(x, {-1, 0, 1}); }, {{2, 0, 1}});
  check_op("expand", [](const Tensor& x) { return expand(x, {4, 2, 3}); }, {{2, 1}});
  check_op("expand", [](const Tensor& x) { return expand(x, {0, 3}); }, {{1, 3}});
  check_op("expand", [](const Tensor& x) { return expand(x, {3, 2}); }, {Shape{}});
  check_op("squeeze", [](const Tensor& x) { return squeeze(x, 1); }, {{2, 1, 3}});
}

TEST_CASE("the gradient of a conversion has the type of what was converted") {
  Tensor x = from_vector<float>({1, 2, 3}, {3});
  x.requires_grad_();
  to(x, f64).backward(from_vector<double>({0.5, 0.25, 2}, {3}));
  CHECK(x.grad().dtype() == f32);
  CHECK(x.grad().to_vector<double>() == Values{0.5, 0.25, 2});
}

TEST_CASE("views: errors") {
  const Tensor x = zeros({2, 3, 4}), none;
  check_error([&] { reshape(none, {1}); }, "reshape" + kUndefined);
  check_error([&] { reshape(x, {5, -1}); }, "reshape: [2, 3, 4] with 24 elements does not fit into [5, -1]");
  check_error([&] { reshape(x, {-1, -1}); }, "reshape: at most one size may be -1, got [-1, -1]");
  check_error([&] { reshape(x, {-2, 12}); }, "reshape: [-2, 12] is not a shape");
  check_error(
      [&] {
        reshape(zeros({0, 3}), {0, -1});
      },
      "reshape: [0, 3] with 0 elements does not fit into [0, -1]");
  check_error([&] { view(x, {5, 5}); }, "view: [2, 3, 4] with 24 elements does not fit into [5, 5] with 25");
  check_error([&] { view(transpose(x, 0, 1), {24}); },
              "view: [3, 2, 4] with strides [4, 12, 1] cannot be seen as [24] without a copy: use reshape()");
  check_error([&] { flatten(x, 2, 1); }, "flatten: start 2 comes after end 1 in [2, 3, 4]");
  check_error([&] { flatten(x, 3); }, "flatten: axis 3 is out of range for 3 axes: expects -3 to 2");
  check_error([&] { permute(x, {0, 1}); }, "permute: expects 3 axes for shape [2, 3, 4], got [0, 1]");
  check_error([&] { permute(x, {0, 1, -2}); }, "permute: axis -2 is given twice in [0, 1, -2]");
  check_error([&] { transpose(x, 0, 3); }, "transpose: axis 3 is out of range for 3 axes: expects -3 to 2");
  check_error([&] { transpose(tensor(1.0), 0, 0); },
              "transpose: axis 0 does not exist: the tensor has 0 axes");
  check_error([&] { squeeze(x, -4); }, "squeeze: axis -4 is out of range for 3 axes: expects -3 to 2");
  check_error([&] { unsqueeze(x, 4); }, "unsqueeze: axis 4 is out of range for 4 axes: expects -4 to 3");
  check_error([&] { expand(x, {3, 4}); }, "expand: shape [3, 4] has fewer axes than [2, 3, 4]");
  check_error(
      [&] {
        expand(x, {2, 5, 4});
      },
      "expand: shape [2, 3, 4] does not expand to [2, 5, 4]: axis -2 has size 3");
  check_error(
      [&] {
        expand(x, {-1, 2, 3, 4});
      },
      "expand: shape [2, 3, 4] does not expand to [-1, 2, 3, 4]: axis -4 has size 1");
  check_error([&] { select(x, 1, 3); }, "select: index 3 is out of range for axis 1 of [2, 3, 4]");
  check_error([&] { select(x, -1, -5); }, "select: index -5 is out of range for axis -1 of [2, 3, 4]");
  check_error([&] { slice(x, 0, 0, 2, 0); },
              "slice: expects a step of 1 or more, got 0: flip() reverses an axis");
  check_error([&] { slice(x, 3, 0); }, "slice: axis 3 is out of range for 3 axes: expects -3 to 2");
}
