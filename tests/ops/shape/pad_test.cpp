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

TEST_CASE("pad puts a value around, from the last axis on") {
  const Tensor x = counting({2, 2});
  CHECK(pad(x, {1, 2}).shape() == Shape{2, 5});
  CHECK(pad(x, {1, 2}, 9).to_vector<double>() == Values{9, 0, 1, 9, 9, 9, 2, 3, 9, 9});
  CHECK(pad(x, {0, 0, 1, 0}, -0.5).to_vector<double>() == Values{-0.5, -0.5, 0, 1, 2, 3});
  CHECK(pad(x, {0, 1, 0, 1}).to_vector<double>() == Values{0, 1, 0, 2, 3, 0, 0, 0, 0});
  CHECK(pad(x.t(), {1, 0}).to_vector<double>() == Values{0, 0, 2, 0, 1, 3});
  CHECK(pad(zeros({2, 0}), {1, 1}, 3).to_vector<double>() == Values{3, 3, 3, 3});
  CHECK(pad(tensor(2.0), {}).item() == 2);
  CHECK(pad(tensor({1, 2}), {1, 0}, 7).to_vector<std::int64_t>() == std::vector<std::int64_t>{7, 1, 2});
  CHECK(pad(tensor({true}), {1, 1}).to_vector<bool>() == std::vector<bool>{false, true, false});
}

TEST_CASE("negative pads cut off") {
  const Tensor x = counting({5});
  CHECK(pad(x, {-1, -2}).to_vector<double>() == Values{1, 2});
  CHECK(pad(x, {-2, 1}).to_vector<double>() == Values{2, 3, 4, 0});
  CHECK(pad(x, {-2, -3}).shape() == Shape{0});
  CHECK(pad(x, {-5, 2}, 1).to_vector<double>() == Values{1, 1});
  // The result is new memory, however little was asked for.
  CHECK_FALSE(pad(x, {0, 0}).array().storage() == x.array().storage());
  CHECK_FALSE(pad(x, {-1, 0}).array().storage() == x.array().storage());
  CHECK_FALSE(pad(x, {0, 0}, PadMode::reflect).array().storage() == x.array().storage());
}

TEST_CASE("reflect mirrors at the edge, replicate repeats it") {
  const Tensor x = counting({4});
  CHECK(pad(x, {3, 2}, PadMode::reflect).to_vector<double>() == Values{3, 2, 1, 0, 1, 2, 3, 2, 1});
  CHECK(pad(x, {2, 5}, PadMode::replicate).to_vector<double>() == Values{0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3});
  const Tensor m = counting({2, 3});
  CHECK(pad(m, {1, 0, 0, 1}, PadMode::reflect).to_vector<double>() ==
        Values{1, 0, 1, 2, 4, 3, 4, 5, 1, 0, 1, 2});
  CHECK(pad(m, {0, 1, 1, 0}, PadMode::replicate).to_vector<double>() ==
        Values{0, 1, 2, 2, 0, 1, 2, 2, 3, 4, 5, 5});
  CHECK(pad(tensor({1, 2}), {1, 0}, PadMode::reflect).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{2, 1, 2});
}

TEST_CASE("gradients of pad") {
  const auto constant = [](std::vector<Int> pads) {
    return [=](const Tensor& x) { return pad(x, pads, 1.5); };
  };
  const auto mode = [](std::vector<Int> pads, PadMode how) {
    return [=](const Tensor& x) { return pad(x, pads, how); };
  };
  for (const Shape& shape : odd_shapes())
    if (!shape.empty()) check_op("pad", constant({2, 1}), {shape});
  check_op("pad", constant({}), {Shape{}});
  check_op("pad", constant({1, 0, 0, 2, 3, 1}), {{2, 3, 4}});
  check_op("pad", constant({-1, 2, 1, -1}), {{2, 3, 4}});
  check_op("pad", constant({-1, -1}), {{3, 4}});
  check_op("pad", constant({-2, -2}), {{3, 4}});
  for (const PadMode how : {PadMode::reflect, PadMode::replicate}) {
    check_op("pad", mode({2, 1}, how), {{3, 4}});
    check_op("pad", mode({1, 1, 2, 0}, how), {{2, 3, 4}});
    check_op("pad", mode({5, 3}, how), {{300, 200}});
    check_op("pad", mode({0, 0}, how), {{2, 3}});
  }
  check_op("pad", mode({7, 9}, PadMode::replicate), {{2, 1}});
}

TEST_CASE("pad: errors") {
  const Tensor x = zeros({2, 3});
  check_error([&] { pad(Tensor(), {1, 1}); }, "pad" + kUndefined);
  check_error([&] { pad(x, {1}); },
              "pad: expects two pads for each axis, before and after, from the last axis on, got [1]");
  check_error(
      [&] {
        pad(x, {1, 1, 1, 1, 1, 1});
      },
      "pad: pads [1, 1, 1, 1, 1, 1] are for 3 axes, but x [2, 3] has 2");
  check_error([&] { pad(x, {-2, -2}); }, "pad: pads [-2, -2] cut more than axis 1 of [2, 3] has");
  check_error([&] { pad(x, {-4, 7}); }, "pad: pads [-4, 7] cut more than axis 1 of [2, 3] has");
  check_error([&] { pad(x, {INT64_MAX, 1}); }, "pad: pads [9223372036854775807, 1] are too large for [2, 3]");
  check_error(
      [&] {
        pad(x, {0, std::int64_t{1} << 61, 0, 40});
      },
      "pad: [42, 2305843009213693955] has more elements than memory can address");
  check_error(
      [&] {
        pad(x.to(i64), {1, 1}, 0.5);
      },
      "pad: the number 0.5 is not an i64, as the tensor [2, 5] is: convert the tensor with .to(f32)");
  check_error(
      [&] {
        pad(x, {3, 0}, PadMode::reflect);
      },
      "pad: reflect by 3 needs more than 3 elements, but axis 1 of [2, 3] has 3");
  check_error(
      [&] {
        pad(zeros({2, 0}), {1, 0}, PadMode::replicate);
      },
      "pad: replicate by 1 needs more than 0 elements, but axis 1 of [2, 0] has 0");
  check_error(
      [&] {
        pad(x, {-1, 1}, PadMode::reflect);
      },
      "pad: reflect expects pads of 0 or more, got -1 for axis 1 of [2, 3]: cut with slice()");
}
