// GPT-Neo (Black et al. 2021): blocks alternate, as in GPT-3, between full attention and a window; scores are
// not scaled; queries, keys and values have no bias.

#include <algorithm>

#include "gradus/nn/pretrained/detail/gpt_families.h"

namespace gradus::nn::pretrained {

namespace {

constexpr const char* kTypes = "attention_types";

/// [[["global", "local"], 6]]: a pattern and the number of its repetitions.
std::vector<bool> local_layers(const Config& config, std::int64_t layers) {
  const auto& types = config.at(kTypes);
  const auto wrong = [&] { config.fail(kTypes, R"(expects a list such as [[["global", "local"], 6]])"); };
  if (!types.is_array()) wrong();
  std::vector<bool> local;
  for (const auto& part : types) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_array() || !part[1].is_number_integer()) wrong();
    for (std::int64_t n = part[1].get<std::int64_t>(); n > 0 && !part[0].empty(); --n) {
      for (const auto& type : part[0]) {
        if (type != "global" && type != "local") wrong();
        local.push_back(type == "local");
      }
      if (static_cast<std::int64_t>(local.size()) > layers) break;
    }
  }
  if (static_cast<std::int64_t>(local.size()) != layers)
    config.fail(kTypes, fmt::format("expects as many layers as num_layers, {}", layers));
  return local;
}

/// n if every n-th block is local, 0 if none is; else throws.
std::int64_t read_window_every(const Config& config, std::int64_t layers) {
  const std::vector<bool> local = local_layers(config, layers);
  const auto first = std::find(local.begin(), local.end(), true);
  if (first == local.end()) return 0;
  const std::int64_t every = first - local.begin() + 1;
  for (std::int64_t i = 0; i < layers; ++i)
    if (local[static_cast<std::size_t>(i)] != ((i + 1) % every == 0))
      config.fail(kTypes, "is not supported: expects every n-th layer to be local, all others global");
  return every;
}

GPTOptions read(const Config& config, const PretrainedOptions& given) {
  GPTOptions o{.vocab = config.size("vocab_size"),
               .context = config.size("max_position_embeddings"),
               .layers = config.size("num_layers"),
               .tied = config.flag("tie_word_embeddings", true)};
  o.block.d_model = config.size("hidden_size");
  o.block.heads = config.size("num_heads");
  o.block.d_ff = config.size("intermediate_size", 4 * o.block.d_model);
  o.block.activation = read_activation(config, "activation_function", Activation::gelu_tanh);
  o.block.dropout = read_dropout(config, given, {"resid_dropout", "embed_dropout", "attention_dropout"}, 0);
  o.block.eps = config.number("layer_norm_epsilon", 1e-5);
  o.block.qkv_bias = false;
  o.block.attention_scale = 1;
  if (const std::int64_t every = read_window_every(config, o.layers)) {
    o.block.window = config.size("window_size", 256);
    o.block.window_every = every;
  }
  return o;
}

Json write(const GPTOptions& o) {
  Json layers = Json::array();
  for (std::int64_t i = 0; i < o.layers; ++i)
    layers.push_back(o.block.window > 0 && (i + 1) % o.block.window_every == 0 ? "local" : "global");
  return {{"vocab_size", o.vocab},
          {"max_position_embeddings", o.context},
          {"hidden_size", o.block.d_model},
          {"num_layers", o.layers},
          {"num_heads", o.block.heads},
          {"intermediate_size", sizes_of(o.block).ff},
          {"activation_function", activation_name(o.block.activation.value())},
          {kTypes, Json::array({Json::array({layers, 1})})},
          {"attention_layers", layers},
          {"window_size", o.block.window > 0 ? o.block.window : 256},
          {"resid_dropout", o.block.dropout},
          {"embed_dropout", o.block.dropout},
          {"attention_dropout", o.block.dropout},
          {"layer_norm_epsilon", o.block.eps},
          {"tie_word_embeddings", o.tied}};
}

NameMap names_of(const GPTOptions& o) {
  const Sizes s = sizes_of(o.block);
  const bool bias = o.block.bias;
  NameMap names;
  names.optional_prefix("transformer.");
  names.plain("token_embedding.weight", {"transformer.wte.weight", {o.vocab, s.d}});
  if (o.positions == Positions::learned)
    names.plain("position_embedding.weight", {"transformer.wpe.weight", {o.context, s.d}});
  for (std::int64_t i = 0; i < o.layers; ++i) {
    const std::string block = fmt::format("layers.{}.", i), h = fmt::format("transformer.h.{}.", i);
    const std::string attention = h + "attn.attention.";
    names.in_proj(
        block + "self_attn",
        {{attention + "q_proj", s.q()}, {attention + "k_proj", s.kv()}, {attention + "v_proj", s.kv()}}, s.d,
        o.block.qkv_bias.value_or(bias));
    names.linear(block + "self_attn.out_proj", attention + "out_proj",
                 {.out = s.d, .in = s.q(), .bias = bias});
    names.linear(block + "linear1", h + "mlp.c_fc", {.out = s.ff, .in = s.d, .bias = bias});
    names.linear(block + "linear2", h + "mlp.c_proj", {.out = s.d, .in = s.ff, .bias = bias});
    name_norms(names, o, block, h + "ln_1", h + "ln_2");
  }
  name_final_norm(names, o, "transformer.ln_f");
  name_head(names, o, "transformer.wte.weight");
  names.ignore(".attn.attention.bias");  // the causal mask
  names.ignore(".attn.attention.masked_bias");
  return names;
}

}  // namespace

constinit const GptFamily kGptNeo{.model_type = "gpt_neo",
                                  .architecture = "GPTNeoForCausalLM",
                                  .layers_key = "num_layers",
                                  .prefix = "transformer.",
                                  .layers = "h.",
                                  .read = read,
                                  .write = write,
                                  .names = names_of,
                                  .vocab = 50'257};

}  // namespace gradus::nn::pretrained
