#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

TEST_CASE("equal: shapes and all values") {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
  CHECK(equal(x, x));
  CHECK(equal(x, x.clone()));
  CHECK(equal(x.transpose(0, 1), tensor({{1.0, 3.0}, {2.0, 4.0}})));  // whatever the strides
  CHECK_FALSE(equal(x, x.transpose(0, 1)));
  CHECK_FALSE(equal(x, tensor({{1.0, 2.0}, {3.0, std::nextafter(4.0F, 5.0F)}})));
  CHECK_FALSE(equal(ones({2, 2}), ones({1, 2})));  // nothing broadcasts
  CHECK_FALSE(equal(ones({4}), ones({2, 2})));
  CHECK_FALSE(equal(ones({1}), ones({})));
  CHECK(equal(ones({}), ones({})));
}

TEST_CASE("equal: zeros, infinities, NaN, nothing") {
  CHECK(equal(tensor({0.0}), tensor({-0.0})));
  CHECK(equal(tensor({INFINITY}), tensor({INFINITY})));
  CHECK_FALSE(equal(tensor({INFINITY}), tensor({-INFINITY})));
  const Tensor nan = tensor({NAN});
  CHECK_FALSE(equal(nan, nan));
  CHECK(equal(zeros({0}), zeros({0})));
  CHECK_FALSE(equal(zeros({0, 2}), zeros({2, 0})));
}

TEST_CASE("equal: integers to the last digit, and bools") {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;  // f64 has no such number
  CHECK(equal(tensor({large}), tensor({large})));
  CHECK_FALSE(equal(tensor({large}), tensor({large - 1})));
  CHECK(equal(tensor({true, false}), tensor({true, false})));
  CHECK_FALSE(equal(tensor({true, false}), tensor({true, true})));
}

TEST_CASE("equal: records nothing; errors") {
  Tensor x = ones({2, 3});
  x.requires_grad_();
  const std::int64_t nodes = live_nodes();
  CHECK(equal(x, ones({2, 3})));
  CHECK(live_nodes() == nodes);
  check_error([&] { equal(x, Tensor()); }, "equal" + kUndefined);
  check_error([&] { equal(Tensor(), x); }, "equal" + kUndefined);
  check_error(
      [&] {
        equal(x, ones({2, 3}, f64));
      },
      "equal: operands have different dtypes: f32 [2, 3] and f64 [2, 3]: convert one with .to()");
  check_error([&] { equal(x, ones({3}, i64)); },  // also where shapes differ
              "equal: operands have different dtypes: f32 [2, 3] and i64 [3]: convert one with .to()");
  check_error([&] { equal(ones({1}, boolean), ones({1}, i64)); },
              "equal: operands have different dtypes: bool [1] and i64 [1]: convert one with .to()");
}

}  // namespace gradus::test
