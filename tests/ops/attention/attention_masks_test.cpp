#include <doctest/doctest.h>

#include "attention_reference.h"

namespace gradus::test {
namespace {

TEST_CASE("attention: an additive mask gets its gradient") {
  for (const Shape& mask : {Shape{2, 2, 3, 5}, {3, 5}, {2, 1, 1, 5}, {5}})
    for (const bool causal : {false, true}) {
      const auto with_mask = [causal](const Tensors& x) {
        return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = causal, .mask = x[3]});
      };
      check_op("attention", with_mask, {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 2}, mask}, reordered);
    }
}

TEST_CASE("attention: a number added to a whole row of scores changes nothing") {
  const Tensor q = randn({1, 2, 3, 4}, f64), k = randn({1, 2, 5, 4}, f64), v = randn({1, 2, 5, 4}, f64);
  for (const Shape& shape : {Shape{}, {1}, {3, 1}, {2, 1, 1}}) {
    const Tensor mask = leaf(full(shape, 3.0, f64));
    const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = mask});
    check_close(y, scaled_dot_product_attention(q, k, v));
    y.sum().backward();
    CHECK(mask.grad().shape() == shape);
    CHECK(mask.grad().abs().sum().item() < 1e-12);
  }
}

TEST_CASE("attention: a row that sees no key gives zeros and zero gradients") {
  manual_seed(1);
  const Tensor q = leaf(randn({1, 2, 3, 4}, f64)), k = leaf(randn({1, 2, 5, 4}, f64)),
               v = leaf(randn({1, 2, 5, 4}, f64));
  const Tensor seen = tensor({{true}, {false}, {true}});
  const Tensor added = tensor({{0.0}, {-kInf}, {0.0}}, f64);
  for (const Tensor& mask : {seen, added}) {
    for (const Tensor& x : {q, k, v}) x.zero_grad();
    const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = mask});
    y.backward(randn({1, 2, 3, 4}, f64));
    CHECK((y.select(2, 1) == 0).all());
    CHECK((y.select(2, 0) != 0).all());
    CHECK((q.grad().select(2, 1) == 0).all());
    CHECK((q.grad().select(2, 0) != 0).all());
    CHECK((k.grad() == k.grad()).all());  // no NaN
    CHECK((v.grad() == v.grad()).all());
    CHECK((attention_weights(q, k, {.mask = mask}).select(2, 1) == 0).all());
  }
  for (const Tensor& x : {q, k, v}) x.zero_grad();
  scaled_dot_product_attention(q, k, v, {.mask = tensor({false})}).sum().backward();
  for (const Tensor& x : {q, k, v}) CHECK((x.grad() == 0).all());
}

TEST_CASE("attention: the future changes nothing, bit for bit") {
  manual_seed(2);
  for (const std::int64_t length : {4, 64, 150}) {
    const Tensor q = randn({2, 2, length, 8}), k = randn({2, 2, length, 8}), v = randn({2, 2, length, 8});
    const Tensor before = scaled_dot_product_attention(q, k, v, {.causal = true});
    for (const std::int64_t from : {std::int64_t{1}, length / 2, length - 1}) {
      const Tensor q2 = q.clone(), k2 = k.clone(), v2 = v.clone();
      for (const Tensor& x : {q2, k2, v2}) x.slice(2, from).copy_(randn({2, 2, length - from, 8}));
      const Tensor after = scaled_dot_product_attention(q2, k2, v2, {.causal = true});
      CHECK(same_bits(before.slice(2, 0, from), after.slice(2, 0, from)));
      CHECK_FALSE(same_bits(before.slice(2, from), after.slice(2, from)));
    }
  }
}

TEST_CASE("attention: the past gets no gradient from keys it cannot see") {
  manual_seed(3);
  const Tensor q = leaf(randn({1, 1, 6, 4}, f64)), k = leaf(randn({1, 1, 6, 4}, f64)),
               v = leaf(randn({1, 1, 6, 4}, f64));
  scaled_dot_product_attention(q, k, v, {.causal = true}).slice(2, 0, 3).sum().backward();
  CHECK((k.grad().slice(2, 3) == 0).all());
  CHECK((v.grad().slice(2, 3) == 0).all());
  CHECK((q.grad().slice(2, 3) == 0).all());
  CHECK((v.grad().slice(2, 0, 3) != 0).all());
}

TEST_CASE("attention: with fewer queries than keys the last query sees every key") {
  manual_seed(4);
  const Tensor q = randn({1, 2, 6, 4}, f64), k = randn({1, 2, 6, 4}, f64), v = randn({1, 2, 6, 4}, f64);
  const Tensor all = scaled_dot_product_attention(q, k, v, {.causal = true});
  check_close(scaled_dot_product_attention(q.slice(2, 4), k, v, {.causal = true}), all.slice(2, 4));
}

TEST_CASE("attention: large scores do not overflow") {
  const Tensor q = full({1, 1, 2, 1}, 1e4), k = reshape(tensor({1e4, -1e4, 0.0}), {1, 1, 3, 1});
  const Tensor v = reshape(tensor({1.0, 2.0, 3.0}), {1, 1, 3, 1});
  CHECK((scaled_dot_product_attention(q, k, v) == 1).all());
}

TEST_CASE("attention: a saved array changed before backward is an error") {
  const Tensor q = leaf(randn({1, 1, 2, 2})), mask = zeros({2, 2});
  const Tensor y = scaled_dot_product_attention(q, q, q, {.mask = mask});
  mask.fill_(1);
  check_error(
      [&] { y.sum().backward(); },
      "scaled_dot_product_attention backward: the f32 [1, 1, 2, 2] it saved was changed in place after the "
      "forward pass: change it before the forward pass or after backward, or work on a clone()");
}

}  // namespace
}  // namespace gradus::test
