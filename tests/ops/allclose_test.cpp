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
}

TEST_CASE("allclose: broadcasts, records nothing") {
  Tensor x = ones({2, 3});
  x.requires_grad_();
  const std::int64_t nodes = live_nodes();
  CHECK(allclose(x, ones({3})));
  CHECK(live_nodes() == nodes);
  CHECK(allclose(zeros({0}), zeros({0})));
  check_error([&] { allclose(x, ones({4})); },
              "sub: shapes [2, 3] and [4] do not broadcast: axis -1 has sizes 3 and 4");
}

}  // namespace gradus::test
