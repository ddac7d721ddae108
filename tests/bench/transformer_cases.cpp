// The Transformers that came after GPT-2: one training step, or what they are made of.

#include "bench/cases.h"
#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

Step llama_step() {
  return gpt_step({.vocab = 32000,
                   .context = 256,
                   .layers = 6,
                   .block = {.d_model = 288,
                             .heads = 6,
                             .d_ff = 768,
                             .activation = nn::Activation::silu,
                             .gated = true,
                             .bias = false,
                             .norm = nn::make_norm<nn::RMSNorm>,
                             .kv_heads = 2},
                   .positions = nn::Positions::rotary},
                  4, 256);
}

Step banded_step() {
  const Shape shape = {1, 8, 8192, 64};
  std::vector<Tensor> qkv;
  for (int i = 0; i < 3; ++i) qkv.push_back(randn(shape).requires_grad_());
  return [qkv, dy = randn(shape)] {
    for (const Tensor& x : qkv) x.zero_grad();
    scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], {.causal = true, .window = 256}).backward(dy);
  };
}

Step beam_step(const nn::GPTOptions& options) {
  const nn::GPT model(options);
  model.eval();
  return
      [=, prompt = randint(0, options.vocab, {64})] { model.beam_search(prompt, {.beams = 4, .count = 32}); };
}

using Optimizer = std::shared_ptr<optim::AdamW>;

Optimizer adamw(const nn::Module& model) {
  return std::make_shared<optim::AdamW>(
      model.parameters(), optim::AdamWOptions{.lr = 1e-4, .betas = {0.9, 0.95}, .weight_decay = 0.1});
}

/// 19 of 128 tokens of each row are to be predicted, as 15% are in the paper, and the next sentence.
Step bert_step() {
  const nn::Bert model(
      {.vocab = 30522, .context = 512, .layers = 12, .block = {.d_model = 768, .heads = 12}});
  return [model, opt = adamw(model)] {
    const Tensor ids = randint(0, 30522, {8, 128}), next = randint(0, 2, {8});
    Tensor targets = full({8, 128}, -100, i64);
    targets.slice(1, 1, 20) = randint(0, 30522, {8, 19});
    model.loss(ids, {.tokens = targets, .next = next}).backward();
    opt->step();
    opt->zero_grad();
  };
}

/// [rows, longest] tokens, each row ended by `end` and then padded with 0, from longest - 4 to longest long.
Tensor texts(std::int64_t vocab, std::int64_t rows, std::int64_t longest, std::int64_t end) {
  Tensor ids = randint(3, vocab, {rows, longest});
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = longest - row % 5;
    ids[row].slice(0, length - 1) = 0;
    ids[row][length - 1] = end;
  }
  return ids;
}

template <class Model>
Step seq2seq_step(const Model& model, const Tensor& source, const Tensor& target, double label_smoothing) {
  return [=, opt = adamw(model)] {
    model.loss(source, target, {.label_smoothing = label_smoothing}).backward();
    opt->step();
    opt->zero_grad();
  };
}

Step t5_step() {
  nn::T5Options options = nn::t5("small");
  options.dropout = 0;
  return seq2seq_step(nn::T5(options), randint(3, options.vocab, {8, 128}), texts(options.vocab, 8, 32, 1),
                      0);
}

Step translation_step() {
  const nn::Seq2SeqTransformer model({.vocab = 10'000, .block = {.d_model = 512, .heads = 8}});
  return seq2seq_step(model, texts(10'000, 80, 25, 2), texts(10'000, 80, 25, 2), 0.1);
}

}  // namespace

std::vector<Case> transformer_cases() {
  return {
      {"bert-base", "BERT base, batch 8 x 128, 15% of the tokens and the next sentence, AdamW", bert_step},
      {"t5-small", "T5 small, 8 sources of 128 tokens and targets of 32, AdamW", t5_step},
      {"transformer-base", "the original Transformer, base, 10,000 words: 80 pairs of 21 to 25 tokens, AdamW",
       translation_step},
      {"llama-tiny",
       "Llama: 6 layers, d 288, 6 heads on 2 of keys, SwiGLU 768, RMSNorm, RoPE, 32,000 words; batch 4 x "
       "256, "
       "AdamW",
       llama_step},
      {"banded-8192", "attention in a window of 256, 8 heads of 64, T 8192, causal, forward and backward",
       banded_step},
      {"beam-4", "32 tokens of GPT-2 small after 64, 4 beams, keys and values cached",
       [] { return beam_step(gpt2_small()); }},
  };
}

}  // namespace gradus::bench
