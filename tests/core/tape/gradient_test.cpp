// Gradients that an op writes into memory chosen by the engine.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::leaf;

namespace {

/// y = 3 x, with a gradient that is written. `calls` gets the engine's `add` of each call.
Tensor triple(const Tensor& x, std::vector<bool>& calls) {
  return record("triple", (x * 3.0).array(), {&x}, [&calls](const Array& dy, Needs) -> Grads {
    return {Gradient(dy.shape(), dy.dtype(), [&calls, dy](const Array& total, bool add) {
      calls.push_back(add);
      if (!add) total.fill_(0);
      for (int i = 0; i < 3; ++i) total.add_(dy);
    })};
  });
}

}  // namespace

TEST_CASE("a written gradient starts an input's accumulation, or is added to it") {
  const Tensor x = leaf(randn({2, 3}));
  std::vector<bool> calls;
  const Tensor a = triple(x, calls), b = x * 2.0, c = triple(x, calls);
  (a + b + c).sum().backward();
  CHECK(equal(x.grad(), full({2, 3}, 8.0)));
  CHECK(calls == std::vector<bool>{false, true});  // the newest comes first
  x.zero_grad();
  calls.clear();
  triple(x, calls).sum().backward();
  CHECK(equal(x.grad(), full({2, 3}, 3.0)));
  CHECK(calls == std::vector<bool>{false});
}

TEST_CASE("a written gradient never changes memory that others hold") {
  const Tensor x = leaf(randn({4})), y = leaf(randn({4}));
  std::vector<bool> calls;
  const Tensor z = triple(x, calls), sum = x + y;  // a sum's gradient goes to both as it is
  const Tensor total = z + sum;
  const Tensor seed = ones({4});
  total.backward(seed, /*retain_graph=*/true);
  CHECK(equal(x.grad(), full({4}, 4.0)));
  CHECK(equal(y.grad(), ones({4})));
  CHECK(equal(seed, ones({4})));
  total.backward(seed);
  CHECK(equal(x.grad(), full({4}, 8.0)));
  CHECK(equal(y.grad(), full({4}, 2.0)));
}

TEST_CASE("a written gradient goes to a view's gradient, which is not contiguous") {
  const Tensor x = leaf(randn({2, 3}));
  std::vector<bool> calls;
  const Tensor turned = x.t() * randn({3, 2});  // sends x's gradient as a transpose
  const Tensor z = triple(x, calls);
  const Tensor expected = [&] {
    turned.sum().backward(/*retain_graph=*/true);
    return x.grad().clone() + 3.0;
  }();
  x.zero_grad();
  (z.sum() + turned.sum()).backward();
  CHECK(equal(x.grad(), expected));
}

TEST_CASE("written gradients of a wrong shape, or with NaN, are named") {
  const Tensor x = leaf(randn({2, 3}));
  const auto writes = [&](const Shape& shape, double value) {
    return record("odd", x.array().clone(), {&x}, [=](const Array&, Needs) -> Grads {
      return {Gradient(shape, f32, [=](const Array& total, bool) { total.fill_(value); })};
    });
  };
  CHECK_THROWS_WITH_AS(writes({3, 2}, 0).sum().backward(),
                       "odd backward: the gradient of input 0 is f32 [3, 2], expects f32 [2, 3]", Error);
  const DetectAnomaly guard;
  CHECK_THROWS_WITH_AS(writes({2, 3}, NAN).sum().backward(),
                       "detect_anomaly: odd backward produced NaN in the gradient of input 0 [2, 3]", Error);
}

TEST_CASE("parts, rows and weights used twice accumulate the gradients of separate ones") {
  manual_seed(3);
  const Tensor table = leaf(randn({5, 4}, f64)), weight = leaf(randn({4, 4}, f64)), x = randn({3, 4}, f64);
  const Tensor ids = tensor({4.0, 1.0, 4.0}).to(i64);
  const auto parts = [&](const Tensor& t, const Tensor& w) {
    const Tensor rows = embedding(ids, t) + index_select(t, 0, ids) + t.slice(0, 1, 4) + t.select(0, 2);
    return (linear(linear(rows, w), w) * x).sum() + split(w, 2, 1)[1].square().sum();
  };
  parts(table, weight).backward();
  // The same with a copy for every use, and their gradients added up.
  Tensor table_sum = zeros({5, 4}, f64), weight_sum = zeros({4, 4}, f64);
  std::vector<Tensor> t, w;
  for (int i = 0; i < 4; ++i)
    t.push_back(leaf(table.detach().clone())), w.push_back(leaf(weight.detach().clone()));
  const Tensor rows =
      embedding(ids, t[0]) + index_select(t[1], 0, ids) + t[2].slice(0, 1, 4) + t[3].select(0, 2);
  ((linear(linear(rows, w[0]), w[1]) * x).sum() + split(w[2], 2, 1)[1].square().sum()).backward();
  for (int i = 0; i < 4; ++i) table_sum = table_sum + t[static_cast<std::size_t>(i)].grad();
  for (int i = 0; i < 3; ++i) weight_sum = weight_sum + w[static_cast<std::size_t>(i)].grad();
  CHECK(allclose(table.grad(), table_sum, 1e-13, 1e-13));
  CHECK(allclose(weight.grad(), weight_sum, 1e-13, 1e-13));
}
