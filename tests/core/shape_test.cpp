#include "gradus/core/shape.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "check_op.h"

using namespace gradus;
using gradus::test::check_error;

TEST_CASE("Dims is a short list of integers") {
  Dims dims = {2, 3};
  dims.push_back(4);
  dims.insert(0, 1);
  dims.insert(4, 5);
  CHECK(dims == Dims{1, 2, 3, 4, 5});
  dims.erase(1);
  dims.erase(3);
  CHECK(dims == Dims{1, 3, 4});
  CHECK(dims.back() == 4);
  CHECK(dims.contains(3));
  CHECK_FALSE(dims.contains(2));
  CHECK_FALSE(dims == Dims{1, 3});
  CHECK(Dims{}.empty());
  CHECK(Dims::filled(3, 7) == Dims{7, 7, 7});
  CHECK(to_string(dims) == "[1, 3, 4]");
  CHECK(to_string(Dims{}) == "[]");
}

TEST_CASE("numel multiplies sizes that fit in memory") {
  CHECK(numel({}) == 1);
  CHECK(numel({2, 3, 4}) == 24);
  CHECK(numel({5, 0, 7}) == 0);
  constexpr std::int64_t most = PTRDIFF_MAX / 8;
  CHECK(numel({most, 1}) == most);
  check_error([] { numel({2, -1}); }, "numel: expects sizes of 0 or more, got [2, -1]");
  check_error([] { numel({std::int64_t{1} << 61}); },
              "numel: [2305843009213693952] has more elements than memory can address");
  check_error(
      [] {
        numel({std::int64_t{1} << 32, std::int64_t{1} << 32});
      },
      "numel: [4294967296, 4294967296] has more elements than memory can address");
  // No elements, but strides that do not fit.
  check_error(
      [] {
        numel({0, std::int64_t{1} << 40, std::int64_t{1} << 40});
      },
      "numel: [0, 1099511627776, 1099511627776] has more elements than memory can address");
}

TEST_CASE("contiguous strides are row-major") {
  CHECK(contiguous_strides({2, 3, 4}) == Dims{12, 4, 1});
  CHECK(contiguous_strides({2, 0, 4}) == Dims{4, 4, 1});
  CHECK(contiguous_strides({}) == Dims{});
}

TEST_CASE("negative axes count from the end") {
  CHECK(normalize_axis("op", -1, 3) == 2);
  CHECK(normalize_axis("op", 0, 1) == 0);
  CHECK(normalize_axes("op", {-1, 0}, 3) == Dims{0, 2});
  CHECK(normalize_axes("op", {}, 3) == Dims{0, 1, 2});
  CHECK(normalize_axes("op", 1, 3) == Dims{1});
  CHECK(normalize_axes("op", {}, 0) == Dims{});
  check_error([] { normalize_axis("op", 2, 2); }, "op: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([] { normalize_axis("op", -3, 2); }, "op: axis -3 is out of range for 2 axes: expects -2 to 1");
  check_error([] { normalize_axis("op", INT64_MIN, 2); },
              "op: axis -9223372036854775808 is out of range for 2 axes: expects -2 to 1");
  check_error([] { normalize_axis("op", -1, 0); }, "op: axis -1 does not exist: the tensor has 0 axes");
  check_error([] { normalize_axes("op", {0, -2}, 2); }, "op: axis -2 is given twice in [0, -2]");
}

TEST_CASE("broadcasting as in NumPy") {
  CHECK(broadcast_shapes("op", {2, 3}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast_shapes("op", {2, 1}, {3}) == Shape{2, 3});
  CHECK(broadcast_shapes("op", {}, {4, 5}) == Shape{4, 5});
  CHECK(broadcast_shapes("op", {1}, {0}) == Shape{0});
  CHECK(broadcast_shapes("op", {5, 1, 4}, {1, 3, 1}) == Shape{5, 3, 4});
  check_error(
      [] {
        broadcast_shapes("op", {2, 3}, {2, 4});
      },
      "op: shapes [2, 3] and [2, 4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error(
      [] {
        broadcast_shapes("op", {3, 1, 2}, {2, 1, 2});
      },
      "op: shapes [3, 1, 2] and [2, 1, 2] do not broadcast: axis -3 has sizes 3 and 2");
  check_error([] { broadcast_shapes("op", {0}, {2}); },
              "op: shapes [0] and [2] do not broadcast: axis -1 has sizes 0 and 2");
}

TEST_CASE("reduced_shape drops axes or keeps them as 1") {
  CHECK(reduced_shape({2, 3, 4}, {0, 2}, false) == Shape{3});
  CHECK(reduced_shape({2, 3, 4}, {0, 2}, true) == Shape{1, 3, 1});
  CHECK(reduced_shape({}, {}, true) == Shape{});
}

TEST_CASE("at most 8 axes") {
  const std::vector<std::int64_t> nine(9, 1);
  check_error([&] { Dims dims{std::span(nine)}; }, "Shape: expects at most 8 axes, got 9");
  check_error([] { Dims dims{1, 2, 3, 4, 5, 6, 7, 8, 9}; }, "Shape: expects at most 8 axes, got 9");
  CHECK(Dims{std::span(nine).first(2)} == Dims{1, 1});
  check_error([] { Dims::filled(8, 1).push_back(2); },
              "Shape: expects at most 8 axes, got [1, 1, 1, 1, 1, 1, 1, 1] with one more");
}
