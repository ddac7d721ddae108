#include "gradus/nn/models/gpt_options.h"

#include <span>

#include "gradus/core/detail/format.h"

namespace gradus::nn {

namespace {

struct NamedSize {
  std::string_view name;
  std::int64_t layers, d_model, heads, head_dim;
};

// Radford et al. 2019, table 2; the heads are those of the published models.
constexpr NamedSize kGpt2Sizes[] = {{"124m", 12, 768, 12, 64},
                                    {"355m", 24, 1024, 16, 64},
                                    {"774m", 36, 1280, 20, 64},
                                    {"1.5b", 48, 1600, 25, 64}};

// Brown et al. 2020, table 2.1, except for the heads of 1.3b, which the table gives as 24.
constexpr NamedSize kGpt3Sizes[] = {{"125m", 12, 768, 12, 64},  {"350m", 24, 1024, 16, 64},
                                    {"760m", 24, 1536, 16, 96}, {"1.3b", 24, 2048, 16, 128},
                                    {"2.7b", 32, 2560, 32, 80}, {"6.7b", 32, 4096, 32, 128},
                                    {"13b", 40, 5140, 40, 128}, {"175b", 96, 12'288, 96, 128}};

const NamedSize& size_named(const char* maker, std::span<const NamedSize> sizes, std::string_view name) {
  std::string known;
  for (const NamedSize& size : sizes) {
    if (size.name == name) return size;
    known += (known.empty() ? "" : ", ") + std::string(size.name);
  }
  fail_with("{}: there is no size '{}': expects one of {}", maker, name, known);
}

}  // namespace

GPTOptions gpt1() {
  return {.vocab = 40'478,
          .context = 512,
          .layers = 12,
          .placement = post_ln(),
          .block = {.d_model = 768, .heads = 12, .activation = Activation::gelu_tanh, .dropout = 0.1},
          .residual_init_scaling = false};  // all N(0, 0.02^2), section 4.1
}

GPTOptions gpt2(std::string_view name) {
  const NamedSize& size = size_named("gpt2", kGpt2Sizes, name);
  return {
      .vocab = 50'257,
      .context = 1024,
      .layers = size.layers,
      .placement = pre_ln(),
      .block = {
          .d_model = size.d_model, .heads = size.heads, .activation = Activation::gelu_tanh, .dropout = 0.1}};
}

GPTOptions gpt3(std::string_view name) {
  const NamedSize& size = size_named("gpt3", kGpt3Sizes, name);
  return {.vocab = 50'257,
          .context = 2048,
          .layers = size.layers,
          .placement = pre_ln(),
          .block = {.d_model = size.d_model,
                    .heads = size.heads,
                    .activation = Activation::gelu_tanh,
                    .head_dim = size.head_dim,
                    .window = 256,
                    .window_every = 2}};
}

GPTOptions llama(const LlamaOptions& o) {
  const std::int64_t d_ff = (8 * o.d_model / 3 + 255) / 256 * 256;
  return {.vocab = o.vocab,
          .context = o.context,
          .layers = o.layers,
          .placement = pre_ln(),
          .block = {.d_model = o.d_model,
                    .heads = o.heads,
                    .d_ff = o.d_ff ? o.d_ff : d_ff,
                    .activation = Activation::silu,
                    .gated = true,
                    .bias = false,
                    .eps = o.eps,
                    .norm = make_norm<RMSNorm>,
                    .kv_heads = o.kv_heads,
                    .window = o.window,
                    .rope = RopeOptions{.base = o.rope_base}},
          .positions = Positions::rotary,
          .tied = o.tied,
          .residual_init_scaling = false};
}

}  // namespace gradus::nn
