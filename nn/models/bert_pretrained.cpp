// Loading a BERT from a folder and saving it.

#include "gradus/nn/models/bert.h"
#include "gradus/nn/pretrained/detail/folder.h"
#include "gradus/nn/pretrained/detail/gpt_families.h"

namespace gradus::nn {

namespace {

using pretrained::Config;
using pretrained::Json;
using pretrained::NameMap;

constexpr const char* kBertPrefix = "bert.";
constexpr const char* kOwnBert = "gradus-bert";  // the model_type of a config with keys of gradus
constexpr const char* kEmbeddings = "bert.embeddings.";
constexpr const char* kTransform = "cls.predictions.transform.";

/// The options that it shares with a GPT, which have gradus' own keys in config.json.
GPTOptions common(const BertOptions& o) {
  GPTOptions gpt{.vocab = o.vocab,
                 .context = o.context,
                 .layers = o.layers,
                 .placement = o.placement,
                 .block = o.block,
                 .final_norm = o.final_norm};
  gpt.block.eps = o.eps;
  gpt.block.activation = o.block.activation.value_or(Activation::gelu);
  return gpt;
}

void take_common(const GPTOptions& gpt, BertOptions& o) {
  o.vocab = gpt.vocab, o.context = gpt.context, o.layers = gpt.layers;
  o.block = gpt.block, o.eps = gpt.block.eps, o.final_norm = gpt.final_norm;
}

BertOptions bert_options(const Config& config, const PretrainedOptions& given) {
  const bool own = config.choice<bool>("model_type", {{"bert", false}, {kOwnBert, true}});
  config.choice<bool>("position_embedding_type", {{"absolute", true}}, true);
  config.expect_flag("is_decoder", false);
  config.expect_flag("add_cross_attention", false);
  config.expect_flag("tie_word_embeddings", true);
  BertOptions o{.vocab = config.size("vocab_size"),
                .context = config.size("max_position_embeddings"),
                .layers = config.size("num_hidden_layers"),
                .token_types = config.size("type_vocab_size", 2),
                .eps = config.number("layer_norm_eps", 1e-12),
                .init_std = config.number("initializer_range", 0.02)};
  o.block.d_model = config.size("hidden_size");
  o.block.heads = config.size("num_attention_heads");
  o.block.d_ff = config.size("intermediate_size", 4 * o.block.d_model);
  o.block.activation = pretrained::read_activation(config, "hidden_act", Activation::gelu);
  o.block.dropout =
      pretrained::read_dropout(config, given, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0.1);
  if (own) {
    GPTOptions gpt = common(o);
    pretrained::read_gradus_entries(config, gpt);
    take_common(gpt, o);
  }
  check(given.context == 0 || given.context == o.context,
        "{} has {} learned positions, so the context cannot be {}: leave the context out", config.label(),
        o.context, given.context);
  if (const auto placement = pretrained::read_placement(config, given)) o.placement = *placement;
  if (given.dropout) o.block.dropout = *given.dropout;
  return o;
}

/// Sets the options of the heads that the weights contain.
void read_heads(const pretrained::Reader& reader, BertOptions& o) {
  NameMap names;
  names.optional_prefix(kBertPrefix);
  o.pooler = reader.contains(names, "bert.pooler.dense.weight");
  o.mlm_head = reader.contains(names, std::string(kTransform) + "dense.weight");
  o.nsp_head = reader.contains(names, "cls.seq_relationship.weight");
}

const char* bert_architecture(const BertOptions& o) {
  if (o.mlm_head) return o.nsp_head ? "BertForPreTraining" : "BertForMaskedLM";
  return o.nsp_head ? "BertForNextSentencePrediction" : "BertModel";
}

/// Hugging Face's keys, and gradus' own for options that they cannot express.
Json bert_config(const char* caller, const std::string& folder, const BertOptions& o) {
  const pretrained::Sizes sizes = pretrained::sizes_of(o.block);
  Json text = {{"architectures", {bert_architecture(o)}},
               {"model_type", "bert"},
               {"vocab_size", o.vocab},
               {"max_position_embeddings", o.context},
               {"num_hidden_layers", o.layers},
               {"type_vocab_size", o.token_types},
               {"hidden_size", sizes.d},
               {"num_attention_heads", sizes.heads},
               {"intermediate_size", sizes.ff},
               {"hidden_act", pretrained::activation_name(common(o).block.activation.value())},
               {"hidden_dropout_prob", o.block.dropout},
               {"attention_probs_dropout_prob", o.block.dropout},
               {"layer_norm_eps", o.eps},
               {"initializer_range", o.init_std}};
  const BertOptions said = bert_options(Config(caller, folder, text), {});
  const Json wanted = pretrained::gradus_entries(caller, common(o)),
             got = pretrained::gradus_entries(caller, common(said));
  if (wanted == got) return text;
  text.erase("architectures");
  text["model_type"] = kOwnBert;
  for (const auto& [key, value] : wanted.items())
    if (got.at(key) != value) text[key] = value;
  text["final_norm"] = wanted.at("final_norm");  // explicit, even if it is the placement's default
  // Refuses to write a config that would be read differently.
  const Config written(caller, folder, text);
  const Json again =
      pretrained::gradus_entries(caller, common(bert_options(written, {.placements = {o.placement}})));
  for (const auto& [key, value] : wanted.items())
    if (again.at(key) != value) written.fail(key, "this option cannot be saved");
  return text;
}

/// Names the parameters of a norm, if it has any.
void name_bert_norm(NameMap& names, const BertOptions& o, const std::string& name, const std::string& file) {
  names.norm_if_there(name, file, o.block.d_model);
}

void name_bert_block(NameMap& names, const BertOptions& o, std::int64_t i) {
  const pretrained::Sizes s = pretrained::sizes_of(o.block);
  const std::string block = fmt::format("layers.{}.", i), layer = fmt::format("bert.encoder.layer.{}.", i);
  const std::string attention = layer + "attention.";
  names.in_proj(block + "self_attn",
                {{attention + "self.query", s.q()},
                 {attention + "self.key", s.kv()},
                 {attention + "self.value", s.kv()}},
                s.d, o.block.qkv_bias.value_or(o.block.bias));
  names.linear(block + "self_attn.out_proj", attention + "output.dense",
               {.out = s.d, .in = s.q(), .bias = o.block.bias});
  names.linear(block + "linear1", layer + "intermediate.dense",
               {.out = s.ff, .in = s.d, .bias = o.block.bias});
  names.linear(block + "linear2", layer + "output.dense", {.out = s.d, .in = s.ff, .bias = o.block.bias});
  pretrained::name_norms(names, common(o), block, attention + "output.LayerNorm", layer + "output.LayerNorm");
}

NameMap bert_names(const BertOptions& o) {
  const std::int64_t d = o.block.d_model;
  const std::string tokens = std::string(kEmbeddings) + "word_embeddings.weight";
  NameMap names;
  names.optional_prefix(kBertPrefix);
  names.alias(".gamma", ".weight");  // in old files
  names.alias(".beta", ".bias");
  names.ignore("position_ids");
  names.plain("token_embedding.weight", {tokens, {o.vocab, d}});
  names.plain("position_embedding.weight",
              {std::string(kEmbeddings) + "position_embeddings.weight", {o.context, d}});
  names.plain("type_embedding.weight",
              {std::string(kEmbeddings) + "token_type_embeddings.weight", {o.token_types, d}});
  name_bert_norm(names, o, "embedding_norm", std::string(kEmbeddings) + "LayerNorm");
  for (std::int64_t i = 0; i < o.layers; ++i) name_bert_block(names, o, i);
  pretrained::name_final_norm(names, common(o), "bert.encoder.LayerNorm");
  if (o.pooler) names.linear("pooler", "bert.pooler.dense", {.out = d, .in = d});
  if (o.mlm_head) {
    names.linear("mlm_dense", std::string(kTransform) + "dense", {.out = d, .in = d});
    name_bert_norm(names, o, "mlm_norm", std::string(kTransform) + "LayerNorm");
    names.plain("mlm_bias", {"cls.predictions.bias", {o.vocab}});
    names.same("cls.predictions.decoder.weight", tokens);
    names.same("cls.predictions.decoder.bias", "cls.predictions.bias");
  }
  if (o.nsp_head) names.linear("nsp_head", "cls.seq_relationship", {.out = 2, .in = d});
  return names;
}

}  // namespace

Bert Bert::load_pretrained(const std::string& folder, const PretrainedOptions& given) {
  pretrained::Reader reader("Bert::load_pretrained", folder, given);
  pretrained::expect_heads_divide(reader.config);
  BertOptions options = bert_options(reader.config, given);
  read_heads(reader, options);
  reader.expect_layers("num_hidden_layers", options.layers, kBertPrefix, "encoder.layer.");
  const NameMap names = reader.config.explain([&] { return bert_names(options); });
  return reader.load(names, [&] { return Bert(options); });
}

void Bert::save_pretrained(const std::string& folder, const SavePretrainedOptions& given) const {
  constexpr const char* caller = "Bert::save_pretrained";
  pretrained::save(caller, folder, *this, bert_names(options_), bert_config(caller, folder, options_), given);
}

}  // namespace gradus::nn
