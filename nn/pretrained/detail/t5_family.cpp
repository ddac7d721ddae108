// T5 and T5 v1.1 (Raffel et al. 2020) in Hugging Face's format.

#include "gradus/nn/pretrained/detail/seq2seq_families.h"

namespace gradus::nn::pretrained {

namespace {

struct T5Names {
  NameMap& names;
  const BlockOptions& block;

  void attention(const std::string& name, const std::string& file) const {
    const std::int64_t inner = block.heads * block.head_dim;
    names.in_proj(name, {{file + ".q", inner}, {file + ".k", inner}, {file + ".v", inner}}, block.d_model,
                  /*bias=*/false);
    names.linear(name + ".out_proj", file + ".o", {.out = block.d_model, .in = inner, .bias = false});
  }

  void ffn(const std::string& name, const std::string& file) const {
    const LinearNames in{.out = block.d_ff, .in = block.d_model, .bias = false};
    names.linear(name + "linear1", file + (block.gated ? ".wi_0" : ".wi"), in);
    if (block.gated) names.linear(name + "linear3", file + ".wi_1", in);
    names.linear(name + "linear2", file + ".wo", {.out = block.d_model, .in = block.d_ff, .bias = false});
  }

  /// Files number the branches; each has a norm.
  void stack(const std::string& stack, std::int64_t layers) const {
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string name = fmt::format("{}.layers.{}.", stack, i);
      const std::string file = fmt::format("{}.block.{}.layer.", stack, i);
      int branch = 0;
      const auto norm = [&] {
        names.norm_if_there(fmt::format("{}norm{}", name, branch + 1),
                            fmt::format("{}{}.layer_norm", file, branch), block.d_model);
        ++branch;
      };
      attention(name + "self_attn", file + "0.SelfAttention");
      norm();
      if (stack == "decoder") {
        attention(name + "multihead_attn", file + "1.EncDecAttention");
        norm();
      }
      ffn(name, fmt::format("{}{}.DenseReluDense", file, branch));
      norm();
    }
    names.norm_if_there(stack + ".norm", stack + ".final_layer_norm", block.d_model);
  }
};

}  // namespace

T5Options t5_options(const Config& config, const PretrainedOptions& given) {
  const std::string type = config.text("model_type");
  if (type != "t5" && type != "mt5" && type != std::string(kOwnType) + "t5")
    config.fail("model_type",
                fmt::format("'{}' is not known here: expects t5 or mt5{}", type,
                            type.ends_with("marian") ? "; use nn::Seq2SeqTransformer::load_pretrained" : ""));
  expect_no_context(config, given);
  const bool mt5 = type == "mt5";  // then Hugging Face's defaults are those of v1.1
  const bool gated = config.choice<bool>("feed_forward_proj", {{"relu", false}, {"gated-gelu", true}}, mt5);
  T5Options o{.vocab = config.size("vocab_size"),
              .d_model = config.size("d_model"),
              .d_kv = config.size("d_kv"),
              .d_ff = config.size("d_ff"),
              .heads = config.size("num_heads"),
              .encoder_layers = config.size("num_layers"),
              .gated = gated,
              .tied = config.flag("tie_word_embeddings", !mt5),
              .mt5 = mt5,
              .dropout = given.dropout.value_or(config.probability("dropout_rate", 0.1)),
              .eps = config.number("layer_norm_epsilon", 1e-6),
              .buckets = config.size("relative_attention_num_buckets", 32),
              .max_distance = config.size("relative_attention_max_distance", 128),
              .pad = config.whole("pad_token_id", 0, 0),
              .end = config.whole("eos_token_id", 0, 1)};
  o.decoder_layers = config.size("num_decoder_layers", o.encoder_layers);
  o.start = config.whole("decoder_start_token_id", 0, o.pad);
  if (const auto placement = read_placement(config, given)) o.placement = *placement;
  return o;
}

Json t5_config(const char* caller, const Seq2SeqOptions& o, const std::string& type) {
  expect_own_name(caller, o.placement);
  Json text = {
      {"architectures", {type == "mt5" ? "MT5ForConditionalGeneration" : "T5ForConditionalGeneration"}},
      {"model_type", type},
      {"is_encoder_decoder", true},
      {"vocab_size", o.vocab},
      {"d_model", o.block.d_model},
      {"d_kv", o.block.head_dim},
      {"d_ff", o.block.d_ff},
      {"num_heads", o.block.heads},
      {"num_layers", o.encoder_layers},
      {"num_decoder_layers", o.decoder_layers},
      {"feed_forward_proj", o.block.gated ? "gated-gelu" : "relu"},
      {"tie_word_embeddings", o.tied},
      {"dropout_rate", o.block.dropout},
      {"layer_norm_epsilon", o.block.eps},
      {"relative_attention_num_buckets", o.buckets},
      {"relative_attention_max_distance", o.max_distance},
      {"pad_token_id", o.pad},
      {"eos_token_id", o.end},
      {"decoder_start_token_id", o.start}};
  if (o.placement == pre_ln()) return text;
  text.erase("architectures");
  text["model_type"] = std::string(kOwnType) + "t5";
  text["placement"] = o.placement.name;
  return text;
}

NameMap t5_names(const Seq2SeqOptions& o) {
  NameMap names;
  const T5Names of{names, o.block};
  names.plain("embedding.weight", {"shared.weight", {o.vocab, o.block.d_model}});
  names.same("encoder.embed_tokens.weight", "shared.weight");
  names.same("decoder.embed_tokens.weight", "shared.weight");
  of.stack("encoder", o.encoder_layers);
  of.stack("decoder", o.decoder_layers);
  for (const std::string stack : {"encoder", "decoder"})
    names.plain(stack + "_bias.weight",
                {stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                 {o.buckets, o.block.heads}});
  if (o.tied)
    names.same("lm_head.weight", "shared.weight", kTiedFlag);
  else
    names.plain("head.weight", {"lm_head.weight", {o.vocab, o.block.d_model}});
  names.ignore(".EncDecAttention.relative_attention_bias.weight");  // in older files, unused
  return names;
}

}  // namespace gradus::nn::pretrained
