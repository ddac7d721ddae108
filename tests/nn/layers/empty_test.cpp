// Batches without rows and sequences without positions: results are empty, gradients of weights 0.

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"

using namespace gradus;

namespace {

Tensor leaf(const Shape& shape) {
  Tensor x = zeros(shape);
  x.requires_grad_();
  return x;
}

/// Checks that f(x) has this shape and x gets a gradient.
template <class F>
bool passes(const Shape& in, const Shape& out, F f) {
  const Tensor x = leaf(in), y = f(x);
  y.sum().backward();
  return y.shape() == out && x.grad().shape() == in;
}

}  // namespace

TEST_CASE("no rows, no positions: ops, layers and losses") {
  for (const Shape& row : {Shape{2, 0}, {0, 3}, {0, 0}}) {
    CAPTURE(row);
    const Shape x{row[0], row[1], 4}, heads{row[0], 2, row[1], 4};
    CHECK(passes(row, row, [](const Tensor& v) { return softmax(v, -1); }));
    CHECK(passes(row, row, [](const Tensor& v) { return log_softmax(v, -1); }));
    CHECK(passes(x, x, [](const Tensor& v) { return layer_norm(v, ones({4}), zeros({4})); }));
    CHECK(passes(x, x, [](const Tensor& v) { return rms_norm(v, ones({4})); }));
    CHECK(passes(heads, heads, [](const Tensor& v) {
      return scaled_dot_product_attention(v, v, v, {.causal = true, .dropout = 0.5});
    }));
    const nn::MultiheadAttention attention({.d_model = 4, .heads = 2, .causal = true});
    const nn::PreLNBlock pre({.d_model = 4, .heads = 2, .dropout = 0.1});
    const nn::PostLNBlock post({.d_model = 4, .heads = 2});
    CHECK(passes(x, x, attention));
    CHECK(passes(x, x, pre));
    CHECK(passes(x, x, post));
    const Tensor target = zeros(row, i64);
    for (const double e : {0.0, 0.1}) {
      CHECK(cross_entropy(leaf(x), target, {.label_smoothing = e}).item() == 0);
      CHECK(linear_cross_entropy(leaf(x), ones({7, 4}), target, {.label_smoothing = e}).item() == 0);
    }
    CHECK(nll_loss(leaf(x), target).item() == 0);
    CHECK(std::isnan(mse_loss(leaf(row), zeros(row)).item()));
    CHECK(std::isnan(binary_cross_entropy_with_logits(leaf(row), zeros(row)).item()));
  }
  // Queries without keys see nothing.
  const Tensor y = scaled_dot_product_attention(ones({2, 1, 3, 4}), ones({2, 1, 0, 4}), ones({2, 1, 0, 4}));
  CHECK(y.shape() == Shape{2, 1, 3, 4});
  CHECK((y == 0).all());
}

TEST_CASE("no rows, no positions: GPT") {
  for (const bool checkpoint : {false, true})
    for (const Shape& shape : {Shape{2, 0}, {0, 3}}) {
      nn::GPT gpt({.vocab = 7,
                   .context = 8,
                   .layers = 2,
                   .block = {.d_model = 4, .heads = 2},
                   .checkpoint = checkpoint});
      const Tensor ids = zeros(shape, i64);
      CHECK(gpt(ids).shape() == Shape{shape[0], shape[1], 7});
      const Tensor loss = gpt.loss(ids, ids);
      CHECK(loss.item() == 0);
      loss.backward();
      for (const Tensor& weight : gpt.parameters())
        if (weight.grad().defined()) CHECK((weight.grad() == 0).all());
    }
  nn::GPT gpt({.vocab = 7, .context = 8, .layers = 1, .block = {.d_model = 4, .heads = 2}});
  gpt.eval();
  nn::KeyValueCache cache = gpt.new_cache(2);
  CHECK(gpt(zeros({2, 0}, i64), cache).shape() == Shape{2, 0, 7});
  CHECK(gpt(zeros({2, 3}, i64), cache).shape() == Shape{2, 3, 7});
  CHECK_THROWS_WITH_AS(gpt.generate(zeros({2, 0}, i64), 3),
                       "GPT: generate expects a prompt [T] or [B, T] of at least one token, got [2, 0]",
                       Error);
}
