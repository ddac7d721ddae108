// Llama (Touvron et al. 2023): RMSNorm, rotary positions, SwiGLU, fewer heads of keys and values, no biases;
// Mistral (Jiang et al. 2023) adds a window, Qwen2 (Yang et al. 2024) biases of queries, keys and values.

#include "gradus/nn/pretrained/detail/gpt_families.h"

namespace gradus::nn::pretrained {

namespace {

/// Newer files have it in a separate object.
double read_rope_base(const Config& config) {
  for (const char* const key : {"rope_scaling", "rope_parameters"}) {
    const auto& more = config.at(key);
    if (more.is_null()) continue;
    if (!more.is_object()) config.fail(key, "expects an object or null");
    for (const char* const name : {"rope_type", "type"})
      if (more.contains(name) && more[name] != "default")
        config.fail(
            key, fmt::format("{} {} is not supported: expects null or \"default\"", name, more[name].dump()));
    if (more.contains("rope_theta")) {
      if (!more["rope_theta"].is_number()) config.fail(key, "expects rope_theta to be a number");
      return more["rope_theta"].get<double>();
    }
  }
  return config.number("rope_theta", 10'000.0);
}

/// `missing` is Hugging Face's default if there is no key; null always means as many as query heads.
std::int64_t read_kv_heads(const Config& config, std::int64_t heads, std::int64_t missing) {
  return config.size("num_key_value_heads", config.mentions("num_key_value_heads") ? heads : missing);
}

GPTOptions read(const Config& config, const PretrainedOptions& given) {
  GPTOptions o{.vocab = config.size("vocab_size"),
               .context = config.size("max_position_embeddings"),
               .layers = config.size("num_hidden_layers"),
               .positions = Positions::rotary,
               .tied = config.flag("tie_word_embeddings", false)};
  BlockOptions& b = o.block;
  b.d_model = config.size("hidden_size");
  b.heads = config.size("num_attention_heads");
  b.kv_heads = read_kv_heads(config, b.heads, b.heads);
  b.head_dim = config.size("head_dim", b.d_model / b.heads);
  b.d_ff = config.size("intermediate_size");
  b.activation = read_activation(config, "hidden_act", Activation::silu);
  b.gated = true;
  b.bias = config.flag("attention_bias", false);
  if (config.flag("mlp_bias", false) != b.bias)
    config.fail("mlp_bias", fmt::format("{}differs from attention_bias: expects both or neither",
                                        config.has("mlp_bias") ? "" : "defaults to false, which "));
  b.norm = make_norm<RMSNorm>;
  b.eps = config.number("rms_norm_eps", 1e-6);
  b.rope = RopeOptions{.base = read_rope_base(config)};
  if (!(b.rope->base > 0))
    config.fail("rope_theta", fmt::format("expects a number above 0, got {}", b.rope->base));
  b.dropout = read_dropout(config, given, {"attention_dropout"}, 0);
  return o;
}

Json write(const GPTOptions& o) {
  const Sizes s = sizes_of(o.block);
  return {{"vocab_size", o.vocab},
          {"max_position_embeddings", o.context},
          {"hidden_size", s.d},
          {"intermediate_size", s.ff},
          {"num_hidden_layers", o.layers},
          {"num_attention_heads", s.heads},
          {"num_key_value_heads", s.kv_heads},
          {"head_dim", s.head_dim},
          {"hidden_act", activation_name(o.block.activation.value())},
          {"rms_norm_eps", o.block.eps},
          {"rope_theta", o.block.rope ? o.block.rope->base : 10'000.0},
          {"rope_scaling", nullptr},
          {"attention_bias", o.block.bias},
          {"mlp_bias", o.block.bias},
          {"attention_dropout", o.block.dropout},
          {"tie_word_embeddings", o.tied}};
}

GPTOptions read_mistral(const Config& config, const PretrainedOptions& given) {
  GPTOptions o = read(config, given);
  o.block.kv_heads = read_kv_heads(config, o.block.heads, 8);
  o.block.window = config.whole("sliding_window", 1, config.mentions("sliding_window") ? 0 : 4096);
  return o;
}

Json write_mistral(const GPTOptions& o) {
  Json text = write(o);
  text["sliding_window"] = o.block.window > 0 ? Json(o.block.window) : Json();
  return text;
}

GPTOptions read_qwen2(const Config& config, const PretrainedOptions& given) {
  config.expect_flag("use_sliding_window", false);
  GPTOptions o = read(config, given);
  o.block.kv_heads = read_kv_heads(config, o.block.heads, 32);
  o.block.qkv_bias = true;
  return o;
}

Json write_qwen2(const GPTOptions& o) {
  Json text = write(o);
  text["use_sliding_window"] = false;
  return text;
}

NameMap names_of(const GPTOptions& o) {
  const Sizes s = sizes_of(o.block);
  const bool bias = o.block.bias;
  NameMap names;
  names.optional_prefix("model.");
  names.plain("token_embedding.weight", {"model.embed_tokens.weight", {o.vocab, s.d}});
  for (std::int64_t i = 0; i < o.layers; ++i) {
    const std::string block = fmt::format("layers.{}.", i), h = fmt::format("model.layers.{}.", i);
    names.in_proj(
        block + "self_attn",
        {{h + "self_attn.q_proj", s.q()}, {h + "self_attn.k_proj", s.kv()}, {h + "self_attn.v_proj", s.kv()}},
        s.d, o.block.qkv_bias.value_or(bias));
    names.linear(block + "self_attn.out_proj", h + "self_attn.o_proj",
                 {.out = s.d, .in = s.q(), .bias = bias});
    names.linear(block + "linear1", h + "mlp.gate_proj", {.out = s.ff, .in = s.d, .bias = bias});
    if (o.block.gated)
      names.linear(block + "linear3", h + "mlp.up_proj", {.out = s.ff, .in = s.d, .bias = bias});
    names.linear(block + "linear2", h + "mlp.down_proj", {.out = s.d, .in = s.ff, .bias = bias});
    name_norms(names, o, block, h + "input_layernorm", h + "post_attention_layernorm");
  }
  name_final_norm(names, o, "model.norm");
  name_head(names, o, "model.embed_tokens.weight");
  names.ignore("rotary_emb.inv_freq");
  return names;
}

}  // namespace

constinit const GptFamily kLlama{.model_type = "llama",
                                 .architecture = "LlamaForCausalLM",
                                 .layers_key = "num_hidden_layers",
                                 .prefix = "model.",
                                 .layers = "layers.",
                                 .read = read,
                                 .write = write,
                                 .names = names_of,
                                 .vocab = 32'000};
constinit const GptFamily kMistral{.model_type = "mistral",
                                   .architecture = "MistralForCausalLM",
                                   .layers_key = "num_hidden_layers",
                                   .prefix = "model.",
                                   .layers = "layers.",
                                   .read = read_mistral,
                                   .write = write_mistral,
                                   .names = names_of,
                                   .vocab = 32'000};
constinit const GptFamily kQwen2{.model_type = "qwen2",
                                 .architecture = "Qwen2ForCausalLM",
                                 .layers_key = "num_hidden_layers",
                                 .prefix = "model.",
                                 .layers = "layers.",
                                 .read = read_qwen2,
                                 .write = write_qwen2,
                                 .names = names_of};

}  // namespace gradus::nn::pretrained
