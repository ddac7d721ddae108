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

}  // namespace

std::vector<Case> transformer_cases() {
  return {
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
