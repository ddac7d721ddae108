// Windows, ALiBi, and heads of queries that share keys and values.

#include <doctest/doctest.h>

#include "attention_reference.h"
#include "near.h"

namespace gradus::test {
namespace {

TEST_CASE("attention: a window of keys, to one side and to both") {
  manual_seed(0);
  for (const Sizes& z : {Sizes{1, 1, 1, 1, 1, 1},
                         {2, 3, 5, 5, 4, 4},
                         {1, 2, 3, 7, 4, 2},
                         {1, 1, 70, 70, 3, 3},
                         {1, 2, 130, 131, 4, 4},
                         {1, 1, 200, 200, 2, 2},
                         {1, 3, 65, 1200, 2, 3}})
    for (const std::int64_t window : {1, 2, 7, 64, 65, 600, 5000}) {
      CAPTURE(z.tq);
      CAPTURE(window);
      check_against_reference(z, {.causal = true, .window = window});
      check_against_reference(z, {.window = window});
      check_against_reference(z, {.causal = true, .mask = randn({z.tq, z.tk}, f64), .window = window});
      check_against_reference(z, {.mask = randn({z.h, 1, 1}, f64), .window = window, .alibi = true});
    }
}

TEST_CASE("attention: keys outside a window are never read, and get no gradient") {
  manual_seed(1);
  for (const bool causal : {true, false}) {
    const Tensor q = leaf(randn({1, 2, 300, 4})), k = leaf(randn({1, 2, 300, 4})),
                 v = leaf(randn({1, 2, 300, 4}));
    const AttentionOptions options{.causal = causal, .window = 10};
    const Tensor y = scaled_dot_product_attention(q, k, v, options);
    y.slice(2, 150, 151).sum().backward();
    for (const Tensor& x : {k, v}) {
      CHECK((x.grad().slice(2, 0, 141) == 0).all());
      CHECK((x.grad().slice(2, causal ? 151 : 160) == 0).all());
      CHECK((x.grad().slice(2, 141, 151).abs().sum() > 0).all());
    }
    const Tensor spoiled = k.detach().clone();
    spoiled.slice(2, 0, 64).fill_(NAN);  // keys of whole tiles
    const Tensor again = scaled_dot_product_attention(q, spoiled, v, options);
    CHECK(same_bits(again.slice(2, 128), y.slice(2, 128)));
  }
}

TEST_CASE("attention: rows before the first key of a window see nothing") {
  const Tensor y = scaled_dot_product_attention(randn({1, 1, 6, 2}), randn({1, 1, 3, 2}), ones({1, 1, 3, 1}),
                                                {.causal = true, .window = 2});
  CHECK(allclose(y.flatten(), tensor({0.0, 0.0, 0.0, 1.0, 1.0, 1.0})));
  const Tensor both = scaled_dot_product_attention(randn({1, 1, 6, 2}), randn({1, 1, 3, 2}),
                                                   ones({1, 1, 3, 1}), {.window = 2});
  CHECK(allclose(both.flatten(), tensor({0.0, 0.0, 1.0, 1.0, 1.0, 1.0})));
}

TEST_CASE("attention: ALiBi's slopes") {
  CHECK(alibi_slopes(8) ==
        std::vector<double>{0.5, 0.25, 0.125, 0.0625, 1. / 32, 1. / 64, 1. / 128, 1. / 256});
  CHECK(alibi_slopes(1) == std::vector<double>{1. / 256});
  const std::vector<double> six = alibi_slopes(6);  // as the authors' get_slopes(6)
  const double expected[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  for (std::size_t i = 0; i < 6; ++i) CHECK(six[i] == near(expected[i]));
  manual_seed(2);
  for (const Sizes& z : {Sizes{2, 3, 5, 5, 4, 4}, {1, 6, 70, 75, 4, 2}, {1, 2, 7, 3, 2, 5}}) {
    check_against_reference(z, {.alibi = true});
    if (z.tk >= z.tq) check_against_reference(z, {.causal = true, .alibi = true});
  }
  check_against_reference({1, 2, 66, 1100, 2, 2}, {.causal = true, .alibi = true});
}

TEST_CASE("attention: heads of queries share keys and values") {
  manual_seed(3);
  for (const auto& [heads, shared_heads] :
       {std::pair<std::int64_t, std::int64_t>{4, 2}, {6, 1}, {6, 3}, {12, 4}})
    for (const Sizes& z : {Sizes{2, heads, 5, 5, 4, 4}, {1, heads, 3, 7, 4, 2}, {1, heads, 130, 131, 2, 2}}) {
      CAPTURE(z.h);
      check_against_reference(z, {}, shared_heads);
      check_against_reference(z, {.causal = true}, shared_heads);
      check_against_reference(z, {.mask = randn({z.h, z.tq, z.tk}, f64), .alibi = true}, shared_heads);
      check_against_reference(z, {.causal = true, .window = 4}, shared_heads);
    }
}

TEST_CASE("attention: gradients, layouts, threads, with windows, ALiBi and shared heads") {
  const std::vector<Input> shared_keys = {{2, 4, 4, 3}, {2, 2, 4, 3}, {2, 2, 4, 3}};
  check_op("attention", attention({.causal = true}), shared_keys, reordered);
  check_op("attention", attention({.causal = true, .dropout = 0.4, .window = 2}), shared_keys, reordered);
  check_op("attention", attention({.window = 2, .alibi = true}), {{1, 2, 3, 2}, {1, 2, 5, 2}, {1, 2, 5, 4}},
           reordered);
  check_op("attention", attention({.causal = true, .dropout = 0.2, .window = 30, .alibi = true}),
           {{1, 4, 150, 4}, {1, 2, 150, 4}, {1, 2, 150, 4}}, reordered);
  check_op("attention", attention({.window = 3}), {{1, 2, 0, 2}, {1, 1, 3, 2}, {1, 1, 3, 2}}, reordered);
  check_op("attention", attention({.window = 3}), {{1, 2, 3, 2}, {1, 1, 0, 2}, {1, 1, 0, 2}}, reordered);
  const auto weights = [](const Tensor& q, const Tensor& k) {
    return attention_weights(q, k, {.causal = true, .window = 2, .alibi = true});
  };
  check_op("attention_weights", Op(weights), {{1, 4, 5, 2}, {1, 2, 5, 2}}, reordered);
}

}  // namespace
}  // namespace gradus::test
