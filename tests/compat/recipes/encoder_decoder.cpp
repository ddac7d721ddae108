// Encoder and decoder: read a sequence, write it backwards.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

constexpr std::int64_t kSymbols = 8, kLength = 6, kStart = 8, kModel = 32;  // kStart: an answer's first token

struct Reverser : nn::Module {
  nn::TransformerOptions options{.layers = 1, .block = {.d_model = kModel, .heads = 4}};
  nn::Embedding tokens = add("tokens", nn::Embedding(kSymbols + 1, kModel));
  nn::LearnedPositions places = add("places", nn::LearnedPositions(kLength, kModel));
  nn::TransformerEncoder encoder = add("encoder", nn::TransformerEncoder(options));
  nn::TransformerDecoder decoder = add("decoder", nn::TransformerDecoder(options));  // causal by itself
  nn::Linear head = add("head", nn::Linear(kModel, kSymbols));
  Tensor embed(const Tensor& ids) const { return tokens(ids) + places(ids.size(1)); }
  Tensor operator()(const Tensor& source, const Tensor& answer) const {  // logits after every answer
    return head(decoder(embed(answer), encoder(embed(source))));
  }
};

int main() {
  manual_seed(0);
  const Reverser model;
  optim::Adam opt(model.parameters(), {.lr = optim::warmup_linear(3e-3, 50)});
  for (int step = 0; step < 300; ++step) {
    const Tensor source = randint(0, kSymbols, {64, kLength}), target = flip(source, 1);
    const Tensor so_far = cat({full({64, 1}, kStart), target.slice(1, 0, -1)}, 1);
    opt.zero_grad();
    cross_entropy(model(source, so_far), target).backward();
    opt.step();
  }
  const NoGrad guard;
  const Tensor source = randint(0, kSymbols, {100, kLength});
  Tensor y = full({100, 1}, kStart);
  for (int i = 0; i < kLength; ++i) y = cat({y, model(source, y).select(1, -1).argmax(-1, true)}, 1);
  std::printf("reversed: %.2f\n", (y.slice(1, 1) == flip(source, 1)).all(1).to(f32).mean().item());
}
