#include <doctest/doctest.h>

#include "attention_reference.h"
#include "gradus/core/threads/parallel.h"

namespace gradus::test {
namespace {

TEST_CASE("attention: equals matmul, softmax, matmul") {
  manual_seed(0);
  for (const Sizes& z : {Sizes{1, 1, 1, 1, 1, 1},
                         {2, 3, 5, 5, 4, 4},
                         {1, 2, 3, 7, 4, 2},
                         {1, 2, 7, 3, 2, 5},
                         {1, 1, 70, 70, 3, 3},
                         {1, 2, 130, 131, 8, 8},
                         {1, 12, 65, 200, 4, 4}}) {
    CAPTURE(z.tq);
    check_against_reference(z, {});
    check_against_reference(z, {.scale = 0.7});
    if (z.tk >= z.tq) check_against_reference(z, {.causal = true});  // else some rows see nothing
    for (const Shape& mask :
         {Shape{z.b, z.h, z.tq, z.tk}, {z.tq, z.tk}, {z.b, 1, 1, z.tk}, {z.tk}, {1}, {z.tq, 1}}) {
      check_against_reference(z, {.mask = randn(mask, f64)});
      Tensor seen = rand(mask) > 0.3;
      {
        NoGrad guard;
        seen.select(-1, 0).fill_(1);
      }  // every row sees the first key
      check_against_reference(z, {.mask = seen});
      if (z.tk >= z.tq) check_against_reference(z, {.causal = true, .mask = seen});
    }
  }
}

TEST_CASE("attention: more keys than are taken at a time") {
  manual_seed(7);
  for (const Sizes& z : {Sizes{1, 2, 70, 1100, 3, 4}, {1, 1, 530, 530, 2, 2}}) {
    CAPTURE(z.tk);
    check_against_reference(z, {});
    check_against_reference(z, {.causal = true});
    // Scores that grow along the keys: every group of keys raises the maximum, by more than exp can hold.
    check_against_reference(z, {.mask = arange(z.tk).to(f64) * 2.0});
    check_against_reference(z, {.causal = true, .mask = randn({z.tq, 1}, f64)});
    check_against_reference(z, {.mask = arange(z.tk) > 600 - 100 * (z.tk == 530)});  // first group unseen
  }
}

TEST_CASE("attention: dropout drops the same weights whatever keys are taken at a time") {
  manual_seed(8);
  const Tensor q = randn({1, 1, 66, 4}, f64), k = randn({1, 1, 1100, 4}, f64);
  const auto attend = [&](const Tensor& v) {
    manual_seed(5);  // drops the same every time
    return scaled_dot_product_attention(q, k, v, {.dropout = 0.5});
  };
  // One column of the identity at a time shows one key's dropped weight.
  for (const std::int64_t key : {0, 367, 368, 511, 512, 735, 736, 1099}) {
    Tensor v = zeros({1, 1, 1100, 1}, f64);
    {
      NoGrad guard;
      v.select(2, key).fill_(1);
    }
    const Tensor ratio = attend(v) / attention_weights(q, k).slice(-1, key, key + 1);
    CHECK(((ratio.abs() < 1e-12) | ((ratio - 2.0).abs() < 1e-9)).all());
  }
  CHECK(std::abs(attend(ones({1, 1, 1100, 1}, f64)).mean().item() - 1) < 0.1);
}

TEST_CASE("attention: gradients, layouts, threads") {
  const std::vector<Input> self = {{2, 2, 4, 3}, {2, 2, 4, 3}, {2, 2, 4, 3}};
  check_op("attention", attention(), self, reordered);
  check_op("attention", attention({.causal = true}), self, reordered);
  check_op("attention", attention({.scale = 2.0}), self, reordered);
  check_op("attention", attention({.causal = true, .dropout = 0.4}), self, reordered);
  check_op("attention",
           attention({.mask = tensor({{true, false, true, true},
                                      {false, true, true, false},
                                      {false, false, false, false},
                                      {true, true, true, true}})}),
           self, reordered);
  const std::vector<Input> cross = {{1, 2, 3, 2}, {1, 2, 5, 2}, {1, 2, 5, 4}};
  check_op("attention", attention(), cross, reordered);
  check_op("attention", attention({.causal = true}), cross, reordered);
  check_op("attention", attention({.causal = true}), {{1, 2, 5, 2}, {1, 2, 3, 2}, {1, 2, 3, 4}},
           reordered);  // rows that see no key
  check_op("attention", attention({.causal = true, .dropout = 0.2}),
           {{1, 2, 150, 8}, {1, 2, 150, 8}, {1, 2, 150, 8}}, reordered);
}

TEST_CASE("attention: sizes of 0 and 1") {
  check_op("attention", attention(), {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}, reordered);
  check_op("attention", attention(), {{0, 2, 3, 2}, {0, 2, 3, 2}, {0, 2, 3, 2}}, reordered);
  check_op("attention", attention(), {{2, 0, 3, 2}, {2, 0, 3, 2}, {2, 0, 3, 2}}, reordered);
  check_op("attention", attention(), {{2, 2, 0, 2}, {2, 2, 3, 2}, {2, 2, 3, 2}}, reordered);
  check_op("attention", attention(), {{2, 2, 3, 2}, {2, 2, 0, 2}, {2, 2, 0, 2}}, reordered);
  check_op("attention", attention(), {{1, 2, 3, 0}, {1, 2, 4, 0}, {1, 2, 4, 2}}, reordered);
  check_op("attention", attention(), {{1, 2, 3, 2}, {1, 2, 4, 2}, {1, 2, 4, 0}}, reordered);
}

TEST_CASE("attention: dropout") {
  manual_seed(6);
  const Tensor q = randn({2, 4, 40, 4}), k = randn({2, 4, 50, 4}), one = ones({2, 4, 50, 1});
  // With values of 1 the output is the sum of the kept weights over 1 - p: 1 on average.
  const Tensor y = scaled_dot_product_attention(q, k, one, {.dropout = 0.5});
  CHECK(y.mean().item() == doctest::Approx(1).epsilon(0.02));
  CHECK(y.var().item() > 0.001);
  CHECK_FALSE(same_bits(y, scaled_dot_product_attention(q, k, one, {.dropout = 0.5})));
  manual_seed(6), randn({2, 4, 40, 4}), randn({2, 4, 50, 4});
  CHECK(same_bits(y, scaled_dot_product_attention(q, k, one, {.dropout = 0.5})));
  CHECK((scaled_dot_product_attention(q, k, one, {.dropout = 1}) == 0).all());
  CHECK(same_bits(scaled_dot_product_attention(q, k, one, {.dropout = 0}),
                  scaled_dot_product_attention(q, k, one)));
}

TEST_CASE("attention: memory does not grow with the square of the length") {
  const auto peak = [](std::int64_t length) {
    const Tensor q = leaf(randn({1, 4, length, 8})), k = leaf(randn({1, 4, length, 8})),
                 v = leaf(randn({1, 4, length, 8}));
    reset_peak_memory();
    const std::int64_t before = memory_stats().live_bytes;
    scaled_dot_product_attention(q, k, v, {.causal = true}).sum().backward();
    return memory_stats().peak_bytes - before;
  };
  const int threads = num_threads();
  set_num_threads(1);
  CHECK(peak(2048) < 3 * peak(1024));
  CHECK(peak(2048) < 2048 * 2048 * 4);
  set_num_threads(threads);
}

}  // namespace
}  // namespace gradus::test
