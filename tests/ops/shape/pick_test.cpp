#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::counting;
using gradus::test::kNan;
using gradus::test::kUndefined;
using gradus::test::leaf;
using gradus::test::Values;

namespace {

using Ints = std::vector<std::int64_t>;

Tensor coins(const Shape& shape, std::uint64_t seed = 5) {
  Generator generator(seed);
  return rand(shape, generator) < 0.5;
}

Tensor some_indices(std::int64_t low, std::int64_t high, const Shape& shape) {
  Generator generator(7);
  return randint(low, high, shape, generator);
}

const std::string kLeafWrite =
    "operator=: the tensor [3] requires grad, and an in-place write is not recorded: write it under NoGrad";

}  // namespace

TEST_CASE("x[mask] picks where the mask is true") {
  const Tensor x = counting({2, 3});
  CHECK(x[x > 2].shape() == Shape{3});
  CHECK(x[x > 2].to_vector<double>() == Values{3, 4, 5});
  CHECK(x.t()[x.t() > 2].to_vector<double>() == Values{3, 4, 5});
  CHECK(x[tensor({false, true})].shape() == Shape{1, 3});  // whole rows
  CHECK(x[tensor({false, true})].to_vector<double>() == Values{3, 4, 5});
  CHECK(x[x < 0].shape() == Shape{0});
  CHECK(x[zeros({2}, boolean)].shape() == Shape{0, 3});
  CHECK(x[tensor(true)].shape() == Shape{1, 2, 3});
  CHECK(x[tensor(false)].shape() == Shape{0, 2, 3});
  CHECK(tensor(3.0)[tensor(true)].to_vector<double>() == Values{3});
  CHECK(zeros({0, 2})[zeros({0, 2}, boolean)].shape() == Shape{0});
  CHECK(counting({2, 3, 2})[x > 2].to_vector<double>() == Values{6, 7, 8, 9, 10, 11});
  CHECK(tensor({true, false})[tensor({false, true})].to_vector<bool>() == std::vector<bool>{false});
}

TEST_CASE("x[ids] picks along the first axis") {
  const Tensor x = counting({3, 2});
  CHECK(x[tensor({2, 0, -1})].to_vector<double>() == Values{4, 5, 0, 1, 4, 5});
  CHECK(x[tensor({{0}, {1}})].shape() == Shape{2, 1, 2});
  CHECK(x[tensor(-3)].to_vector<double>() == Values{0, 1});
  CHECK(x[tensor(1)].shape() == Shape{2});
  CHECK(x[zeros({0}, i64)].shape() == Shape{0, 2});
  CHECK(x[zeros({0, 4}, i64)].shape() == Shape{0, 4, 2});
  CHECK(x.t()[tensor({1, 0})].to_vector<double>() == Values{1, 3, 5, 0, 2, 4});
  CHECK(tensor({10, 20, 30})[tensor({{2, 0}, {1, 1}})].to_vector<std::int64_t>() == Ints{30, 10, 20, 20});
  CHECK(zeros({3, 0})[tensor({1, 1})].shape() == Shape{2, 0});
}

TEST_CASE("picked elements are an ordinary tensor") {
  const Tensor x = counting({4});
  const Tensor y = x[tensor({1, 3})];
  x.fill_(9);
  CHECK(y.to_vector<double>() == Values{1, 3});  // a copy
  Tensor z;
  z = x[tensor({0, 1})];
  CHECK((z + x[tensor({2, 3})]).to_vector<double>() == Values{18, 18});
  CHECK(x[tensor({0, 1})][0].item() == 9);
  CHECK(x[tensor({0, 1})][tensor({1})].item() == 9);
  const auto named = x[x > 8];
  CHECK(std::vector<Tensor>{named, z}.size() == 2);
  CHECK(named.sum().item() == 36);
}

TEST_CASE("x[mask] = v writes where the mask is true") {
  const Tensor x = counting({2, 3});
  x[x < 2] = -1;
  CHECK(x.to_vector<double>() == Values{-1, -1, 2, 3, 4, 5});
  x[x > 3] = tensor({40.0, 50.0});
  CHECK(x.to_vector<double>() == Values{-1, -1, 2, 3, 40, 50});
  x[tensor({true, false})] = tensor({7, 8, 9});  // broadcast over rows, converted
  CHECK(x.to_vector<double>() == Values{7, 8, 9, 3, 40, 50});
  x[zeros({2, 3}, boolean)] = 100;
  x[tensor(false)] = 100;
  CHECK(x.to_vector<double>() == Values{7, 8, 9, 3, 40, 50});
  x[tensor(true)] = 0.5;
  CHECK(x.to_vector<double>() == Values(6, 0.5));
  const Tensor flags = zeros({3}, boolean);
  flags[tensor({true, false, true})] = true;
  CHECK(flags.to_vector<bool>() == std::vector<bool>{true, false, true});
}

TEST_CASE("x[ids] = y writes rows; of repeated indices the last counts") {
  const Tensor x = zeros({4, 2});
  x[tensor({3, -4})] = tensor({{1.0, 2.0}, {3.0, 4.0}});
  CHECK(x.to_vector<double>() == Values{3, 4, 0, 0, 0, 0, 1, 2});
  x[tensor({1, 1, 1})] = counting({3, 2});
  CHECK(x.to_vector<double>() == Values{3, 4, 4, 5, 0, 0, 1, 2});
  x[tensor({{2, 0}, {2, 1}})] = x[tensor({0, 3})];  // read as a whole before it is written
  CHECK(x.to_vector<double>() == Values{1, 2, 1, 2, 3, 4, 1, 2});
  x[tensor(0)] = 9;
  CHECK(x[0].to_vector<double>() == Values{9, 9});
  const Tensor ids = arange(6);
  ids[tensor({0, 5})] = tensor({50, 60});
  CHECK(ids.to_vector<std::int64_t>() == Ints{50, 1, 2, 3, 4, 60});
}

TEST_CASE("x[ids] += y reads, adds and writes") {
  const Tensor x = counting({4});
  x[tensor({0, 2})] += 10;
  x[x < 5] -= tensor({1.0, 2.0});
  x[tensor({-1})] *= 3.0;
  x[x > 11] /= 4;
  CHECK(x.to_vector<double>() == Values{10, 0, 3, 3});
  x[tensor({1, 1})] += 1;  // as an assignment: once
  CHECK(x.to_vector<double>() == Values{10, 1, 3, 3});
}

TEST_CASE("writes reach through views") {
  const Tensor x = zeros({3, 4});
  x.t()[tensor({1, 2})] = 1;  // columns
  CHECK(x.to_vector<double>() == Values{0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0});
  x.t()[x.t() == 0] = counting({6}) + 5;  // through a copy: the axes of x.t() do not flatten
  CHECK(x.to_vector<double>() == Values{5, 1, 1, 8, 6, 1, 1, 9, 7, 1, 1, 10});
  x.slice(1, 0, 3, 2)[tensor({0})] = 0;
  CHECK(x[0].to_vector<double>() == Values{0, 1, 0, 8});
  const Tensor big = counting({300, 200}).t();
  big[big > 100] = -1;
  CHECK((big == -1).to(i64).sum().item() == 60000 - 101);
}

TEST_CASE("writes follow the tape's rules") {
  const Tensor w = leaf(ones({3})), x = zeros({3});
  const Tensor mask = tensor({true, false, true});
  check_error([&] { w[mask] = 1; }, kLeafWrite);
  check_error([&] { w[tensor({0})] = x[tensor({0})]; }, kLeafWrite);
  check_error([&] { x[mask] = w[mask]; },
              "operator=: the source [2] requires grad, and an in-place write is not recorded: write "
              "source.detach(), or build the tensor with cat, stack or where");
  {
    NoGrad guard;
    w[mask] = 5;
  }
  CHECK(w.to_vector<double>() == Values{5, 1, 5});
  const Tensor y = w * x;
  x[mask] = 2;
  check_error([&] { y.backward(ones({3})); },
              "mul backward: the f32 [3] it saved was changed in place after the forward pass: change it "
              "before the forward pass or after backward, or work on a clone()");
}

TEST_CASE("gradients of picking") {
  const auto pick = [](const Tensor& index) { return [=](const Tensor& x) { return Tensor(x[index]); }; };
  check_op("mask", pick(coins({4, 3})), {{4, 3}});
  check_op("mask", pick(coins({4})), {{4, 3}});
  check_op("mask", pick(coins({4, 3})), {{4, 3, 2}});
  check_op("mask", pick(coins({300, 200})), {{300, 200}});
  check_op("mask", pick(zeros({2, 3}, boolean)), {{2, 3}});
  check_op("mask", pick(tensor(true)), {{2, 3}});
  check_op("mask", pick(tensor(true)), {Shape{}});
  check_op("mask", pick(zeros({0}, boolean)), {{0, 3}});
  check_op("ids", pick(some_indices(-4, 4, {5, 3})), {{4, 3}});
  check_op("ids", pick(some_indices(-4, 4, {7})), {{4}});
  check_op("ids", pick(tensor(-1)), {{4, 2, 3}});
  check_op("ids", pick(some_indices(0, 300, {500})), {{300, 200}});
  check_op("ids", pick(zeros({0, 2}, i64)), {{4, 3}});
  const auto select = [](const Tensor& mask) {
    return [=](const Tensor& x) { return masked_select(x, mask); };
  };
  check_op("masked_select", select(coins({4, 3})), {{4, 3}});
  check_op("masked_select", select(coins({4, 3})), {{3}});
  check_op("masked_select", select(coins({3, 1})), {{4, 3, 2}});
  check_op("masked_select", select(coins({200})), {{300, 200}});
}

TEST_CASE("indices changed before backward change nothing") {
  const Tensor x = leaf(zeros({3})), ids = tensor({0, 1});
  const Tensor y = x[ids];
  ids.fill_(2);
  y.backward(tensor({1.0, 2.0}));
  CHECK(x.grad().to_vector<double>() == Values{1, 2, 0});
}

TEST_CASE("masked_select is flat and broadcasts") {
  const Tensor x = counting({2, 3});
  CHECK(masked_select(x, x != 1).to_vector<double>() == Values{0, 2, 3, 4, 5});
  CHECK(masked_select(x, tensor({true, false, true})).to_vector<double>() == Values{0, 2, 3, 5});
  CHECK(masked_select(tensor(4.0), tensor({true, false, true})).to_vector<double>() == Values{4, 4});
  CHECK(masked_select(tensor(4.0), tensor(true)).shape() == Shape{1});
  CHECK(masked_select(x, tensor({{true}, {false}})).to_vector<double>() == Values{0, 1, 2});
}

TEST_CASE("nonzero lists indices in row-major order") {
  CHECK(nonzero(tensor({{0, 1}, {2, 0}})).to_vector<std::int64_t>() == Ints{0, 1, 1, 0});
  CHECK(nonzero(tensor({{0, 1}, {2, 0}}).t()).to_vector<std::int64_t>() == Ints{0, 1, 1, 0});
  CHECK(nonzero(tensor({0.0, -0.0, kNan, 1e-300}, f64)).to_vector<std::int64_t>() == Ints{2, 3});
  CHECK(nonzero(tensor({{true, false, true}})).to_vector<std::int64_t>() == Ints{0, 0, 0, 2});
  CHECK(nonzero(zeros({2, 3})).shape() == Shape{0, 2});
  CHECK(nonzero(zeros({0, 3})).shape() == Shape{0, 2});
  CHECK(nonzero(tensor(5.0)).shape() == Shape{1, 0});
  CHECK(nonzero(tensor(0)).shape() == Shape{0, 0});
  CHECK_FALSE(nonzero(leaf(ones({2}))).requires_grad());
  const Tensor x = coins({20, 30});
  const Tensor at = nonzero(x);
  CHECK(x.flatten()[at.slice(1, 0, 1) * 30 + at.slice(1, 1)].all());
  CHECK(at.size(0) == x.to(i64).sum().item());
}

TEST_CASE("picking: errors") {
  const Tensor whole = arange(3);
  const Tensor x = zeros({3, 2});
  check_error([&] { x[Tensor()]; },
              "operator[]: the index is undefined: assign it first; a grad() is undefined before backward");
  check_error([&] { Tensor()[tensor(0)]; }, "operator[]" + kUndefined);
  check_error([&] { x[tensor({0.0})]; },
              "operator[]: expects an index of i64 or a mask of bool, got f32 [1]: convert with .to(i64), or "
              "compare");
  check_error(
      [&] {
        x[tensor({{0, 3}})];
      },
      "operator[]: index 3 at [0, 1] is out of range for axis 0 of [3, 2]: expects -3 to 2");
  check_error([&] { x[tensor(-4)]; },
              "operator[]: index -4 at [] is out of range for axis 0 of [3, 2]: expects -3 to 2");
  check_error(
      [&] {
        zeros({0, 2})[tensor({0})];
      },
      "operator[]: index 0 at [0] is out of range for axis 0 of [0, 2]: expects no index");
  check_error([&] { tensor(1.0)[tensor({0})]; }, "operator[]: axis 0 does not exist: the tensor has 0 axes");
  const std::string fit = ": expects the sizes of its first axes";
  check_error([&] { x[zeros({2}, boolean)]; }, "operator[]: a mask [2] does not fit [3, 2]" + fit);
  check_error(
      [&] {
        x[zeros({3, 2, 1}, boolean)];
      },
      "operator[]: a mask [3, 2, 1] does not fit [3, 2]" + fit);
  check_error(
      [&] {
        x[zeros({1, 1, 1, 1, 1, 1, 1, 1}, i64)];
      },
      "operator[]: of [3, 2] with an index [1, 1, 1, 1, 1, 1, 1, 1] there would be 9 axes, and there is "
      "no room for more than 8");
  check_error(
      [&] {
        x[tensor({0, 1})] = ones({3, 2});
      },
      "operator=: shapes [3, 2] and [2, 2] do not broadcast: axis -2 has sizes 3 and 2");
  check_error(
      [&] {
        x[tensor({0, 1})] = Tensor();
      },
      "operator=: the source is undefined: assign it first; a grad() is undefined before backward");
  check_error(
      [&] { whole[tensor({0})] = 0.5; },
      "operator=: the number 0.5 is not an i64, as the tensor [1] is: convert the tensor with .to(f32)");
  check_error(
      [&] {
        zeros({4}).expand({3, 4})[tensor({0, 1})] = counting({2, 4});
      },
      "operator=: the target [3, 4] is expanded: its elements along axis 0 are one, and would get 3 "
      "values: write into a clone()");
  check_error([&] { masked_select(x, x); },
              "masked_select: expects bool, got f32 [3, 2]: compare first, as in x != 0");
  check_error([&] { masked_select(x, zeros({3}, boolean)); },
              "masked_select: shapes [3, 2] and [3] do not broadcast: axis -1 has sizes 2 and 3");
  check_error([&] { masked_select(Tensor(), x); }, "masked_select" + kUndefined);
  check_error([&] { nonzero(Tensor()); }, "nonzero" + kUndefined);
}
