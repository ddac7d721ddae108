// Masked tokens, as in BERT: an encoder fills in the hidden tokens of rows that count up.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

constexpr std::int64_t kPadding = 0, kMask = 1, kFirst = 2, kVocabulary = 22, kLength = 8;

struct Filler : nn::Module {
  nn::Embedding tokens = add("tokens", nn::Embedding(kVocabulary, 32, {.padding_idx = kPadding}));
  nn::SinusoidalPositions places = add("places", nn::SinusoidalPositions(kLength, 32));
  nn::TransformerEncoder encoder =
      add("encoder", nn::TransformerEncoder({.layers = 2, .block = {.d_model = 32, .heads = 4}}));
  nn::Linear head = add("head", nn::Linear(32, kVocabulary));
  Tensor operator()(const Tensor& ids) const {  // [B, T] -> [B, T, vocabulary]
    return head(encoder(tokens(ids) + places(kLength), {.key_padding_mask = ids == kPadding}));
  }
};

int main() {
  manual_seed(0);
  const Filler model;
  optim::AdamW opt(model.parameters(), {.lr = optim::warmup_linear(3e-3, 30)});
  Tensor right = zeros({0}, boolean);
  for (int step = 0; step < 300; ++step) {
    const Tensor start = randint(kFirst, kVocabulary - kLength, {64, 1});
    const Tensor length = randint(4, kLength + 1, {64, 1});
    const Tensor ids = masked_fill(start + arange(kLength), arange(kLength) >= length, kPadding);
    const Tensor hidden = (rand(ids.shape()) < 0.15) & (ids != kPadding);
    const Tensor logits = model(masked_fill(ids, hidden, kMask));
    opt.zero_grad();
    cross_entropy(logits[hidden], ids[hidden]).backward();  // loss on hidden tokens only
    opt.step();
    if (step >= 280) right = cat({right, logits.argmax(-1)[hidden] == ids[hidden]});
  }
  std::printf("filled in correctly: %.2f\n", right.to(f32).mean().item());
}
