#include <doctest/doctest.h>

#include "attention_reference.h"
#include "gradus/core/random/random.h"

namespace gradus::test {
namespace {

TEST_CASE("attention: packed and strided projections are read in place") {
  manual_seed(7);
  const std::int64_t b = 2, t = 70, h = 3, d = 8;
  const Tensor packed = randn({b, t, 3, h, d}, f64);
  const auto part = [&](int i) { return packed.select(2, i).permute({0, 2, 1, 3}); };
  const std::int64_t before = memory_stats().total_allocations;
  const Tensor y = scaled_dot_product_attention(part(0), part(1), part(2), {.causal = true});
  const std::int64_t strided = memory_stats().total_allocations - before;
  const Tensor q = part(0).contiguous(), k = part(1).contiguous(), v = part(2).contiguous();
  const std::int64_t again = memory_stats().total_allocations;
  const Tensor z = scaled_dot_product_attention(q, k, v, {.causal = true});
  CHECK(strided == memory_stats().total_allocations - again);
  check_close(y, z, 0);
}

TEST_CASE("self_attention_packed: equals attention of the parts, values and gradients") {
  manual_seed(8);
  for (const std::int64_t heads : {1, 2, 4})
    for (const std::int64_t t : {1, 5, 130})
      for (const bool causal : {false, true})
        for (const double dropout : {0.0, 0.3}) {
          const std::int64_t b = 2, c = 8;
          const Tensor x = leaf(randn({b, t, 3 * c}, f64)), seed = randn({b, t, c}, f64),
                       mask = leaf(randn({t, t}, f64));
          const AttentionOptions options{.causal = causal, .mask = mask, .dropout = dropout};
          const auto part = [&](std::int64_t i) {
            return x.slice(2, i * c, (i + 1) * c).reshape({b, t, heads, c / heads}).permute({0, 2, 1, 3});
          };
          manual_seed(9);
          const Tensor y = self_attention_packed(x, heads, options);
          y.backward(seed);
          const Tensor dx = x.grad(), dmask = mask.grad();
          x.zero_grad(), mask.zero_grad();
          manual_seed(9);
          const Tensor z = scaled_dot_product_attention(part(0), part(1), part(2), options)
                               .permute({0, 2, 1, 3})
                               .reshape({b, t, c});
          z.backward(seed);
          check_close(y, z, 0);
          check_close(dx, x.grad());
          check_close(dmask, mask.grad());
        }
}

TEST_CASE("self_attention_packed: gradients, layouts, threads, sizes of 0") {
  for (const Shape& shape : {Shape{2, 4, 12}, {1, 1, 6}, {0, 3, 6}, {2, 0, 6}, {2, 3, 0}, {1, 100, 24}})
    for (const bool causal : {false, true})
      check_op(
          "self_attention_packed",
          [causal](const Tensor& x) {
            manual_seed(1);
            return self_attention_packed(x, 2, {.causal = causal, .dropout = 0.25});
          },
          {shape}, reordered);
}

TEST_CASE("attention_weights: dropout neither changes them nor draws random numbers") {
  const Tensor q = randn({1, 2, 3, 4}), k = randn({1, 2, 5, 4});
  const Generator::State before = default_generator().state();
  const Tensor weights = attention_weights(q, k, {.dropout = 0.5});
  CHECK(default_generator().state() == before);
  CHECK((weights == attention_weights(q, k)).all());
}

TEST_CASE("attention_weights: gradients, and rows that add up to 1") {
  const auto op = [](bool causal) {
    return [causal](const Tensor& q, const Tensor& k) { return attention_weights(q, k, {.causal = causal}); };
  };
  for (const bool causal : {false, true}) {
    check_op("attention_weights", op(causal), {{2, 2, 3, 4}, {2, 2, 5, 4}}, reordered);
    check_op("attention_weights", op(causal), {{1, 2, 5, 4}, {1, 2, 3, 4}}, reordered);
    check_op("attention_weights", op(causal), {{1, 2, 0, 4}, {1, 2, 3, 4}}, reordered);
    check_op("attention_weights", op(causal), {{1, 3, 90, 4}, {1, 3, 110, 4}}, reordered);
  }
  check_op(
      "attention_weights",
      [](const Tensor& q, const Tensor& k, const Tensor& mask) {
        return attention_weights(q, k, {.mask = mask});
      },
      {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 1, 1, 5}}, reordered);
  manual_seed(10);
  const Tensor q = randn({2, 3, 70, 4}, f64), k = randn({2, 3, 70, 4}, f64);
  const Tensor p = attention_weights(q, k, {.causal = true, .dropout = 0.5});  // dropout does not apply
  check_close(p.sum(-1), ones({2, 3, 70}, f64));
  CHECK((masked_fill(p, causal_mask(70, 70), 0) == 0).all());
}

TEST_CASE("attention: errors") {
  const auto call = [](const Shape& q, const Shape& k, const Shape& v, const AttentionOptions& options = {}) {
    return [=] { scaled_dot_product_attention(zeros(q), zeros(k), zeros(v), options); };
  };
  const Shape x{2, 4, 8, 16};
  check_error(call({4, 8, 16}, x, x),
              "scaled_dot_product_attention: expects q [B, H, Tq, D] and k [B, H, Tk, D], got [4, 8, 16] and "
              "[2, 4, 8, 16]: unsqueeze() adds missing axes");
  check_error(call(x, {2, 4, 8}, x),
              "scaled_dot_product_attention: expects q [B, H, Tq, D] and k [B, H, Tk, D], got [2, 4, 8, 16] "
              "and [2, 4, 8]: unsqueeze() adds missing axes");
  check_error(
      call(x, x, {8, 16}),
      "scaled_dot_product_attention: expects v [B, H, Tk, Dv], got [8, 16]: unsqueeze() adds missing axes");
  check_error(call(x, {2, 3, 8, 16}, x),
              "scaled_dot_product_attention: q [2, 4, 8, 16] has 4 heads, which k [2, 3, 8, 16] with its 3 "
              "cannot share: expects as many, or a divisor");
  check_error(call(x, {1, 4, 8, 16}, x),
              "scaled_dot_product_attention: q [2, 4, 8, 16] and k [1, 4, 8, 16] do not match: batch and "
              "the last axis must be equal");
  check_error(call(x, {2, 4, 8, 15}, x),
              "scaled_dot_product_attention: q [2, 4, 8, 16] and k [2, 4, 8, 15] do not match: batch and "
              "the last axis must be equal");
  check_error(call(x, x, {2, 4, 9, 16}),
              "scaled_dot_product_attention: k [2, 4, 8, 16] and v [2, 4, 9, 16] do not match: batch, heads "
              "and positions must be equal");
  check_error(call(x, x, x, {.mask = zeros({8, 9})}),
              "scaled_dot_product_attention: mask [8, 9] does not broadcast to the scores [B, H, Tq, Tk] [2, "
              "4, 8, 8]");
  check_error(call(x, x, x, {.mask = zeros({1, 2, 4, 8, 8})}),
              "scaled_dot_product_attention: mask [1, 2, 4, 8, 8] does not broadcast to the scores [B, H, "
              "Tq, Tk] [2, 4, 8, 8]");
  check_error(call(x, x, x, {.mask = zeros({8, 8}, i64)}),
              "scaled_dot_product_attention: expects a bool mask (true may be seen) or an f32 mask (added to "
              "the scores), got i64 [8, 8]: compare, as in mask != 0");
  check_error(call(x, x, x, {.mask = zeros({8, 8}, f64)}),
              "scaled_dot_product_attention: expects a bool mask (true may be seen) or an f32 mask (added to "
              "the scores), got f64 [8, 8]: convert with .to(f32)");
  check_error(call(x, {2, 8, 8, 16}, {2, 8, 8, 16}),
              "scaled_dot_product_attention: q [2, 4, 8, 16] has 4 heads, which k [2, 8, 8, 16] with its 8 "
              "cannot share: expects as many, or a divisor");
  check_error(call(x, {2, 2, 8, 16}, x),
              "scaled_dot_product_attention: k [2, 2, 8, 16] and v [2, 4, 8, 16] do not match: batch, heads "
              "and positions must be equal");
  check_error(call(x, x, x, {.window = -1}),
              "scaled_dot_product_attention: expects a window of 1 or more, or 0 for none, got -1");
  check_error([] { alibi_slopes(0); }, "alibi_slopes: expects 1 or more heads, got 0");
  check_error(call(x, x, x, {.dropout = 1.5}),
              "scaled_dot_product_attention: expects dropout from 0 to 1, got 1.5");
  check_error(call(x, x, x, {.dropout = -0.1}),
              "scaled_dot_product_attention: expects dropout from 0 to 1, got -0.1");
  check_error([&] { scaled_dot_product_attention(zeros(x), zeros(x, f64), zeros(x)); },
              "scaled_dot_product_attention: operands have different dtypes: f32 [2, 4, 8, 16] and f64 [2, "
              "4, 8, 16]: convert one with .to()");
  check_error([&] { scaled_dot_product_attention(zeros(x), zeros(x), zeros(x, f64)); },
              "scaled_dot_product_attention: operands have different dtypes: f32 [2, 4, 8, 16] and f64 [2, "
              "4, 8, 16]: convert one with .to()");
  check_error(
      [&] { scaled_dot_product_attention(zeros(x, i64), zeros(x, i64), zeros(x, i64)); },
      "scaled_dot_product_attention: expects f32 or f64, got i64 [2, 4, 8, 16]: convert with .to(f32)");
  check_error([&] { scaled_dot_product_attention(Tensor(), zeros(x), zeros(x)); },
              "scaled_dot_product_attention" + kUndefined);
  check_error([&] { scaled_dot_product_attention(zeros(x), zeros(x), Tensor()); },
              "scaled_dot_product_attention" + kUndefined);
  check_error(
      [&] {
        self_attention_packed(zeros({2, 8, 64}), 4);
      },
      "self_attention_packed: expects q, k and v side by side, [B, T, 3 C], got [2, 8, 64]");
  check_error(
      [&] {
        self_attention_packed(zeros({2, 8, 48}), 3);
      },
      "self_attention_packed: C 16 of qkv [2, 8, 48] is not divisible by heads 3");
  check_error(
      [&] {
        self_attention_packed(zeros({2, 8, 48}), 0);
      },
      "self_attention_packed: C 16 of qkv [2, 8, 48] is not divisible by heads 0");
  check_error(
      [&] {
        self_attention_packed(zeros({8, 48}), 4);
      },
      "self_attention_packed: expects q, k and v side by side, [B, T, 3 C], got [8, 48]");
  check_error(
      [&] {
        self_attention_packed(zeros({2, 8, 48}, i64), 4);
      },
      "self_attention_packed: expects f32 or f64, got i64 [2, 8, 48]: convert with .to(f32)");
  check_error(
      [&] {
        self_attention_packed(zeros({2, 8, 48}), 4, {.mask = zeros({3, 8})});
      },
      "self_attention_packed: mask [3, 8] does not broadcast to the scores [B, H, Tq, Tk] [2, 4, 8, 8]");
  check_error(
      [&] {
        attention_weights(zeros(x), zeros({2, 4, 8}));
      },
      "attention_weights: expects q [B, H, Tq, D] and k [B, H, Tk, D], got [2, 4, 8, 16] and [2, 4, 8]: "
      "unsqueeze() adds missing axes");
  check_error(
      [&] {
        attention_weights(zeros(x), zeros({2, 4, 9, 8}));
      },
      "attention_weights: q [2, 4, 8, 16] and k [2, 4, 9, 8] do not match: batch and the last axis "
      "must be equal");
  check_error([&] { attention_weights(zeros(x), zeros(x), {.mask = zeros({7})}); },
              "attention_weights: mask [7] does not broadcast to the scores [B, H, Tq, Tk] [2, 4, 8, 8]");
}

}  // namespace
}  // namespace gradus::test
