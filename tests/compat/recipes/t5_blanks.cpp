// A T5 from scratch: a vocabulary with sentinels, and a model that fills in spans removed from a text.
#include <cstdio>

#include "gradus/gradus.h"
#include "gradus/text/text.h"

using namespace gradus;

int main() {
  manual_seed(0);
  const std::string year = " Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
  std::vector<std::string> texts;  // in practice, read from files
  for (std::size_t month = 0; month < 12; ++month) texts.push_back((year + year).substr(4 * month, 4 * 8));
  std::vector<std::string> special{"<pad>", "</s>"};  // ids 0 and 1, as in T5; sentinels count down
  for (int i = 9; i >= 0; --i) special.push_back("<extra_id_" + std::to_string(i) + ">");
  const auto bpe = text::train_byte_level_bpe(texts, {.vocab = 320, .special_tokens = special});
  nn::T5Options small{.vocab = bpe.vocab_size(), .dropout = 0};  // or nn::t5("small"): 60 million parameters
  small.d_model = 32, small.d_kv = 8, small.heads = 4, small.d_ff = 64;
  small.encoder_layers = small.decoder_layers = 2;
  const nn::T5 model(small);
  const data::SpanCorruptionOptions blanks{
      .noise_density = 0.4, .mean_span = 1, .sentinel = bpe.id("<extra_id_0>")};  // the largest sentinel
  const auto item = [&](std::size_t i) {  // different blanks each time
    const auto [source, target] = data::span_corruption(from_vector(bpe.encode(texts[i % 12])), blanks);
    return std::array{source, target};
  };
  optim::Adam opt(model.parameters(), {.lr = optim::warmup_linear(5e-3, 50)});
  data::DataLoader loader(120, item, {.batch_size = 12, .shuffle = true, .pad = {0}});
  while (loader.epoch() < 60) {
    const auto [source, target] = loader.next();
    opt.zero_grad();
    model.loss(source, target).backward();
    opt.step();
  }
  const auto [source, target] = data::DataLoader(120, item, {.batch_size = 120, .pad = {0}}).next();
  const Tensor written = model.generate(source, target.size(1), {.greedy = true});
  std::printf("%s\n%s\n", bpe.decode(source[3]).c_str(), bpe.decode(written[3]).c_str());
  std::printf("without a mistake: %.2f\n", (written == target).all(1).to(f64).mean().item());
}
