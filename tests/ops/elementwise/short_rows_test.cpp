// Elementwise ops and reductions over rows of few values, which have separate implementations.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

/// Equal values; NaN equals NaN.
bool same(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

Tensor integers(const Shape& shape, DType dtype) {
  static Generator generator(3);  // not the same numbers twice
  return randint(-50, 50, shape, generator).to(dtype);
}

/// x repeated to `shape` for real: no op has anything left to broadcast.
Tensor repeated(const Tensor& x, const Shape& shape) { return expand(x, shape).clone(); }

/// Checks every kind of op on a and b against the same op on the broadcast operands.
void check_pair(const Tensor& a, const Tensor& b, const Shape& shape) {
  CAPTURE(a.shape());
  CAPTURE(b.shape());
  CAPTURE(a.dtype());
  const Tensor whole_a = repeated(a, shape), whole_b = repeated(b, shape);
  CHECK(values(a - b) == values(whole_a - whole_b));
  CHECK(values(b - a) == values(whole_b - whole_a));
  CHECK(values((a < b).to(f32)) == values((whole_a < whole_b).to(f32)));
  CHECK(values(where(a > 0.0, b, a)) == values(where(whole_a > 0.0, whole_b, whole_a)));
  CHECK(values(where(a < b, a, b)) == values(where(whole_a < whole_b, whole_a, whole_b)));
}

TEST_CASE("short rows: broadcasting equals the same with repeated operands") {
  for (const DType dtype : {f32, f64, i64})
    for (const std::int64_t c : {1, 2, 3, 5, 7, 8, 9, 13, 16, 23, 24, 25})
      for (const std::int64_t n : {11, 341, 1367}) {  // several runs, several chunks, the last one short
        const Tensor x = integers({n, c}, dtype), row = integers({c}, dtype),
                     column = integers({n, 1}, dtype);
        check_pair(x, row, {n, c});
        check_pair(x, column, {n, c});
        check_pair(row, column, {n, c});
        check_pair(x, integers({1, 1}, dtype), {n, c});
        check_pair(integers({c, n}, dtype).t(), row, {n, c});
        check_pair(integers({n, c + 1}, dtype).slice(1, 0, c), row, {n, c});
        check_pair(integers({n, 2}, dtype).slice(1, 1, 2), x, {n, c});
      }
}

TEST_CASE("short rows: more axes") {
  for (const std::int64_t c : {2, 3, 11}) {
    const Tensor x = integers({3, 421, c}, f32);
    for (const Shape& other : {Shape{3, 1, c}, Shape{1, 421, 1}, Shape{421, 1}, Shape{3, 421, 1}, Shape{c}})
      check_pair(x, integers(other, f32), x.shape());
    check_pair(integers({421, 1}, f32), integers({3, 1, c}, f32), x.shape());
    check_pair(integers({3, c, 421}, f32).transpose(1, 2), integers({3, 1, c}, f32), x.shape());
  }
}

TEST_CASE("short rows: kernels give an element the same bits as in a long row") {
  const Tensor x = rand({1367, 3}) + 0.5, row = rand({3}) + 0.5, column = rand({1367, 1}) + 0.5;
  const Shape shape = x.shape();
  const auto check = [&](auto f) {
    CHECK(values(f(x, row)) == values(f(x, repeated(row, shape))));
    CHECK(values(f(column, row)) == values(f(repeated(column, shape), repeated(row, shape))));
  };
  check([](const Tensor& a, const Tensor& b) { return pow(a, b); });
  check([](const Tensor& a, const Tensor& b) { return a / b; });
  check([](const Tensor& a, const Tensor& b) { return a * b; });
}

struct Extremes {
  double largest, smallest;
  std::int64_t largest_at, smallest_at;
};

/// Of a row, looked at one by one; the first NaN wins.
Extremes extremes(const Values& row) {
  std::size_t high = 0, low = 0;
  for (std::size_t i = 0; i < row.size() && !std::isnan(row[high]); ++i) {
    if (std::isnan(row[i])) high = low = i;
    if (row[i] > row[high]) high = i;
    if (row[i] < row[low]) low = i;
  }
  return {row[high], row[low], static_cast<std::int64_t>(high), static_cast<std::int64_t>(low)};
}

/// All combinations of n of some values that are hard to order.
Tensor hard_rows(std::int64_t n) {
  const Values hard = {0, 1, -2, kInf, -kInf, kNan};
  std::size_t count = 1;
  for (std::int64_t i = 0; i < n; ++i) count *= hard.size();
  Values all;
  for (std::size_t code = 0; code < count; ++code)
    for (std::size_t i = 0, rest = code; i < static_cast<std::size_t>(n); ++i, rest /= hard.size())
      all.push_back(hard[rest % hard.size()]);
  return from_vector(all, {static_cast<std::int64_t>(count), n});
}

void check_extremes(const Tensor& x) {
  const std::int64_t rows = x.size(0), n = x.size(1);
  const Values all = values(x);
  Values largest, smallest, largest_at, smallest_at;
  for (std::int64_t i = 0; i < rows; ++i) {
    const Extremes e = extremes(Values(all.begin() + i * n, all.begin() + (i + 1) * n));
    largest.push_back(e.largest), smallest.push_back(e.smallest);
    largest_at.push_back(static_cast<double>(e.largest_at));
    smallest_at.push_back(static_cast<double>(e.smallest_at));
  }
  CHECK(same(values(max(x, 1)), largest));
  CHECK(same(values(min(x, 1)), smallest));
  CHECK(values(argmax(x, 1)) == largest_at);
  CHECK(values(argmin(x, 1)) == smallest_at);
  const Tensor columns = x.t().contiguous();
  CHECK(same(values(max(columns, 0)), largest));
  CHECK(same(values(min(columns, 0)), smallest));
}

TEST_CASE("short rows: max, min, argmax, argmin of hard values") {
  for (const std::int64_t n : {1, 2, 3, 4}) {
    check_extremes(hard_rows(n));
    check_extremes(hard_rows(n).to(f32));
  }
}

TEST_CASE("short rows: max, min, argmax, argmin at odd sizes") {
  for (const DType dtype : {f32, f64, i64})
    for (const std::int64_t n : {2, 3, 5, 7, 8, 9, 31, 33, 64, 100, 1025, 5003}) {
      check_extremes(integers({3, n}, dtype));
      check_extremes(integers({7, n}, dtype));
    }
}

TEST_CASE("narrow columns: a NaN in any place shows in max and min") {
  for (const std::int64_t place : {0, 1, 62, 63, 64, 126, 127, 128, 254}) {
    const Tensor flat = zeros({255}), x = where(arange(255) == static_cast<double>(place), flat + kNan, flat);
    const Values largest = values(max(x.reshape({85, 3}), 0)), smallest = values(min(x.reshape({85, 3}), 0));
    for (std::int64_t j = 0; j < 3; ++j) {
      CHECK(std::isnan(largest[static_cast<std::size_t>(j)]) == (place % 3 == j));
      CHECK(std::isnan(smallest[static_cast<std::size_t>(j)]) == (place % 3 == j));
    }
  }
}

TEST_CASE("short rows: logsumexp") {
  for (const std::int64_t n : {1, 2, 3, 4, 7, 8}) {
    const Tensor x = n < 5 ? hard_rows(n) : integers({1367, n}, f64);
    const Values all = values(x);
    Values want;
    for (auto row = all.begin(); row != all.end(); row += n) {
      const Extremes e = extremes(Values(row, row + n));
      double total = 0;
      for (std::int64_t i = 0; i < n; ++i) total += std::exp(row[i] - e.largest);
      want.push_back(std::isfinite(e.largest) ? e.largest + std::log(total) : e.largest);
    }
    for (const DType dtype : {f32, f64}) {
      const Values got = values(logsumexp(x.to(dtype), 1));
      CHECK(same(values(logsumexp(x.to(dtype).t().contiguous(), 0)), got));
      for (std::size_t i = 0; i < want.size(); ++i)
        REQUIRE((same({got[i]}, {want[i]}) ||
                 got[i] == doctest::Approx(want[i]).epsilon(dtype == f32 ? 1e-6 : 1e-15)));
    }
  }
}

TEST_CASE("short rows: sum and norm") {
  for (const DType dtype : {f32, f64})
    for (const std::int64_t n : {1, 2, 3, 5, 7, 8, 9}) {
      const Tensor x = integers({1367, n}, dtype);  // small integers: every order of adding is exact
      const Values all = values(x), total = values(sum(x, 1)), squares = values(square(norm(x, 2, 1)));
      for (std::size_t i = 0; i < total.size(); ++i) {
        double want = 0, want_square = 0;
        for (std::size_t j = i * static_cast<std::size_t>(n); j < (i + 1) * static_cast<std::size_t>(n); ++j)
          want += all[j], want_square += all[j] * all[j];
        REQUIRE(total[i] == want);
        REQUIRE(squares[i] == doctest::Approx(want_square).epsilon(1e-6));
      }
    }
}

}  // namespace
}  // namespace gradus::test
