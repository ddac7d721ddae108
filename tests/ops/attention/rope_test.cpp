#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

/// By complex numbers: channel pair i of row t times exp(i angle).
Tensor reference(const Tensor& x, const RopeOptions& o) {
  const std::int64_t rows = x.size(-2), width = x.size(-1), channels = o.channels == 0 ? width : o.channels;
  const Tensor flat = x.detach().contiguous().reshape({-1, rows, width}).to(f64);
  Tensor y = flat.clone();
  const auto in = flat.span<double>();
  const auto out = y.mutable_span<double>();
  for (std::int64_t n = 0; n < flat.size(0); ++n)
    for (std::int64_t t = 0; t < rows; ++t)
      for (std::int64_t i = 0; i < channels / 2; ++i) {
        const bool halves = o.pairs == RopePairs::halves;
        const auto row = static_cast<std::size_t>((n * rows + t) * width);
        const auto a = row + static_cast<std::size_t>(halves ? i : 2 * i);
        const auto b = row + static_cast<std::size_t>(halves ? i + channels / 2 : 2 * i + 1);
        const double angle = static_cast<double>(t + o.offset) *
                             std::pow(o.base, -2.0 * static_cast<double>(i) / static_cast<double>(channels));
        out[a] = in[a] * std::cos(angle) - in[b] * std::sin(angle);
        out[b] = in[b] * std::cos(angle) + in[a] * std::sin(angle);
      }
  return y.reshape(x.shape());
}

double largest_difference(const Tensor& a, const Tensor& b) {
  return (a.detach().to(f64) - b.to(f64)).abs().max().item();
}

TEST_CASE("rope: every pair turned by its angle") {
  manual_seed(0);
  for (const RopePairs pairs : {RopePairs::halves, RopePairs::neighbours})
    for (const Shape& shape : {Shape{1, 2}, {3, 4}, {2, 3, 70, 8}, {5, 200, 6}, {1, 1, 1, 64}})
      for (const RopeOptions& o : {RopeOptions{.pairs = pairs},
                                   {.offset = 1, .pairs = pairs},
                                   {.offset = 1000, .base = 500'000, .pairs = pairs},
                                   {.offset = 63, .channels = 2, .pairs = pairs}}) {
        const Tensor x = randn(shape, f64);
        CHECK(largest_difference(rope(x, o), reference(x, o)) < 1e-11);
        CHECK(largest_difference(rope(x.to(f32), o), reference(x, o)) < 1e-5);
      }
}

TEST_CASE("rope: views are read in place, and a position has the same bits in any row") {
  manual_seed(1);
  const Tensor packed = randn({2, 150, 3 * 8});
  const Tensor heads = packed.slice(-1, 8, 16).reshape({2, 150, 2, 4}).transpose(1, 2);
  const Tensor whole = rope(heads);
  CHECK((whole == rope(heads.contiguous())).all());
  for (const std::int64_t at : {0, 1, 63, 64, 65, 149})
    CHECK((rope(heads.slice(2, at), {.offset = at}) == whole.slice(2, at)).all());
  CHECK((rope(heads.transpose(-1, -2).contiguous().transpose(-1, -2)) == whole).all());
}

TEST_CASE("rope: products depend only on the distance") {
  manual_seed(2);
  const Tensor q = randn({1, 16}, f64), k = randn({1, 16}, f64);
  const auto product = [&](std::int64_t i, std::int64_t j) {
    return (rope(q, {.offset = i}) * rope(k, {.offset = j})).sum().item();
  };
  CHECK(product(3, 7) == doctest::Approx(product(103, 107)));
  CHECK(product(0, 4) == doctest::Approx(product(3, 7)));
  CHECK(product(3, 7) != doctest::Approx(product(3, 8)));
}

TEST_CASE("rope: gradients, layouts, threads, sizes of 0") {
  const auto op = [](const RopeOptions& o) { return Op([o](const Tensor& x) { return rope(x, o); }); };
  check_op("rope", op({}), {{2, 3, 4}});
  check_op("rope", op({.offset = 5, .channels = 4, .pairs = RopePairs::neighbours}), {{2, 2, 3, 6}});
  check_op("rope", op({.base = 100}), {{1, 2}});
  check_op("rope", op({}), {{1, 2, 130, 8}});
  check_op("rope", op({}), {{0, 3, 4}});
  check_op("rope", op({}), {{2, 0, 4}});
  check_op("rope", op({}), {{2, 3, 0}});
}

TEST_CASE("rope: errors") {
  check_error([] { rope(ones({4})); }, "rope: expects x [..., T, D], got [4]");
  check_error(
      [] {
        rope(ones({2, 3}));
      },
      "rope: expects an even number of channels to turn, at most the 3 of x [2, 3], got 3");
  check_error(
      [] {
        rope(ones({2, 4}), {.channels = 6});
      },
      "rope: expects an even number of channels to turn, at most the 4 of x [2, 4], got 6");
  check_error([] { rope(ones({2, 4}), {.offset = -1}); }, "rope: expects an offset of 0 or more, got -1");
  check_error([] { rope(ones({2, 4}), {.base = 0}); }, "rope: expects a base above 0, got 0");
  check_error(
      [] {
        rope(ones({2, 4}, i64));
      },
      "rope: expects f32 or f64, got i64 [2, 4]: convert with .to(f32)");
  check_error([] { rope(Tensor()); },
              "rope: the tensor is undefined: assign it first; a grad() is undefined before backward");
}

}  // namespace
}  // namespace gradus::test
