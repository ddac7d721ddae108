#pragma once
// A small training, to repeat after running out of memory.

#include "gradus/core/random/random.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"

namespace gradus::test {

/// The loss of a second step of a GPT, on `texts` random texts; the same each time.
inline double train_gpt(const nn::GPTOptions& options, std::int64_t texts) {
  manual_seed(0);
  const nn::GPT gpt(options);
  optim::AdamW optimizer(gpt.parameters(), {.lr = 0.01});
  const Tensor text = randint(0, options.vocab, {texts, options.context + 1});
  const Tensor ids = text.slice(1, 0, options.context), next = text.slice(1, 1);
  double last = 0;
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const Tensor loss = gpt.loss(ids, next);
    loss.backward();
    optim::clip_grad_norm(gpt.parameters(), 1.0);
    optimizer.step();
    last = loss.item();
  }
  return last;
}

}  // namespace gradus::test
