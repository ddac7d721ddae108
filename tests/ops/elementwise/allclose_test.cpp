#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

TEST_CASE("allclose: relative to the second, plus an absolute part") {
  const Tensor one = tensor({1.0, 100.0}, f64);
  CHECK(allclose(one, one));
  CHECK(allclose(one, tensor({1.000009, 100.0009}, f64)));
  CHECK_FALSE(allclose(one, tensor({1.0, 100.01}, f64)));
  CHECK(allclose(one, tensor({1.0, 100.01}, f64), 1e-3));
  CHECK(allclose(zeros({2}), full({2}, 1e-9)));
  CHECK_FALSE(allclose(zeros({2}), full({2}, 1e-7)));
}

TEST_CASE("allclose: infinities are close to themselves, NaN to nothing") {
  const Tensor x = tensor({INFINITY, -INFINITY});
  CHECK(allclose(x, x));
  CHECK_FALSE(allclose(x, -x));
  CHECK_FALSE(allclose(ones({2}), x));
  CHECK_FALSE(allclose(x, ones({2})));
  CHECK_FALSE(allclose(tensor({NAN}), tensor({NAN})));
  CHECK(allclose(tensor({NAN, 1.0, INFINITY}), tensor({NAN, 1.0, INFINITY}), 1e-5, 1e-8, /*equal_nan=*/true));
  CHECK_FALSE(allclose(tensor({NAN, 1.0}), tensor({1.0, NAN}), 1e-5, 1e-8, true));
  CHECK_FALSE(allclose(x, ones({2}), 1e-5, INFINITY));  // however large the tolerance
}

TEST_CASE("allclose: integers and bools") {
  CHECK(allclose(tensor({1, 100'000}), tensor({1, 100'001})));
  CHECK_FALSE(allclose(tensor({1, 100'000}), tensor({1, 100'002})));
  CHECK_FALSE(allclose(tensor({1, 2}), tensor({1, 3})));
  CHECK(allclose(tensor({true, false}), tensor({true, false})));
  CHECK_FALSE(allclose(tensor({true, false}), tensor({true, true})));
  // f64 would round these to the same number.
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  CHECK_FALSE(allclose(tensor({large}), tensor({large - 1}), 0, 0));
  CHECK_FALSE(allclose(tensor({large}), tensor({large - 2}), 0, 1));
  CHECK(allclose(tensor({large}), tensor({large - 1}), 0, 1));
  CHECK_FALSE(
      allclose(tensor({INT64_MIN}), tensor({INT64_MAX}), 0, 1));  // their difference wraps around to 1
}

TEST_CASE("allclose: broadcasts, records nothing") {
  Tensor x = ones({2, 3});
  x.requires_grad_();
  const std::int64_t nodes = live_nodes();
  CHECK(allclose(x, ones({3})));
  CHECK(live_nodes() == nodes);
  CHECK(allclose(zeros({0}), zeros({0})));
  check_error([&] { allclose(x, ones({4})); },
              "allclose: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
  check_error([&] { allclose(x, Tensor()); }, "allclose" + kUndefined);
  check_error([&] { allclose(x, ones({3}, f64)); },
              "allclose: operands have different dtypes: f32 [2, 3] and f64 [3]: convert one with .to()");
  check_error([&] { allclose(x, x, -1); }, "allclose: expects tolerances of 0 or more, got -1 and 1e-08");
}

}  // namespace gradus::test
