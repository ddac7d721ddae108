// GPT-2 (Radford et al. 2019), and GPT-1 (Radford et al. 2018), whose files differ in a few names.

#include "gradus/nn/pretrained/detail/gpt_families.h"

namespace gradus::nn::pretrained {

namespace {

/// Reads the entries that both configs share.
GPTOptions read_common(const Config& config, const PretrainedOptions& given) {
  GPTOptions o{.vocab = config.size("vocab_size"),
               .context = config.size("n_positions"),
               .layers = config.size("n_layer"),
               .tied = config.flag("tie_word_embeddings", true)};
  o.block.d_model = config.size("n_embd");
  o.block.heads = config.size("n_head");
  o.block.dropout = read_dropout(config, given, {"resid_pdrop", "embd_pdrop", "attn_pdrop"}, 0.1);
  o.block.eps = config.number("layer_norm_epsilon", 1e-5);
  return o;
}

Json write_common(const GPTOptions& o) {
  return {
      {"vocab_size", o.vocab},         {"n_positions", o.context},      {"n_embd", o.block.d_model},
      {"n_layer", o.layers},           {"n_head", o.block.heads},       {"resid_pdrop", o.block.dropout},
      {"embd_pdrop", o.block.dropout}, {"attn_pdrop", o.block.dropout}, {"layer_norm_epsilon", o.block.eps},
      {"tie_word_embeddings", o.tied}};
}

/// Both store weights in Conv1D's layout, [in, out].
NameMap names_of(const GPTOptions& o, const std::string& tokens, const std::string& positions) {
  const Sizes s = sizes_of(o.block);
  const bool bias = o.block.bias, qkv_bias = o.block.qkv_bias.value_or(bias);
  NameMap names;
  names.optional_prefix("transformer.");
  names.plain("token_embedding.weight", {"transformer." + tokens, {o.vocab, s.d}});
  if (o.positions == Positions::learned)
    names.plain("position_embedding.weight", {"transformer." + positions, {o.context, s.d}});
  for (std::int64_t i = 0; i < o.layers; ++i) {
    const std::string block = fmt::format("layers.{}.", i), h = fmt::format("transformer.h.{}.", i);
    const std::int64_t qkv = s.q() + 2 * s.kv();
    names.transposed(block + "self_attn.in_proj_weight", {h + "attn.c_attn.weight", {s.d, qkv}});
    if (qkv_bias) names.plain(block + "self_attn.in_proj_bias", {h + "attn.c_attn.bias", {qkv}});
    names.linear(block + "self_attn.out_proj", h + "attn.c_proj",
                 {.out = s.d, .in = s.q(), .bias = bias, .transposed = true});
    names.linear(block + "linear1", h + "mlp.c_fc",
                 {.out = s.ff, .in = s.d, .bias = bias, .transposed = true});
    names.linear(block + "linear2", h + "mlp.c_proj",
                 {.out = s.d, .in = s.ff, .bias = bias, .transposed = true});
    name_norms(names, o, block, h + "ln_1", h + "ln_2");
  }
  name_final_norm(names, o, "transformer.ln_f");
  name_head(names, o, "transformer." + tokens);
  names.ignore(".attn.bias");  // the causal mask
  names.ignore(".attn.masked_bias");
  names.ignore("position_ids");
  return names;
}

GPTOptions read_gpt2(const Config& config, const PretrainedOptions& given) {
  config.expect_flag("scale_attn_by_inverse_layer_idx", false);
  config.expect_flag("add_cross_attention", false);
  GPTOptions o = read_common(config, given);
  o.block.d_ff = config.size("n_inner", 4 * o.block.d_model);
  o.block.activation = read_activation(config, "activation_function", Activation::gelu_tanh);
  if (!config.flag("scale_attn_weights", true)) o.block.attention_scale = 1;
  return o;
}

Json write_gpt2(const GPTOptions& o) {
  Json text = write_common(o);
  text["n_inner"] = sizes_of(o.block).ff;
  text["activation_function"] = activation_name(o.block.activation.value());
  text["scale_attn_weights"] = o.block.attention_scale != 1.0;
  return text;
}

/// Post-LN without a final norm; "gelu" means the tanh form here.
GPTOptions read_gpt1(const Config& config, const PretrainedOptions& given) {
  GPTOptions o = read_common(config, given);
  o.placement = post_ln();
  o.block.activation = config.choice<Activation>("afn",
                                                 {{"gelu", Activation::gelu_tanh},
                                                  {"relu", Activation::relu},
                                                  {"silu", Activation::silu},
                                                  {"swish", Activation::silu}},
                                                 Activation::gelu_tanh);
  return o;
}

Json write_gpt1(const GPTOptions& o) {
  Json text = write_common(o);
  const Activation a = o.block.activation.value();
  text["afn"] = a == Activation::relu ? "relu" : a == Activation::silu ? "silu" : "gelu";
  return text;
}

}  // namespace

constinit const GptFamily kGpt2{
    .model_type = "gpt2",
    .architecture = "GPT2LMHeadModel",
    .layers_key = "n_layer",
    .prefix = "transformer.",
    .layers = "h.",
    .read = read_gpt2,
    .write = write_gpt2,
    .names = [](const GPTOptions& o) { return names_of(o, "wte.weight", "wpe.weight"); },
    .vocab = 50'257};

constinit const GptFamily kOpenAiGpt{.model_type = "openai-gpt",
                                     .architecture = "OpenAIGPTLMHeadModel",
                                     .layers_key = "n_layer",
                                     .prefix = "transformer.",
                                     .layers = "h.",
                                     .read = read_gpt1,
                                     .write = write_gpt1,
                                     .names = [](const GPTOptions& o) {
                                       return names_of(o, "tokens_embed.weight", "positions_embed.weight");
                                     }};

}  // namespace gradus::nn::pretrained
