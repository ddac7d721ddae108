// After three steps all memory has been touched: a training step causes no page fault.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>

#include "gradus/gradus.h"

// The sanitizers' own tables cause page faults at any time.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace gradus::test {
namespace {

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Page faults of seven steps after the third: the fewest of a few tries, as the system, short of memory, may
/// take pages away from anyone at any time.
template <class Step>
long faults_after_third(Step step) {
  for (int i = 0; i < 3; ++i) step();
  long fewest = 1'000'000;
  for (int tries = 0; tries < 5 && fewest > 0; ++tries) {
    const long before = page_faults();
    for (int i = 0; i < 7; ++i) step();
    fewest = std::min(fewest, page_faults() - before);
  }
  return fewest;
}

}  // namespace

TEST_CASE("no page fault after the third training step") {
  SUBCASE("GPT with dropout, clipping and AdamW") {
    const nn::GPT gpt(
        {.vocab = 500, .context = 64, .layers = 2, .block = {.d_model = 128, .heads = 4, .dropout = 0.1}});
    optim::AdamW opt(gpt.parameters(), {.lr = 1e-3});
    CHECK(faults_after_third([&] {
            const Tensor ids = randint(0, 500, {16, 64}), targets = randint(0, 500, {16, 64});
            opt.zero_grad();
            gpt.loss(ids, targets).backward();
            optim::clip_grad_norm(gpt.parameters(), 1.0);
            opt.step();
          }) == 0);
  }
  SUBCASE("Post-LN encoder") {
    const nn::TransformerEncoder encoder(
        {.layers = 6, .placement = nn::post_ln(), .block = {.d_model = 64, .heads = 4}});
    optim::Adam opt(encoder.parameters(), {.lr = 1e-4});
    const Tensor x = randn({16, 64, 64});
    CHECK(faults_after_third([&] {
            opt.zero_grad();
            encoder(x).square().mean().backward();
            opt.step();
          }) == 0);
  }
}

}  // namespace gradus::test

#endif
