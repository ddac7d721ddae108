#include "gradus/core/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <sstream>
#include <vector>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/io/state_dict.h"
#include "gradus/core/random/random.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::counting;
using gradus::test::kUndefined;
using gradus::test::Values;

namespace {}  // namespace

TEST_CASE("tensor() reads nested lists") {
  CHECK(tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}).shape() == Shape{3, 2});
  CHECK(tensor({{1.0, 2.0}, {3.0, 4.0}}).to_vector<double>() == Values{1, 2, 3, 4});
  CHECK(tensor({1, 2, 3}).dtype() == i64);
  CHECK(tensor({1, 2.0, 3}).dtype() == f32);
  CHECK(tensor({true, false}).dtype() == boolean);
  CHECK(tensor({true, 2}).dtype() == i64);
  CHECK(tensor({true, 2, 0.5}).dtype() == f32);
  CHECK(tensor({1, 2}, f64).dtype() == f64);
  CHECK(tensor(2.5).shape() == Shape{});
  CHECK(tensor(2.5).item() == 2.5);
  CHECK(tensor({7}).shape() == Shape{1});
  CHECK(tensor({{{1, 2}}, {{3, 4}}}).shape() == Shape{2, 1, 2});
  CHECK(tensor({INT64_MAX, INT64_MIN}).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{INT64_MAX, INT64_MIN});
  CHECK(tensor(NestedList(std::initializer_list<NestedList>{})).shape() == Shape{0});
  {
    const DefaultDType guard(f64);
    CHECK(tensor({0.5}).dtype() == f64);
    CHECK(zeros({1}).dtype() == f64);
  }
  CHECK(zeros({1}).dtype() == f32);
}

TEST_CASE("tensor(): ragged lists are errors") {
  check_error(
      [] {
        tensor({{1, 2}, {3}});
      },
      "tensor: ragged rows on axis 1: expects 2 elements everywhere, got 1");
  check_error(
      [] {
        tensor({{1, 2}, {3, 4, 5}});
      },
      "tensor: ragged rows on axis 1: expects 2 elements everywhere, got 3");
  check_error(
      [] {
        tensor({{1, 2}, 3});
      },
      "tensor: ragged rows on axis 1: expects 2 elements everywhere, got a number");
  check_error([] { tensor({1, {2, 3}}); }, "tensor: ragged rows: expects a number, got a list of 2");
  check_error(
      [] {
        tensor({{{1}, {2}}, {{3}, {4, 5}}});
      },
      "tensor: ragged rows on axis 2: expects 1 elements everywhere, got 2");
}

TEST_CASE("ranges") {
  CHECK(arange(4).to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(arange(2, 8, 3).dtype() == i64);
  CHECK(arange(2, 8, 3).to_vector<double>() == Values{2, 5});
  CHECK(arange(0, 1, 0.25).to_vector<double>() == Values{0, 0.25, 0.5, 0.75});
  CHECK(arange(3, 0, -1).to_vector<double>() == Values{3, 2, 1});
  CHECK(arange(1, 1).shape() == Shape{0});
  CHECK(linspace(0, 1, 5).to_vector<double>() == Values{0, 0.25, 0.5, 0.75, 1});
  CHECK(linspace(3, 9, 1).to_vector<double>() == Values{3});
  CHECK(linspace(0, 1, 0).shape() == Shape{0});
  CHECK(linspace(0.1, 0.7, 4, f64).to_vector<double>().back() == 0.7);
  CHECK(eye(2, 3).to_vector<double>() == Values{1, 0, 0, 0, 1, 0});
  CHECK(eye(3, 2, i64).to_vector<double>() == Values{1, 0, 0, 1, 0, 0});
  CHECK(eye(0).shape() == Shape{0, 0});
  check_error([] { arange(-1); }, "arange: a step of 1 does not lead from 0 to -1");
  check_error([] { arange(0, 5, -1); }, "arange: a step of -1 does not lead from 0 to 5");
  check_error([] { arange(0, 1, 0); }, "arange: expects a step other than 0, got 0 to 1 by 0");
  check_error([] { arange(0, 1, 0.0); },
              "arange: expects finite bounds and a step other than 0, got 0 to 1 by 0");
  check_error([] { arange(0, INFINITY); },
              "arange: expects finite bounds and a step other than 0, got 0 to inf by 1");
  check_error([] { linspace(0, 1, -1); }, "linspace: expects a count of 0 or more, got -1");
  check_error([] { zeros({2, -3}); }, "zeros: expects sizes of 0 or more, got [2, -3]");
}

TEST_CASE("random factories follow the default generator") {
  manual_seed(3);
  const Tensor a = rand({4, 5}), b = randn({3}), c = randint(-2, 3, {100}), d = randperm(10);
  manual_seed(3);
  CHECK(rand({4, 5}).to_vector<double>() == a.to_vector<double>());
  CHECK(randn({3}).to_vector<double>() == b.to_vector<double>());
  CHECK(randint(-2, 3, {100}).to_vector<double>() == c.to_vector<double>());
  CHECK(randperm(10).to_vector<double>() == d.to_vector<double>());
  for (const double v : a.to_vector<double>()) CHECK((v >= 0 && v < 1));
  for (const double v : c.to_vector<double>()) CHECK((v >= -2 && v < 3));
  Values sorted = d.to_vector<double>();
  std::sort(sorted.begin(), sorted.end());
  Values expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(sorted == expected);
}

TEST_CASE("the like factories take shape and dtype") {
  const Tensor x = zeros({2, 3}, f64);
  for (const Tensor& y :
       {zeros_like(x), ones_like(x), full_like(x, 4), empty_like(x), rand_like(x), randn_like(x)}) {
    CHECK(y.shape() == x.shape());
    CHECK(y.dtype() == f64);
  }
  CHECK(full_like(tensor({1, 2}), 4).to_vector<double>() == Values{4, 4});
}

TEST_CASE("spans and vectors") {
  const Tensor x = counting({2, 3});
  double sum = 0;
  for (const float v : x.span<float>()) sum += v;
  CHECK(sum == 15);
  const std::uint32_t version = x.array().storage().version();
  x.mutable_span<float>()[5] = 50;
  CHECK(x.array().storage().version() > version);
  CHECK(x.array().at({1, 2}) == 50);
  CHECK(x.transpose(0, 1).to_vector<float>() == std::vector<float>{0, 3, 1, 4, 2, 50});
  const Tensor row = x.slice(0, 1), turned = x.transpose(0, 1), none;
  CHECK(row.span<float>().size() == 3);
  CHECK(from_vector<std::int64_t>({1, 2}, {2, 1}).shape() == Shape{2, 1});
  check_error([&] { x.span<double>(); },
              "span: asked for f64 elements, but the tensor [2, 3] holds f32: convert with .to(f64)");
  check_error(
      [&] { turned.span<float>(); },
      "span: expects a contiguous tensor, got shape [3, 2] with strides [1, 3]: call contiguous() first");
  check_error([&] { none.span<float>(); }, "span" + kUndefined);
  const Tensor leaf = ones({2}).requires_grad_();
  check_error(
      [&] { leaf.mutable_span<float>(); },
      "mutable_span: the tensor [2] requires grad, and an in-place write is not recorded: write it under "
      "NoGrad");
}

TEST_CASE("indexing returns views of parts and writes through them") {
  Tensor x = counting({3, 4});
  CHECK(x[1].to_vector<double>() == Values{4, 5, 6, 7});
  CHECK(x[-1][0].item() == 8);
  x[0] = 5.0;
  x[1][2] = -1.0;
  x.slice(1, 0, 1) = tensor({{10.0}, {20.0}, {30.0}});
  CHECK(x.to_vector<double>() == Values{10, 5, 5, 5, 20, 5, -1, 7, 30, 9, 10, 11});
  const Tensor row = tensor({1, 2, 3, 4});  // converted to f32
  x[2] = row;
  CHECK(x[2].to_vector<double>() == Values{1, 2, 3, 4});
  Tensor other = x;
  other = counting({1});  // another tensor, nothing written
  CHECK(x.shape() == Shape{3, 4});
  x.zero_();
  CHECK(x.to_vector<double>() == Values(12, 0));
  check_error([&] { x[3]; }, "select: index 3 is out of range for axis 0 of [3, 4]");
  check_error([&] { x[0] = counting({3}); },
              "operator=: shapes [3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error([] { tensor(1.0)[0]; }, "select: axis 0 does not exist: the tensor has 0 axes");
}

TEST_CASE("a tensor that requires grad is written under NoGrad only") {
  Tensor w = ones({2, 2});
  w.requires_grad_();
  check_error(
      [&] { w.fill_(2); },
      "fill_: the tensor [2, 2] requires grad, and an in-place write is not recorded: write it under NoGrad");
  check_error(
      [&] {
        w.copy_(zeros({2, 2}));
      },
      "copy_: the tensor [2, 2] requires grad, and an in-place write is not recorded: write it under NoGrad");
  const Tensor plain = zeros({2, 2});
  check_error(
      [&] { plain.copy_(w); },
      "copy_: the source [2, 2] requires grad, and an in-place write is not recorded: write source.detach(), "
      "or build the tensor with cat, stack or where");
  {
    const NoGrad guard;
    w[0] = 2.0;
    w.slice(0, 1).copy_(tensor({7.0, 8.0}));
  }
  CHECK(w.to_vector<double>() == Values{2, 2, 7, 8});
  CHECK(w.requires_grad());
}

TEST_CASE("item returns the only element") {
  CHECK(tensor({{3.5}}).item() == 3.5);
  CHECK(tensor(true).item() == 1);
  check_error(
      [] {
        tensor({1.0, 2.0}).item();
      },
      "item: expects one element, got shape [2]: pick one, as in x[0], or reduce with sum() or mean()");
  check_error(
      [] { zeros({0}).item(); },
      "item: expects one element, got shape [0]: pick one, as in x[0], or reduce with sum() or mean()");
}

TEST_CASE("methods forward to the functions of the same name") {
  const Tensor x = tensor({{1.0, -2.0}, {3.0, 4.0}});
  CHECK(x.sum().item() == 6);
  CHECK(x.mean(0).to_vector<double>() == Values{2, 1});
  CHECK(x.max(1, true).shape() == Shape{2, 1});
  CHECK(x.min().item() == -2);
  CHECK(x.argmax().item() == 3);
  CHECK(x.argmin(1).to_vector<double>() == Values{1, 0});
  CHECK(x.abs().square().sqrt().to_vector<double>() == Values{1, 2, 3, 4});
  CHECK(x.relu().to_vector<double>() == Values{1, 0, 3, 4});
  CHECK(x.clamp(-1, 3).to_vector<double>() == Values{1, -1, 3, 3});
  CHECK(x.matmul(x).to_vector<double>() == Values{-5, -10, 15, 10});
  CHECK(x.pow(2).to_vector<double>() == Values{1, 4, 9, 16});
  CHECK(x.t().to_vector<double>() == Values{1, 3, -2, 4});
  CHECK(x.view({4}).shape() == Shape{4});
  CHECK(x.flatten().shape() == Shape{4});
  CHECK(x.unsqueeze(0).squeeze().shape() == Shape{2, 2});
  CHECK(x.permute({1, 0}).contiguous().to_vector<double>() == Values{1, 3, -2, 4});
  CHECK(x.to(i64).dtype() == i64);
  CHECK((x > 0).any());
  CHECK_FALSE((x > 0).all());
}

TEST_CASE("requires_grad_: errors") {
  check_error(
      [] {
        tensor({1, 2}).requires_grad_();
      },
      "requires_grad_: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([] { Tensor().requires_grad_(); }, "requires_grad_" + kUndefined);
  Tensor x = ones({2});
  x.requires_grad_();
  Tensor y = x.clone();
  check_error([&] { y.requires_grad_(false); },
              "requires_grad_: expects a leaf, got the output of clone: use detach()");
  check_error([&] { y.set_grad(ones({2})); },
              "set_grad: expects a leaf, got the output of clone: set the gradient of what it was made from");
  check_error([&] { x.set_grad(ones({3})); }, "set_grad: expects f32 [2], got f32 [3]");
  check_error(
      [] { ones({1}).retain_grad(); },
      "retain_grad: the tensor [1] does not require grad: call requires_grad_() on what it is made from");
  check_error([] { ones({1}).on_grad([](const Array&) {}); },
              "on_grad: the tensor [1] does not require grad: call requires_grad_() on what it is made from");
}

TEST_CASE("StateDict keeps names in order and finds them") {
  StateDict dict = {{"b", tensor(1.0)}, {"a", tensor(2.0)}};
  dict.set("c.x", tensor(3.0));
  dict.set("b", tensor(4.0));
  std::string names;
  for (const auto& [name, value] : dict) names += name + " ";
  CHECK(names == "b a c.x ");
  CHECK(dict.at("b").item() == 4);
  CHECK(dict.find("z") == nullptr);
  StateDict all;
  all.add_all("model.", dict);
  CHECK(all.contains("model.c.x"));
  CHECK(all.with_prefix_removed("model.c.").at("x").item() == 3);
  CHECK(all.with_prefix_removed("other").empty());
  check_error([&] { dict.at("z"); }, "StateDict: no entry 'z': it holds b, a, c.x");
  for (const char* name : {"d", "e", "f", "g"}) dict.set(name, tensor(0.0));
  check_error([&] { dict.at("z"); }, "StateDict: no entry 'z': it holds b, a, c.x, d, e, ... (7 in all)");
  check_error([] { StateDict().at("z"); }, "StateDict: no entry 'z': it holds nothing");
}

TEST_CASE("a dtype is printed by its name") {
  std::ostringstream out;
  out << f32 << ' ' << ones({2}, f64).dtype() << ' ' << i64 << ' ' << boolean;
  CHECK(out.str() == "f32 f64 i64 bool");
}

TEST_CASE("the default dtype is a floating one") {
  check_error([] { set_default_dtype(i64); }, "set_default_dtype: expects f32 or f64, got i64");
}

TEST_CASE("writes go to memory that is kept, and each element gets one value") {
  const Tensor x = arange(6).reshape({2, 3});
  x.view({6})[0] = 9;
  CHECK(x[0][0].item() == 9);
  x.flatten() = 1;  // a view here
  CHECK((x == 1).all());
  const std::string lost =
      "operator=: nothing else holds the tensor [6] that is written, so the values would be lost: ops, and "
      "reshape, flatten, contiguous and to where they must, give copies: write through view, select or slice";
  check_error([&] { x.t().flatten() = 7; }, lost);
  check_error([&] { x.t().reshape({6}) = ones({6}, i64); }, lost);
  CHECK((x == 1).all());

  // Nor by way of a part of it.
  const Tensor ids = tensor({0, 4}), mask = arange(6) > 2;
  x.flatten()[ids] = 5;
  x.flatten()[5] = 5;
  x.slice(0, 0, 1)[0][1] = 5;
  CHECK((x == tensor({{5, 5, 1}, {1, 5, 5}})).all());
  const auto expect_lost = [](auto write) {
    CHECK_THROWS_WITH_AS(write(), doctest::Contains("would be lost"), Error);
  };
  expect_lost([&] { x.t().flatten()[0] = 7; });
  expect_lost([&] { x.t().flatten()[ids] = 7; });
  expect_lost([&] { x.t().flatten()[mask] = 7; });
  expect_lost([&] { x.t().reshape({6})[ids] += 7; });
  expect_lost([&] { x.t().flatten().slice(0, 0, 2) = 7; });
  expect_lost([&] { x.t().flatten().select(0, 2) *= 7; });
  expect_lost([&] { x.to(f32)[tensor({0, 1})] = 7.0; });
  expect_lost([&] { (x + 1)[0][1] = 7; });
  CHECK((x == tensor({{5, 5, 1}, {1, 5, 5}})).all());
  Tensor copy = x.t().flatten();
  copy[0] = 7;
  copy[ids] = 8;
  CHECK(copy[0].item() == 8);
  CHECK((x.clone()[0] + 1)[1].item() == 6);  // to read a part of a temporary is no write

  const Tensor row = zeros({4}), expanded = row.expand({3, 4});
  check_error(
      [&] {
        expanded.copy_(arange(12).reshape({3, 4}));
      },
      "copy_: the target [3, 4] is expanded: its elements along axis 0 are one, and would get 3 values: "
      "write into a clone()");
  expanded.copy_(arange(4));
  CHECK((row == arange(4, f32)).all());
  expanded.copy_(arange(4).expand({3, 4}));
  expanded.fill_(2);
  CHECK((row == 2).all());
}
