// Values in and out of tensors do not change: integers of any width, also those that a double cannot
// represent.

#include <doctest/doctest.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check_op.h"
#include "gradus/ops/ops.h"

using namespace gradus;
using gradus::test::check_error;

namespace {

using Ints = std::vector<std::int64_t>;
constexpr std::int64_t kBig = (std::int64_t{1} << 53) + 1;  // 2^53 + 1: the first integer no double is

Ints ints(const Tensor& x) { return x.to_vector<std::int64_t>(); }

template <class T>
void check_round_trip(const std::vector<T>& values) {
  const Tensor x = from_vector(values, {static_cast<std::int64_t>(values.size())});
  CHECK(x.dtype() == (std::is_same_v<T, bool> ? boolean : i64));
  CHECK(x.to_vector<T>() == values);
}

template <class T>
void check_limits() {
  check_round_trip<T>({std::numeric_limits<T>::min(), 1, std::numeric_limits<T>::max()});
}

}  // namespace

TEST_CASE("vectors of integers of any width convert to i64 and back") {
  check_limits<signed char>();
  check_limits<unsigned char>();
  check_limits<short>();
  check_limits<unsigned short>();
  check_limits<int>();
  check_limits<unsigned>();
  check_limits<long>();
  check_limits<long long>();
  check_round_trip<unsigned long>({0, LONG_MAX});
  check_round_trip<unsigned long long>({0, INT64_MAX});
  check_round_trip<bool>({true, false, true});
  const std::vector<int> three = {1, -2, 3};
  CHECK(ints(from_span<int>(three, {3})) == Ints{1, -2, 3});
  CHECK(Array::from_span(std::span<const int>(three), {3, 1}).shape() == Shape{3, 1});
  CHECK(from_vector(std::vector<float>{0.5f}, {1}).dtype() == f32);
  CHECK(from_vector(std::vector<double>{0.5}, {1}).dtype() == f64);
  check_error([&] { from_vector(three, {2}); }, "from_vector: shape [2] holds 2 elements, got 3 values");
  CHECK(from_vector(std::vector<int>{1, 2, 3, 4, 5, 6}, {2, -1}).shape() == Shape{2, 3});
  CHECK(from_vector(three, {-1}).shape() == Shape{3});
  CHECK(from_vector(three).shape() == Shape{3});
  CHECK(from_vector(std::vector<float>()).shape() == Shape{0});
  CHECK(from_span<int>(three, {-1, 1, 3}).shape() == Shape{1, 1, 3});
  CHECK(from_vector(std::vector<int>(), {-1, 3}).shape() == Shape{0, 3});
  check_error([&] { from_vector(three, {-3}); }, "from_vector: expects sizes of 0 or more, got [-3]");
  check_error(
      [&] {
        from_vector(three, {2, -1});
      },
      "from_vector: [3] with 3 elements does not fit into [2, -1]");
  check_error([&] { from_vector(three, {-1, -1}); }, "from_vector: at most one size may be -1, got [-1, -1]");
  check_error(
      [&] {
        from_vector(std::vector<int>(), {0, -1});
      },
      "from_vector: [0] with 0 elements does not fit into [0, -1]");
  check_error(
      [] {
        from_vector(std::vector<unsigned long long>{1, UINT64_MAX}, {2});
      },
      "from_vector: 18446744073709551615 at index 1 does not fit: expects -9223372036854775808 to "
      "9223372036854775807");
}

TEST_CASE("to_vector and item convert to T, or name the element that does not fit") {
  CHECK(tensor({1.0, 2.0}).to_vector<int>() == std::vector<int>{1, 2});
  CHECK(tensor({true, false}).to_vector<double>() == std::vector<double>{1, 0});
  CHECK(tensor({1, 0}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(tensor(0.1, f64).item<float>() == 0.1f);  // rounding is what a float is for
  CHECK(tensor({{1, 2}, {3, 4}}).t().to_vector<short>() == std::vector<short>{1, 3, 2, 4});
  check_error(
      [] {
        tensor({1, 300}).to_vector<unsigned char>();
      },
      "to_vector: 300 at index 1 does not fit: expects 0 to 255");
  check_error([] { tensor({-1}).to_vector<unsigned>(); },
              "to_vector: -1 at index 0 does not fit: expects 0 to 4294967295");
  check_error(
      [] {
        tensor({1.0, 2.5}).to_vector<int>();
      },
      "to_vector: 2.5 at index 1 is not a whole number: drop fractions with .to(i64) first, or read it as "
      "double");
  check_error([] { tensor({NAN}).to_vector<std::int64_t>(); },
              "to_vector: nan at index 0 is not a whole number: drop fractions with .to(i64) first, or read "
              "it as double");
  check_error([] { tensor(1e19, f64).item<std::int64_t>(); },
              "item: 1e+19 does not fit: expects -9223372036854775808 to 9223372036854775807");
  check_error([] { tensor({2}).to_vector<bool>(); },
              "to_vector: 2 at index 0 is neither 0 nor 1: compare first, as in x != 0");
  CHECK(tensor(kBig).item<std::int64_t>() == kBig);
  CHECK(tensor(kBig - 1).item() == 0x1p53);
  check_error(
      [] { tensor(kBig).item(); },
      "item: 9007199254740993 is not exact in 53 bits of precision: read it with item<std::int64_t>()");
  check_error(
      [] {
        tensor({1, kBig}).to_vector<double>();
      },
      "to_vector: 9007199254740993 at index 1 is not exact in 53 bits of precision: read it with "
      "to_vector<std::int64_t>()");
  check_error([] { tensor((1 << 24) + 1).item<float>(); },
              "item: 16777217 is not exact in 24 bits of precision: read it with item<std::int64_t>()");
  check_error(
      [] { tensor(INT64_MAX).item(); },
      "item: 9223372036854775807 is not exact in 53 bits of precision: read it with item<std::int64_t>()");
  check_error(
      [] { tensor({kBig}).array().at({0}); },
      "item: 9007199254740993 is not exact in 53 bits of precision: read it with item<std::int64_t>()");
}

TEST_CASE("integers beyond 2^53 pass through every op unchanged") {
  const Tensor x = tensor({kBig, kBig + 2});
  CHECK(ints(full({2}, kBig)) == Ints{kBig, kBig});
  CHECK(ints(full({1}, kBig, i64)) == Ints{kBig});
  CHECK(ints(full_like(x, kBig)) == Ints{kBig, kBig});
  CHECK(ints(x.clone().fill_(kBig)) == Ints{kBig, kBig});
  CHECK(ints(tensor({{kBig}, {true}})) == Ints{kBig, 1});
  CHECK(ints(tensor({INT64_MAX, INT64_MIN})) == Ints{INT64_MAX, INT64_MIN});
  CHECK(ints(arange(kBig, kBig + 3)) == Ints{kBig, kBig + 1, kBig + 2});
  CHECK(ints(arange(INT64_MAX, INT64_MIN, INT64_MIN + 1)) == Ints{INT64_MAX, 0, INT64_MIN + 1});
  CHECK(ints(eye(1, 1, i64) * kBig) == Ints{kBig});

  const Tensor zero = zeros({1}, i64), one = ones({1}, i64);
  CHECK(ints(zero + kBig) == Ints{kBig});
  CHECK(ints(kBig + zero) == Ints{kBig});
  CHECK(ints(zero - kBig) == Ints{-kBig});
  CHECK(ints(kBig - zero) == Ints{kBig});
  CHECK(ints(one * kBig) == Ints{kBig});
  CHECK(ints(kBig * one) == Ints{kBig});
  CHECK(((x == kBig).to_vector<bool>() == std::vector<bool>{true, false}));
  CHECK(((x != kBig).to_vector<bool>() == std::vector<bool>{false, true}));
  CHECK_FALSE((x < kBig).any());
  CHECK((x >= kBig).all());
  CHECK_FALSE((x <= kBig - 1).any());
  CHECK(((x > kBig).to_vector<bool>() == std::vector<bool>{false, true}));
  CHECK_FALSE((x == 0x1p53).any());
  CHECK((x > 0.5).all());
  CHECK((x < 1e300).all());
  CHECK((x < UINT64_MAX).all());

  Tensor written = zeros({3}, i64);
  written[0] = kBig;
  written.slice(0, 1) = x;
  CHECK(ints(written) == Ints{kBig, kBig, kBig + 2});
  CHECK(ints(where(x == kBig, x, zeros_like(x))) == Ints{kBig, 0});
  CHECK(ints(masked_fill(x, x != kBig, kBig)) == Ints{kBig, kBig});
  CHECK(ints(clamp(x, kBig + 1, kBig + 1)) == Ints{kBig + 1, kBig + 1});
  CHECK(ints(clamp(x, 0.5, INFINITY)) == ints(x));
  CHECK(ints(neg(x)) == Ints{-kBig, -kBig - 2});
  CHECK(ints(abs(-x)) == ints(x));
  CHECK(ints(maximum(x, x - 2)) == ints(x));

  CHECK(x.sum().item<std::int64_t>() == 2 * kBig + 2);
  CHECK(ints(x.reshape({2, 1}).sum(1)) == ints(x));
  CHECK(x.max().item<std::int64_t>() == kBig + 2);
  CHECK(x.min().item<std::int64_t>() == kBig);
  CHECK(x.argmin().item() == 0);
  CHECK(ints(cumsum(x, 0)) == Ints{kBig, 2 * kBig + 2});
  CHECK(ints(sort(x, 0, true).first) == Ints{kBig + 2, kBig});
  CHECK(ints(topk(tensor({kBig - 1, kBig, kBig - 1}), 1).first) == Ints{kBig});
  CHECK(ints(gather(x, 0, tensor({1}))) == Ints{kBig + 2});
  CHECK(ints(scatter_add(zeros({1}, i64), 0, tensor({0, 0}), x)) == Ints{2 * kBig + 2});
  CHECK(ints(cat({x, x})).back() == kBig + 2);
  CHECK(ints(tril(tensor({{kBig}}))) == Ints{kBig});
  CHECK(to_string(x) == "tensor([9007199254740993, 9007199254740995])");
  CHECK(ints(x.to(i64)) == ints(x));
  CHECK(ints(zeros({2}, i64).copy_(x)) == ints(x));
}

TEST_CASE("a number that is not an i64 is not converted silently") {
  const Tensor n = arange(3);
  const std::string remedy = " is not an i64, as the tensor [3] is: convert the tensor with .to(f32)";
  check_error([&] { n + 0.5; }, "add: the number 0.5" + remedy);
  check_error([&] { n* NAN; }, "mul: the number nan" + remedy);
  check_error([&] { n - UINT64_MAX; }, "sub: the number 1.8446744073709552e+19" + remedy);
  check_error([&] { masked_fill(n, n > 0, 0.5); }, "masked_fill: the number 0.5" + remedy);
  check_error([&] { full_like(n, 2.5); }, "full_like: the number 2.5" + remedy);
  check_error([] { full({3}, 1e30, i64); },
              "full: the number 1e+30 is not an i64: leave out the dtype, or round it");
  check_error(
      [] {
        tensor({1.0, 2.5, 3.0}, i64);
      },
      "tensor: the number 2.5 is not an i64: leave out the dtype, or round it");
  check_error([&] { n.fill_(2.5); }, "fill_: the number 2.5" + remedy);
  check_error(
      [&] { n[0] = 2.5; },
      "operator=: the number 2.5 is not an i64, as the tensor [] is: convert the tensor with .to(f32)");
  check_error(
      [] {
        tensor({1.0, NAN}).to(i64);
      },
      "to: nan at index 1 of [2] (row-major) is not an i64: take it out with where or clamp first");
  check_error(
      [&] {
        n.copy_(tensor({1.0, 2.0, -1e19}));
      },
      "copy_: -1e+19 at index 2 of [3] (row-major) is not an i64: take it out with where or clamp first");
  CHECK(ints(n) == Ints{0, 1, 2});  // nothing was written
  CHECK(ints(tensor({-0x1p63, 0x1p62, -1.75}, f64).to(i64)) == Ints{INT64_MIN, std::int64_t{1} << 62, -1});
}

TEST_CASE("full, tensor and arange have the dtype of their numbers") {
  CHECK(full({2}, 1).dtype() == i64);
  CHECK(full({2}, true).dtype() == boolean);
  CHECK(full({2}, 1.0).dtype() == f32);
  CHECK(full({2}, 1, f64).dtype() == f64);
  CHECK(tensor({true, 2}).dtype() == i64);
  CHECK(tensor({true, 0.5}).dtype() == f32);
  CHECK(arange(3).dtype() == i64);
  CHECK(arange(3.0).dtype() == f32);
  CHECK(arange(3.5).to_vector<double>() == std::vector<double>{0, 1, 2, 3});
  CHECK(arange(3.5).dtype() == f32);
  CHECK(arange(0, 3, 1.5).dtype() == f32);
  CHECK(arange(0, 2.0).dtype() == f32);
  CHECK(arange(3, f64).dtype() == f64);
  CHECK(ints(arange(5, 0, -2)) == Ints{5, 3, 1});
  CHECK(ints(arange(0.0, 3.0, 1.0, i64)) == Ints{0, 1, 2});
  check_error([] { arange(0, 1, 0.5, i64); },
              "arange: i64 is made of whole numbers, got 0 to 1 by 0.5: leave out the dtype");
  check_error([] { arange(2, boolean); }, "arange: expects numbers, got bool: compare, as in arange(n) < k");
  const DefaultDType guard(f64);
  CHECK(arange(2.0).dtype() == f64);
}
