#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

TEST_CASE("all, any: layouts, threads, instruction sets") {
  struct Case {
    Shape shape;
    Axes axes;
  };
  const Case cases[] = {{{}, {}},    {{7}, 0},    {{3, 4}, 0},    {{3, 4}, {}}, {{2, 3, 4}, {0, 2}},
                        {{0, 3}, 0}, {{0, 3}, 1}, {{300, 200}, 0}};
  for (const Case& c : cases)
    for (const bool keepdim : {false, true}) {
      const auto op = [&](const Tensor& x) {
        return Tensors{all(floor(x), c.axes, keepdim).to(f32), any(floor(x), c.axes, keepdim).to(f32)};
      };
      check_op("all and any", op, {Input(c.shape).constant()}, {.kinks = {-1, 0, 1}});
    }
}

TEST_CASE("all, any: by definition, for every dtype") {
  const Tensor x = tensor({{1.0, 0.0, 2.0}, {1.0, 0.0, 0.0}, {3.0, 0.0, kNan}});
  for (const Tensor& y : {x, x.to(f64), x != 0, (x != 0).to(i64) * 7}) {
    CHECK(values(all(y, 0)) == Values{1, 0, 0});
    CHECK(values(any(y, 0)) == Values{1, 0, 1});
    CHECK(values(all(y, 1)) == Values{0, 0, 0});
    CHECK(values(y.any(-1)) == Values{1, 1, 1});
    CHECK(y.all(1, true).shape() == Shape{3, 1});
    CHECK(all(y, 0).dtype() == boolean);
    CHECK(all(y, {}).shape() == Shape{});
    CHECK_FALSE(y.all({}).item<bool>());
    CHECK(y.any({}).item<bool>());
  }
  CHECK(values(all(zeros({0, 2}), 0)) == Values{1, 1});
  CHECK(values(any(zeros({0, 2}), 0)) == Values{0, 0});
  CHECK(all(zeros({0, 2}), 1).shape() == Shape{0});
  CHECK(all(tensor({-0.0}), 0).item() == 0);
  const Tensor w = leaf(ones({2}));
  CHECK_FALSE(all(w, 0).requires_grad());
}

TEST_CASE("all, any: errors") {
  const Tensor x = zeros({2, 3}), undefined;
  check_error([&] { all(x, 2); }, "all: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { any(x, {0, 0}); }, "any: axis 0 is given twice in [0, 0]");
  check_error([&] { all(undefined, 0); }, "all" + kUndefined);
  check_error([&] { any(undefined, 0); }, "any" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
