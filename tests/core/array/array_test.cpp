#include "gradus/core/array/array.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "check_op.h"
#include "gradus/core/error.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::kUndefined;

namespace {

template <class T>
Array make(std::vector<T> values, const Shape& shape) {
  return Array::from_span(std::span<const T>(values), shape);
}

/// 0, 1, 2, ... in f32.
Array counting(const Shape& shape) {
  Array x = Array::empty(shape, f32);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  return x;
}

/// Elements in row-major order, for any layout.
std::vector<double> values(const Array& x) {
  const Array dense = x.to(f64).clone();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("creation") {
  const Array x = make<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(x.dtype() == f32);
  CHECK(x.strides() == Dims{3, 1});
  CHECK(x.numel() == 6);
  CHECK(x.size(-1) == 3);
  CHECK(x.at({1, 0}) == 4);
  CHECK(Array::full({2}, 2.5, f64).at({1}) == 2.5);
  CHECK(Array::full({2}, 3, i64).at({1}) == 3);
  CHECK(Array::full({2}, 1, boolean).at({0}) == 1);
  CHECK(values(Array::zeros({100000}, f32)) == Values(100000, 0));
  CHECK(Array::empty({0, 5}, f32).numel() == 0);
  CHECK_FALSE(Array().defined());
  const std::vector<float> three = {1, 2, 3};
  check_error(
      [&] {
        Array::from_span(std::span<const float>(three), {2, 2});
      },
      "from_span: shape [2, 2] holds 4 elements, got 3 values");
}

TEST_CASE("copies share memory, clones do not") {
  const Array x = counting({3});
  const Array same = x, other = x.clone();
  x.fill_(7);
  CHECK(values(same) == Values{7, 7, 7});
  CHECK(values(other) == Values{0, 1, 2});
  CHECK_FALSE(x.owns_exclusively());
  CHECK(other.owns_exclusively());
  CHECK_FALSE(counting({2, 3}).transpose(0, 1).owns_exclusively());
}

TEST_CASE("reading: item, at, data") {
  CHECK(counting({1, 1}).item() == 0);
  CHECK(make<std::int64_t>({-5}, {}).item() == -5);
  check_error(
      [] { counting({2}).item(); },
      "item: expects one element, got shape [2]: pick one, as in x[0], or reduce with sum() or mean()");
  check_error([] { Array().item(); }, "item" + kUndefined);
  check_error([] { counting({2, 2}).at({1}); }, "at: expects 2 indices for shape [2, 2], got [1]");
  check_error([] { counting({2}).at({2}); }, "select: index 2 is out of range for axis 0 of [2]");
  const Array two = counting({2}), none;
  check_error([&] { two.data<double>(); },
              "data: asked for f64 elements, but the tensor [2] holds f32: convert with .to(f64)");
  check_error([&] { none.data<float>(); }, "data" + kUndefined);
  check_error([] { counting({2}).size(1); }, "size: axis 1 is out of range for 1 axes: expects -1 to 0");
}

TEST_CASE("contiguity ignores the strides of axes of size 1 and of empty arrays") {
  CHECK(counting({2, 3}).is_contiguous());
  CHECK_FALSE(counting({2, 3}).transpose(0, 1).is_contiguous());
  CHECK(counting({1, 3}).transpose(0, 1).is_contiguous());
  CHECK(counting({4, 3}).slice(0, 1, 3).is_contiguous());
  CHECK_FALSE(counting({4, 3}).slice(1, 0, 2).is_contiguous());
  CHECK(counting({4, 3}).slice(1, 0, 2).slice(0, 1, 2).is_contiguous());
  CHECK(counting({0, 3}).transpose(0, 1).is_contiguous());
  CHECK_FALSE(counting({1}).expand({2}).is_contiguous());
}

TEST_CASE("every view that strides allow is found, and no other") {
  // The offsets of all elements in row-major order decide: a shape fits when they step evenly along each
  // axis.
  const auto offsets = [](const Array& x) {
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      std::int64_t rest = i, at = x.offset();
      for (int axis = x.dim() - 1; axis >= 0; rest /= x.shape()[axis--])
        at += rest % x.shape()[axis] * x.strides()[axis];
      result.push_back(at);
    }
    return result;
  };
  const auto fits = [](const std::vector<std::int64_t>& at, const Shape& shape) {
    Strides strides = contiguous_strides(shape);
    for (int axis = 0; axis < shape.size(); ++axis)
      strides[axis] = shape[axis] > 1 ? at[static_cast<std::size_t>(strides[axis])] - at[0] : 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      std::int64_t rest = static_cast<std::int64_t>(i), expected = at[0];
      for (int axis = shape.size() - 1; axis >= 0; rest /= shape[axis--])
        expected += rest % shape[axis] * strides[axis];
      if (expected != at[i]) return false;
    }
    return true;
  };
  const std::vector<Shape> shapes = {
      {24},      {4, 6},  {6, 4},       {2, 12},         {2, 3, 4}, {3, 8},
      {2, 2, 6}, {1, 24}, {24, 1},      {4, 1, 6},       {12, 2},   {2, 2, 2, 3},
      {3, 1, 8}, {8, 3},  {2, 1, 3, 4}, {1, 2, 1, 3, 4}, {6, 2, 2}};
  const Array base = counting({7, 7, 9});
  std::vector<Array> sources = {counting({2, 3, 4}),
                                counting({4, 3, 2}).permute({2, 1, 0}),
                                counting({3, 2, 4}).permute({1, 0, 2}),
                                counting({2, 3, 4}).transpose(1, 2),
                                base.slice(0, 1, 3).slice(1, 2, 5).slice(2, 3, 7),
                                base.slice(0, 0, 2).slice(1, 0, {}, 3).slice(2, 0, 8, 2),
                                counting({4, 6}).slice(1, 0, 6, 3).unsqueeze(1).expand({4, 3, 2}),
                                counting({1, 4}).expand({6, 4}),
                                counting({24}).slice(0, 0, 1).expand({24}),
                                counting({48}).slice(0, 0, {}, 2),
                                counting({2, 3, 8}).slice(2, 0, {}, 2),
                                counting({2, 3, 6}).slice(2, 0, 4),
                                counting({2, 6}).slice(1, 0, 4).unsqueeze(1).expand({2, 3, 4})};
  int found = 0;
  for (const Array& x : sources)
    for (const Shape& shape : shapes) {
      CAPTURE(to_string(x.shape()));
      CAPTURE(to_string(x.strides()));
      CAPTURE(to_string(shape));
      REQUIRE(x.numel() == 24);
      const std::optional<Array> view = x.try_view(shape);
      CHECK(view.has_value() == fits(offsets(x), shape));
      if (view) CHECK(offsets(*view) == offsets(x));
      CHECK(values(x.reshape(shape)) == values(x));
      found += view.has_value();
    }
  CHECK(found > 40);
  CHECK(counting({0, 3}).transpose(0, 1).try_view({5, 0}).has_value());
}

TEST_CASE("one size of a new shape may be inferred") {
  CHECK(counting({4, 6}).reshape({-1, 8}).shape() == Shape{3, 8});
  CHECK(counting({4, 6}).transpose(0, 1).reshape({2, -1}).shape() == Shape{2, 12});
  check_error(
      [] {
        counting({4, 6}).reshape({5, -1});
      },
      "reshape: [4, 6] with 24 elements does not fit into [5, -1]");
  check_error([] { counting({4, 6}).try_view({-1, -1}); }, "view: at most one size may be -1, got [-1, -1]");
}

TEST_CASE("slices clip like Python's") {
  const Array x = counting({5});
  for (std::int64_t start = -7; start <= 7; ++start)
    for (std::int64_t stop = -7; stop <= 7; ++stop)
      for (std::int64_t step = 1; step <= 6; ++step) {
        const auto clip = [](std::int64_t i) {
          return std::min<std::int64_t>(std::max<std::int64_t>(i < 0 ? i + 5 : i, 0), 5);
        };
        Values expected;
        for (std::int64_t i = clip(start); i < clip(stop); i += step)
          expected.push_back(static_cast<double>(i));
        CHECK(values(x.slice(0, start, stop, step)) == expected);
      }
}

TEST_CASE("conversions") {
  const Array x = make<double>({0, 0.25, -1.75, 3}, {4});
  CHECK(values(x.to(i64)) == Values{0, 0, -1, 3});
  CHECK(values(x.to(boolean)) == Values{0, 1, 1, 1});
  CHECK(values(x.to(f32)) == Values{0, 0.25, -1.75, 3});
  CHECK(x.to(f64).storage() == x.storage());
  CHECK(make<double>({NAN}, {1}).to(boolean).at({0}) == 1);
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK(make<std::int64_t>({large}, {1}).to(i64).item<std::int64_t>() == large);
}

TEST_CASE("copy_ broadcasts, converts, raises the version and allows overlap") {
  const Array x = Array::zeros({2, 3}, f32);
  const std::uint32_t version = x.storage().version();
  x.copy_(make<std::int64_t>({1, 2, 3}, {3}));
  CHECK(values(x) == Values{1, 2, 3, 1, 2, 3});
  CHECK(x.storage().version() > version);
  x.slice(1, 0, {}, 2).copy_(make<double>({9, 8}, {2, 1}));
  CHECK(values(x) == Values{9, 2, 9, 8, 2, 8});
  x.select(1, 1).fill_(-1);
  CHECK(values(x) == Values{9, -1, 9, 8, -1, 8});
  const Array row = counting({6});
  row.slice(0, 1).copy_(row.slice(0, 0, -1));
  CHECK(values(row) == Values{0, 0, 1, 2, 3, 4});
  const Array square = counting({2, 2});
  square.copy_(square.transpose(0, 1));
  CHECK(values(square) == Values{0, 2, 1, 3});
  check_error([&] { x.copy_(counting({2})); },
              "copy_: shapes [2] and [2, 3] do not broadcast: axis -1 has sizes 2 and 3");
  check_error(
      [&] {
        x.copy_(counting({4, 2, 3}));
      },
      "copy_: a source of shape [4, 2, 3] does not fit into [2, 3]");
  check_error([&] { x.copy_(Array()); },
              "copy_: the source is undefined: assign it first; a grad() is undefined before backward");
  check_error([] { Array().fill_(1); }, "fill_" + kUndefined);
}

TEST_CASE("add_ adds equal shapes of any layout") {
  const Array x = counting({3, 200}), y = counting({200, 3}).transpose(0, 1);
  x.add_(y);
  CHECK(x.at({2, 7}) == 407 + 23);
  const Array part = x.slice(1, 0, {}, 100);
  part.add_(Array::full({3, 2}, 1000, f32));
  CHECK(x.at({0, 100}) == 100 + 300 + 1000);
  check_error([&] { x.add_(counting({3})); }, "add_: expects f32 [3, 200], got f32 [3]");
  check_error([&] { x.add_(x.to(f64)); }, "add_: expects f32 [3, 200], got f64 [3, 200]");
  const Array whole = Array::full({1}, 3, i64);
  whole.add_(Array::full({1}, (std::int64_t{1} << 53) + 1, i64));  // not by way of f64
  CHECK(whole.data<std::int64_t>()[0] == (std::int64_t{1} << 53) + 4);
  const Array truth = Array::zeros({1}, boolean);
  check_error([&] { truth.add_(truth); }, "add_: expects numbers, got bool [1]: convert with .to(f32)");
}

TEST_CASE("large copies are cut into chunks and still complete") {
  const Array x = counting({301, 203});
  const Array turned = x.transpose(0, 1).clone();
  bool equal = true;
  for (std::int64_t i = 0; i < 301; ++i)
    for (std::int64_t j = 0; j < 203; ++j)
      equal = equal && turned.data<float>()[j * 301 + i] == x.data<float>()[i * 203 + j];
  CHECK(equal);
  CHECK(values(Array::full({}, 2, f32).expand({70000}).clone()) == Values(70000, 2));
}

TEST_CASE("transposing copies are complete for all sizes, axes and dtypes") {
  const auto same = [](const Array& view) {
    const Array copy = view.clone();
    CHECK(copy.is_contiguous());
    bool equal = true;
    for (std::int64_t i = 0; i < view.shape()[0]; ++i)
      for (std::int64_t j = 0; j < view.shape()[1]; ++j) {
        const Array a = view.select(0, i).select(0, j), b = copy.select(0, i).select(0, j);
        equal = equal && values(a) == values(b);
      }
    CHECK(equal);
  };
  for (const std::int64_t rows : {7, 8, 16, 33})
    for (const std::int64_t columns : {1, 8, 15, 16, 50, 1041}) {
      CAPTURE(rows);
      CAPTURE(columns);
      for (const DType dtype : {f32, f64, i64, boolean})
        same(counting({rows, columns}).to(dtype).transpose(0, 1));
      same(counting({rows, columns + 3}).slice(1, 2, columns + 2).transpose(0, 1));
      same(counting({columns, 2 * rows}).slice(1, 0, 2 * rows, 2).transpose(0, 1));
    }
  same(counting({3, 20, 4, 18}).permute({0, 2, 3, 1}));
  same(counting({3, 20, 4, 18}).permute({3, 0, 2, 1}));
  same(counting({3, 20, 4, 18}).permute({2, 3, 0, 1}));
  const Array target = counting({40, 30}), source = counting({30, 20});
  target.slice(1, 5, 25).slice(0, 3, 33).copy_(source);
  target.slice(1, 5, 25).slice(0, 3, 23).copy_(source.slice(0, 0, 20).transpose(0, 1));
  CHECK(target.at({4, 7}) == source.at({2, 1}));
  CHECK(target.at({22, 24}) == source.at({19, 19}));
  CHECK(target.at({23, 5}) == source.at({20, 0}));
  CHECK(target.at({4, 25}) == 145);
}

TEST_CASE("a request for too much memory is an error before anything is allocated") {
  const std::int64_t live = memory_stats().live_bytes;
  check_error(
      [] {
        Array::empty({std::int64_t{1} << 40, 1 << 22}, f32);
      },
      "empty: [1099511627776, 4194304] has more elements than memory can address");
  CHECK_THROWS_AS(Array::empty({std::int64_t{1} << 50}, f64), Error);
  CHECK(memory_stats().live_bytes == live);
}
