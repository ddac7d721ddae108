// 100 training steps give the same bits for any number of threads.

#include <doctest/doctest.h>

#include <cstring>

#include "gradus/gradus.h"
#include "threads_guard.h"

namespace gradus::test {
namespace {

/// Every bit of every parameter after training a small GPT with dropout, clipping and AdamW.
std::vector<float> train(nn::Placement placement, int threads, int steps) {
  const ThreadsGuard guard(threads);
  manual_seed(7);
  const nn::GPT gpt({.vocab = 40,
                     .context = 33,
                     .layers = 2,
                     .placement = placement,
                     .block = {.d_model = 48, .heads = 3, .dropout = 0.1}});
  optim::AdamW opt(gpt.parameters(), {.lr = optim::warmup_cosine(3e-3, 10, 100)});
  for (int step = 0; step < steps; ++step) {
    const Tensor ids = randint(0, 40, {9, 33}), targets = randint(0, 40, {9, 33});
    opt.zero_grad();
    gpt.loss(ids, targets).backward();
    optim::clip_grad_norm(gpt.parameters(), 1.0);
    opt.step();
  }
  std::vector<float> bits;
  for (const Tensor& parameter : gpt.parameters())
    bits.insert(bits.end(), parameter.span<float>().begin(), parameter.span<float>().end());
  return bits;
}

}  // namespace

TEST_CASE("training: bit-identical for 1, 2, 3, 4 and 8 threads after 100 steps") {
  for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln()}) {
    const std::vector<float> one = train(placement, 1, 100);
    for (const int threads : {2, 3, 4, 8}) {
      CAPTURE(threads);
      const std::vector<float> many = train(placement, threads, 100);
      REQUIRE(many.size() == one.size());
      CHECK(std::memcmp(many.data(), one.data(), one.size() * sizeof(float)) == 0);
    }
    CHECK(train(placement, 2, 95) != one);  // the comparison can fail
  }
}

TEST_CASE("training: leaks no node and no byte") {
  const std::int64_t nodes = live_nodes(), bytes = memory_stats().live_bytes;
  train(nn::pre_ln(), num_threads(), 3);
  CHECK(live_nodes() == nodes);
  CHECK(memory_stats().live_bytes == bytes);
}

}  // namespace gradus::test
