#pragma once
// GPT's options in published models. Differences from model to model:
//
//   |          | GPT-1                    | GPT-2            | GPT-3                     | Llama            |
//   |----------|--------------------------|------------------|---------------------------|------------------|
//   | norms    | Post-LN, none at the end | Pre-LN, final one| the same                  | Pre-LN, RMSNorm  |
//   | sees     | all earlier tokens       | the same         | every 2nd block: a window | all, or a window |
//   | position | learned                  | learned          | learned                   | rotary           |
//   | FFN      | tanh GELU, 4 C           | the same         | the same                  | SwiGLU, 8/3 C    |
//   | heads    | keys as many as queries  | the same         | the same                  | fewer for keys   |
//   | biases   | everywhere               | everywhere       | everywhere                | none             |
//   | head     | the token embedding      | the same         | the same                  | its own          |
//   | context  | 512                      | 1,024            | 2,048                     | 2,048 and more   |
//   | vocab    | 40,478                   | 50,257           | 50,257                    | 32,000 and more  |
//
// Matrices start as N(0, 0.02^2); in GPT-2 and GPT-3 the last ones of a branch have 0.02 / sqrt(2 layers).
//
//   nn::GPTOptions options = nn::gpt2("124m");
//   options.placement = nn::peri_ln();  // anything may be changed
//   nn::GPT gpt(options);
//
// For pretrained weights see GPT::load_pretrained.

#include <string_view>

#include "gradus/nn/models/gpt.h"

namespace gradus::nn {

/// GPT-1 (Radford et al. 2018, "Improving language understanding by generative pre-training"): 116.5 M
/// parameters, whose matrices start as N(0, 0.02^2). `nn::GPT gpt(nn::gpt1());`
GPTOptions gpt1();

/// GPT-2 (Radford et al. 2019, table 2, with the sizes of the published models): "124m", "355m", "774m" or
/// "1.5b". Throws for any other. `nn::GPT gpt(nn::gpt2("124m"));`
GPTOptions gpt2(std::string_view size = "124m");

/// GPT-3 (Brown et al. 2020, table 2.1): "125m", "350m", "760m", "1.3b", "2.7b", "6.7b", "13b" or "175b".
/// Every other block sees a window of 256 tokens, as in GPT-Neo: the paper gives no size. "1.3b" has 16 heads
/// of 128 channels, which fits its d_model of 2048 and 1.3 billion parameters; the table's 24 would give 1.5.
/// "13b" follows the table: its 40 heads of 128 channels are 5120, its d_model 5140. Throws for any other
/// size. `nn::GPT gpt(nn::gpt3("125m"));`
GPTOptions gpt3(std::string_view size = "125m");

struct LlamaOptions {
  std::int64_t vocab = 32'000;  // V
  std::int64_t context = 2048;  // the longest text
  std::int64_t layers = 32;     // L
  std::int64_t d_model = 4096;  // C
  std::int64_t heads = 32;      // H, of the queries
  std::int64_t kv_heads = 0;    // 0: as many as heads
  std::int64_t d_ff = 0;        // 0: 8/3 d_model, rounded up to a multiple of 256
  std::int64_t window = 0;      // Mistral's (Jiang et al. 2023); 0: all earlier tokens
  double rope_base = 10'000;    // see RopeOptions
  double eps = 1e-6;            // of the norms
  bool tied = false;            // the head is the token embedding
};
/// Llama (Touvron et al. 2023; Llama 2's grouped queries); the defaults are its smallest model, of 6.7
/// billion parameters. All matrices start as N(0, 0.02^2), as in Hugging Face's code: the paper does not say.
/// `nn::GPT gpt(nn::llama({.layers = 4, .d_model = 256, .heads = 8, .kv_heads = 2}));`
GPTOptions llama(const LlamaOptions& options = {});

}  // namespace gradus::nn
