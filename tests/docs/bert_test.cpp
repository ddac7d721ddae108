// The code that docs/bert.md quotes.

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {

TEST_CASE("the page's code on BERT") {
  const Tensor rows = randint(5, 1000, {8, 32}), padding = zeros({8, 32}, boolean);
  const ScratchFolder folder;
  const std::string path = folder.path().string();
  // [training]
  const nn::Bert bert({.vocab = 1000,
                       .context = 32,
                       .layers = 2,
                       .block = {.d_model = 64, .heads = 4, .dropout = 0.1},
                       .init_std = 0.125});  // 1 / sqrt(64): so small a model learns little with the paper's 0.02
  optim::AdamW opt(bert.parameters(), {.lr = 1e-3});
  const auto [seen, targets] = data::mask_tokens(rows, {.vocab = 1000, .mask = 4, .special = {0, 1, 2, 3}});
  const Tensor loss = bert.loss(seen, {.tokens = targets}, {.padding = padding});
  loss.backward();
  opt.step();
  bert.save_pretrained(path);
  // [/training]
  CHECK(std::isfinite(loss.item()));
  const Tensor ids = seen;
  // [filling]
  const nn::Bert filler = nn::Bert::load_pretrained(path);
  const Tensor logits = filler.mlm_logits(filler(ids)[ids == 4]);  // [masks, vocab]
  // [/filling]
  CHECK(logits.size(1) == 1000);
}

}  // namespace gradus::test
