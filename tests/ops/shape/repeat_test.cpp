#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::counting;
using gradus::test::kUndefined;
using gradus::test::Values;

TEST_CASE("repeat puts copies side by side") {
  const Tensor x = counting({2, 2});
  CHECK(repeat(x, {2, 1}).to_vector<double>() == Values{0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(repeat(x, {1, 2}).to_vector<double>() == Values{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(repeat(x, {2, 1, 1}).shape() == Shape{2, 2, 2});
  CHECK(repeat(x.t(), {1, 2}).to_vector<double>() == Values{0, 2, 0, 2, 1, 3, 1, 3});
  CHECK(repeat(x, {0, 3}).shape() == Shape{0, 6});
  CHECK(repeat(zeros({0, 2}), {3, 2}).shape() == Shape{0, 4});
  CHECK(repeat(tensor(3), {2}).to_vector<std::int64_t>() == std::vector<std::int64_t>{3, 3});
  CHECK(repeat(tensor(3), {}).shape() == Shape{});
  CHECK(repeat(tensor({true, false}), {2}).to_vector<bool>() == std::vector<bool>{true, false, true, false});
  CHECK_FALSE(repeat(x, {1, 1}).array().storage() == x.array().storage());
  const Tensor cube = counting({2, 3, 4}), y = repeat(cube, {3, 2, 2, 3});
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const std::int64_t b = i / 72 % 4 % 2, c = i / 12 % 6 % 3, d = i % 12 % 4;
    if (y.flatten()[i].item() != cube[b][c][d].item()) FAIL("element " << i);
  }
}

TEST_CASE("repeat_interleave repeats each part in a row") {
  const Tensor x = counting({2, 2});
  CHECK(repeat_interleave(x, 2, 0).to_vector<double>() == Values{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(repeat_interleave(x, 2, -1).to_vector<double>() == Values{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(repeat_interleave(x, 2).to_vector<double>() == Values{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(repeat_interleave(x, tensor({2, 1}), 1).to_vector<double>() == Values{0, 0, 1, 2, 2, 3});
  CHECK(repeat_interleave(x, tensor({0, 1, 2, 0})).to_vector<double>() == Values{1, 2, 2});
  CHECK(repeat_interleave(x, tensor({3}), 0).shape() == Shape{6, 2});
  CHECK(repeat_interleave(x, tensor(0), 0).shape() == Shape{0, 2});
  CHECK(repeat_interleave(x, 0).shape() == Shape{0});
  CHECK(repeat_interleave(zeros({0}), 3).shape() == Shape{0});
}

TEST_CASE("gradients of repeat and repeat_interleave") {
  const auto times = [](const Dims& counts) { return [=](const Tensor& x) { return repeat(x, counts); }; };
  check_op("repeat", times({3}), {{4}});
  check_op("repeat", times({2, 3}), {{3, 2}});
  check_op("repeat", times({2, 1, 3}), {{3, 2}});
  check_op("repeat", times({2, 2, 1, 3}), {{2, 1, 3}});
  check_op("repeat", times({4}), {Shape{}});
  check_op("repeat", times({1, 1}), {{2, 3}});
  check_op("repeat", times({0, 2}), {{2, 3}});
  check_op("repeat", times({3, 2}), {{0, 2}});
  check_op("repeat", times({2, 3}), {{300, 200}});
  const auto row = [](const Tensor& counts, std::int64_t axis) {
    return [=](const Tensor& x) { return repeat_interleave(x, counts, axis); };
  };
  check_op("repeat_interleave", row(tensor(3), 1), {{2, 3, 2}});
  check_op("repeat_interleave", row(tensor({2, 0, 1}), 1), {{2, 3, 2}});
  check_op("repeat_interleave", [](const Tensor& x) { return repeat_interleave(x, 2); }, {{2, 3}});
  check_op("repeat_interleave", row(tensor(2), 0), {{300, 200}});
}

TEST_CASE("repeat and repeat_interleave: errors") {
  const Tensor x = zeros({2, 3});
  check_error([&] { repeat(Tensor(), {1}); }, "repeat" + kUndefined);
  check_error([&] { repeat(x, {2}); }, "repeat: expects a count for each axis of [2, 3], got [2]");
  check_error([&] { repeat(x, {2, -1}); }, "repeat: expects counts of 0 or more, got [2, -1]");
  check_error(
      [&] {
        repeat(x, {std::int64_t{1} << 61, 1});
      },
      "repeat: [4611686018427387904, 3] has more elements than memory can address");
  check_error(
      [&] {
        repeat(x, {INT64_MAX, 1});
      },
      "repeat: [9223372036854775807, 1] times [2, 3] has more elements than memory can address");
  check_error([&] { repeat_interleave(Tensor(), 2); }, "repeat_interleave" + kUndefined);
  check_error([&] { repeat_interleave(x, -2, 0); }, "repeat_interleave: expects counts of 0 or more, got -2");
  check_error(
      [&] {
        repeat_interleave(x, tensor({1, 2}), 1);
      },
      "repeat_interleave: expects 3 counts for axis 1 of [2, 3], or one, got [2]");
  check_error([&] { repeat_interleave(x, tensor({1.0}), 1); },
              "repeat_interleave: expects i64 counts, got f32 [1]: convert with .to(i64)");
  check_error([&] { repeat_interleave(x, 2, 2); },
              "repeat_interleave: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { repeat_interleave(x, INT64_MAX, 0); },
              "repeat_interleave: the counts for [2, 3] add up to more than memory can address");
}

TEST_CASE("repeat: the result is a copy, also of one number, and of all repeated once") {
  for (const Tensor& x : {ones({1}), ones({1, 1}), ones({2, 3})})
    for (const std::int64_t count : {1, 2}) {
      const Tensor y = repeat(x, x.dim() == 1 ? Dims{count} : Dims{count, 1});
      x.fill_(5);
      CHECK((y == 1).all());
      y.fill_(2);  // a number of its own everywhere
      y.slice(0, 0, 1).fill_(3);
      CHECK((y.slice(0, 1) == 2).all());
      x.fill_(1);
    }
  const Tensor y = repeat(arange(2).to(f64), {2, 3, 2});  // some axes copied, others only repeated
  y += 1;
  y.select(0, 0).fill_(5);
  CHECK(y.select(0, 1).to_vector<double>() == std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2});
}
