// Sequences of different lengths: a tagger marks the largest value of each row.
#include <cstdio>

#include "gradus/gradus.h"

using namespace gradus;

struct Tagger : nn::Module {
  nn::Embedding numbers = add("numbers", nn::Embedding(20, 32, {.padding_idx = 0}));
  nn::TransformerEncoder encoder =
      add("encoder", nn::TransformerEncoder({.layers = 2, .block = {.d_model = 32, .heads = 4}}));
  nn::Linear head = add("head", nn::Linear(32, 2));
  Tensor operator()(const Tensor& ids) const {  // [B, T] -> [B, T, 2]
    return head(encoder(numbers(ids), {.key_padding_mask = ids == 0}));
  }
};

int main() {
  manual_seed(0);
  const Tensor lengths = randint(2, 13, {1000}), all = randint(1, 20, {1000, 12});
  const auto row = [&](std::int64_t i) { return all[i].slice(0, 0, lengths[i].item<std::int64_t>()); };
  const auto item = [&](std::int64_t i) { return std::array{row(i), (row(i) == row(i).max()).to(i64)}; };
  const auto length = [&](std::int64_t i) { return row(i).numel(); };
  data::DataLoader loader(800, item, {.batch_size = 32, .shuffle = true, .pad = {0, -100}, .length = length});
  const Tagger model;
  optim::Adam opt(model.parameters(), {.lr = optim::warmup_linear(2e-3, 30)});
  while (loader.epoch() < 10)
    for (const auto& [ids, tags] : loader) {  // padded to the longest of the batch
      opt.zero_grad();
      cross_entropy(model(ids), tags, {.ignore_index = -100}).backward();  // padding has no tag
      opt.step();
    }
  const auto [ids, tags] = data::DataLoader(1000, item, {.batch_size = 1000, .pad = {0, -100}}).next();
  const Tensor unseen = model(ids.slice(0, 800));                              // [200, 12, 2]
  std::printf("accuracy %.2f\n", data::accuracy(unseen, tags.slice(0, 800)));  // ignores -100, too
  const Tensor alone = model(row(800).unsqueeze(0))[0];
  std::printf("the same without padding: %s\n",
              allclose(unseen[0].slice(0, 0, length(800)), alone, 1e-4, 1e-4) ? "yes" : "no");
}
