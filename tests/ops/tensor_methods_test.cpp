#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

TEST_CASE("methods are the ops of the same name") {
  const Tensor x = rand({2, 3, 4}, f64) + 0.5, m = rand({3, 3}, f64);
  CHECK(equal(x.select(1, 2), select(x, 1, 2)));
  CHECK(equal(x[1], select(x, 0, 1)));
  CHECK(equal(x.slice(2, 1, 3), slice(x, 2, 1, 3)));
  CHECK(equal(x.slice(2, 0, {}, 2), slice(x, 2, 0, {}, 2)));
  CHECK(equal(x.unfold(2, 3), unfold(x, 2, 3)));
  CHECK(equal(x.reshape({6, -1}), reshape(x, {6, -1})));
  CHECK(equal(x.view({6, 4}), view(x, {6, 4})));
  CHECK(equal(x.permute({2, 0, 1}), permute(x, {2, 0, 1})));
  CHECK(equal(x.transpose(0, 2), transpose(x, 0, 2)));
  CHECK(equal(m.t(), transpose(m, 0, 1)));
  CHECK(equal(x.unsqueeze(1), unsqueeze(x, 1)));
  CHECK(equal(x.unsqueeze(1).squeeze(), x));
  CHECK(equal(x.unsqueeze(1).squeeze(1), x));
  CHECK(equal(m.expand({2, 3, 3}), expand(m, {2, 3, 3})));
  CHECK(equal(x.repeat({2, 1, 3}), repeat(x, {2, 1, 3})));
  CHECK(equal(x.flatten(), flatten(x)));
  CHECK(equal(x.flatten(1), flatten(x, 1)));
  CHECK(equal(x.transpose(0, 2).contiguous(), transpose(x, 0, 2)));
  CHECK(equal(x.clone(), x));
  CHECK(equal(x.to(f32), to(x, f32)));
  CHECK(equal(x.sum({0, 1}, true), sum(x, {0, 1}, true)));
  CHECK(equal(x.mean(1), mean(x, 1)));
  CHECK(
      equal(x.var(1, {.keepdim = true, .unbiased = false}), var(x, 1, {.keepdim = true, .unbiased = false})));
  CHECK(
      equal(x.std(1, {.keepdim = true, .unbiased = false}), std(x, 1, {.keepdim = true, .unbiased = false})));
  CHECK(equal(x.prod({0, 2}, true), prod(x, {0, 2}, true)));
  CHECK(equal(x.max_with_indices(1, true).first, max_with_indices(x, 1, true).first));
  CHECK(equal(x.max_with_indices(1).second, max_with_indices(x, 1).second));
  CHECK(equal(x.min_with_indices(0).first, min_with_indices(x, 0).first));
  CHECK(equal((x > 1).all(1, true), all(x > 1, 1, true)));
  CHECK(equal((x > 1).any({0, 1}), any(x > 1, {0, 1})));
  CHECK(equal(x.max(1), max(x, 1)));
  CHECK(equal(x.min(1), min(x, 1)));
  CHECK(equal(x.argmax(1, true), argmax(x, 1, true)));
  CHECK(equal(x.argmin(), argmin(x)));
  CHECK(equal(x.norm(1, 2, true), norm(x, 1, 2, true)));
  CHECK(equal(x.abs(), abs(x)));
  CHECK(equal(x.pow(1.5), pow(x, 1.5)));
  CHECK(equal(x.square(), square(x)));
  CHECK(equal(x.sqrt(), sqrt(x)));
  CHECK(equal(x.exp(), exp(x)));
  CHECK(equal(x.log(), log(x)));
  CHECK(equal(x.tanh(), tanh(x)));
  CHECK(equal(x.sigmoid(), sigmoid(x)));
  CHECK(equal(x.relu(), relu(x)));
  CHECK(equal(x.clamp(0.6, 1), clamp(x, 0.6, 1)));
  CHECK(equal(x.clamp({}, 1), clamp(x, {}, 1)));
  CHECK(equal((x - 1).sign(), sign(x - 1)));
  CHECK(equal((x * 3).floor(), floor(x * 3)));
  CHECK(equal((x * 3).ceil(), ceil(x * 3)));
  CHECK(equal((x * 3).round(), round(x * 3)));
  CHECK(equal((x / 0).isnan(), isnan(x / 0)));
  CHECK(equal((x / 0).isinf(), isinf(x / 0)));
  CHECK(equal((x / 0).isfinite(), isfinite(x / 0)));
  CHECK(equal(m.matmul(m), matmul(m, m)));
  CHECK(equal(x.softmax(-1), softmax(x, -1)));
}

TEST_CASE("methods keep the tape") {
  check_op("chain",
           [](const Tensor& x) {
             return x.transpose(0, 1).exp().sum(0).reshape({1, -1}).tanh();
           },
           {{3, 4}});
}

TEST_CASE("all and any") {
  CHECK(tensor({true, true}).all());
  CHECK_FALSE(tensor({true, false}).all());
  CHECK(tensor({true, false}).any());
  CHECK_FALSE(tensor({false, false}).any());
  CHECK(zeros({0}).all());
  CHECK_FALSE(zeros({0}).any());
  CHECK(tensor({-1.5, 2.0}).all());
  CHECK_FALSE(tensor({0, 0}).any());
  const Tensor x = zeros({3, 4});
  x[2] = 1.0;
  CHECK((x.transpose(0, 1)[1] == tensor({0.0, 0.0, 1.0})).all());
}

TEST_CASE("methods: errors") {
  const Tensor undefined;
  check_error([&] { zeros({2, 3, 4}).t(); }, "t: expects a matrix, got [2, 3, 4]: use transpose(a, b)");
  check_error([&] { undefined.all(); }, "all" + kUndefined);
  check_error([&] { undefined.any(); }, "any" + kUndefined);
  check_error([&] { undefined.sum(); }, "sum" + kUndefined);
  check_error([&] { undefined.exp(); }, "exp" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
