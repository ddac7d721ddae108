// A small Seq2SeqTransformer learns to reverse its input: the code of docs/original_transformer.md.

#include <doctest/doctest.h>

#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/schedule.h"

namespace gradus::test {

TEST_CASE("Seq2SeqTransformer: learns to reverse its input") {
  for (const nn::Placement& placement : {nn::post_ln(), nn::pre_ln()}) {
    manual_seed(1);
    // [training]
    const nn::Seq2SeqTransformer model({.vocab = 10,
                                        .context = 8,
                                        .encoder_layers = 1,
                                        .decoder_layers = 1,
                                        .placement = placement,
                                        .block = {.d_model = 32, .heads = 4}});
    optim::Adam opt(model.parameters(), {.lr = optim::noam(32, 200, 0.5), .betas = {0.9, 0.98}});
    for (int step = 0; step < 400; ++step) {
      const Tensor words = randint(3, 10, {32, 5}), end = full({32, 1}, 2, i64);
      const Tensor loss = model.loss(words, cat({flip(words, {1}), end}, 1), {.label_smoothing = 0.1});
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    // [/training]
    // [writing]
    const Tensor source = tensor({{3, 4, 5, 6, 7}, {9, 9, 3, 8, 5}});
    const Tensor ids = model.generate(source, 7, {.greedy = true});
    const auto lists = model.beam_search(source, {.beams = 4, .count = 7});  // for each row, the best first
    // [/writing]
    CHECK((ids == tensor({{7, 6, 5, 4, 3, 2}, {5, 8, 3, 9, 9, 2}})).all());
    CHECK(lists[1][0].tokens == std::vector<std::int64_t>{5, 8, 3, 9, 9, 2});
    // [maps]
    nn::AttentionMaps maps;
    model(source, model.shifted(ids));
    const Tensor weights = maps.at("decoder.layers.0.multihead_attn");  // [B, H, target, source]
    // [/maps]
    CHECK(weights.shape() == Shape{2, 4, 6, 5});
  }
}

}  // namespace gradus::test
