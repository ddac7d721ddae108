// Marian (Junczys-Dowmunt et al. 2018): the original Transformer in Hugging Face's format, with the sines of
// the positions in the first half of the channels and a bias on the logits.

#include "gradus/nn/pretrained/detail/gpt_families.h"
#include "gradus/nn/pretrained/detail/seq2seq_families.h"

namespace gradus::nn::pretrained {

namespace {

constexpr const char* kSharedFlag = "share_encoder_decoder_embeddings";

/// Reads a size that both stacks must share.
std::int64_t read_for_both(const Config& config, const char* key, const char* decoder_key) {
  const std::int64_t value = config.size(key);
  if (config.size(decoder_key, value) != value)
    config.fail(decoder_key,
                fmt::format("differs from {}, which is {}: expects one for both stacks", key, value));
  return value;
}

Seq2SeqOptions read_marian(const Config& config, const PretrainedOptions& given) {
  config.expect_flag("normalize_before", false);
  config.expect_flag("normalize_embedding", false);
  config.expect_flag("add_final_layer_norm", false);
  config.expect_flag("static_position_embeddings", true);
  Seq2SeqOptions o{.context = config.size("max_position_embeddings", 1024),
                   .encoder_layers = config.size("encoder_layers"),
                   .decoder_layers = config.size("decoder_layers"),
                   .waves = Waves::halves,
                   .shared_embeddings = config.flag("share_encoder_decoder_embeddings", true),
                   .tied = config.flag("tie_word_embeddings", true),
                   .head_bias = true,
                   .scale_embedding = config.flag("scale_embedding", false)};
  const std::int64_t source_vocab = config.size("vocab_size");
  o.vocab = config.size("decoder_vocab_size", source_vocab);
  if (o.vocab != source_vocab && o.shared_embeddings)
    config.fail("decoder_vocab_size",
                "differs from vocab_size, but share_encoder_decoder_embeddings is true");
  if (o.vocab != source_vocab) o.source_vocab = source_vocab;
  o.block = {.d_model = config.size("d_model"),
             .heads = read_for_both(config, "encoder_attention_heads", "decoder_attention_heads"),
             .d_ff = read_for_both(config, "encoder_ffn_dim", "decoder_ffn_dim"),
             .activation = read_activation(config, "activation_function", Activation::gelu),
             .dropout = given.dropout.value_or(config.probability("dropout", 0.1))};
  o.pad = config.whole("pad_token_id", 0);
  o.end = config.whole("eos_token_id", 0);
  o.start = config.whole("decoder_start_token_id", 0, o.pad);
  return o;
}

Json write_marian(const Seq2SeqOptions& o) {
  const Sizes s = sizes_of(o.block);
  return {{"architectures", {"MarianMTModel"}},
          {"model_type", "marian"},
          {"is_encoder_decoder", true},
          {"vocab_size", o.source_vocab ? o.source_vocab : o.vocab},
          {"decoder_vocab_size", o.vocab},
          {"share_encoder_decoder_embeddings", o.shared_embeddings},
          {"tie_word_embeddings", o.tied},
          {"max_position_embeddings", o.context},
          {"d_model", s.d},
          {"encoder_layers", o.encoder_layers},
          {"decoder_layers", o.decoder_layers},
          {"encoder_attention_heads", s.heads},
          {"decoder_attention_heads", s.heads},
          {"encoder_ffn_dim", s.ff},
          {"decoder_ffn_dim", s.ff},
          {"activation_function", activation_name(o.block.activation.value_or(Activation::relu))},
          {"scale_embedding", o.scale_embedding},
          {"dropout", o.block.dropout},
          {"attention_dropout", o.block.dropout},
          {"activation_dropout", o.block.dropout},
          {"pad_token_id", o.pad},
          {"eos_token_id", o.end},
          {"decoder_start_token_id", o.start},
          {"forced_eos_token_id", o.end},
          {"bad_words_ids", Json::array({Json::array({o.pad})})}};
}

void name_attention(NameMap& names, const BlockOptions& block, const std::string& name,
                    const std::string& file) {
  const Sizes s = sizes_of(block);
  names.in_proj(name, {{file + ".q_proj", s.q()}, {file + ".k_proj", s.kv()}, {file + ".v_proj", s.kv()}},
                s.d, block.qkv_bias.value_or(block.bias));
  names.linear(name + ".out_proj", file + ".out_proj", {.out = s.d, .in = s.q(), .bias = block.bias});
}

void name_stack(NameMap& names, const Seq2SeqOptions& o, const std::string& stack, std::int64_t layers) {
  const Sizes s = sizes_of(o.block);
  const bool decoder = stack == "decoder";
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string block = fmt::format("{}.layers.{}.", stack, i), file = "model." + block;
    name_attention(names, o.block, block + "self_attn", file + "self_attn");
    if (decoder) name_attention(names, o.block, block + "multihead_attn", file + "encoder_attn");
    names.linear(block + "linear1", file + "fc1", {.out = s.ff, .in = s.d, .bias = o.block.bias});
    names.linear(block + "linear2", file + "fc2", {.out = s.d, .in = s.ff, .bias = o.block.bias});
    names.norm_if_there(block + "norm1", file + "self_attn_layer_norm", s.d);
    if (decoder) names.norm_if_there(block + "norm2", file + "encoder_attn_layer_norm", s.d);
    names.norm_if_there(block + (decoder ? "norm3" : "norm2"), file + "final_layer_norm", s.d);
  }
  names.norm_if_there(stack + ".norm", "model." + stack + ".layer_norm", s.d);
}

/// The entries of `wanted` whose values differ.
Json differing_entries(const Json& wanted, const Json& got) {
  Json differing = Json::object();
  for (const auto& [key, value] : wanted.items())
    if (got.at(key) != value) differing[key] = value;
  return differing;
}

}  // namespace

Seq2SeqOptions marian_options(const Config& config, const PretrainedOptions& given) {
  const std::string type = config.text("model_type");
  const bool own = type == std::string(kOwnType) + "marian";
  if (type != "marian" && !own)
    config.fail("model_type", fmt::format("'{}' is not known here: expects marian{}", type,
                                          type.ends_with("t5") ? "; use nn::T5::load_pretrained" : ""));
  expect_no_context(config, given);
  expect_heads_divide(config);
  Seq2SeqOptions options = read_marian(config, given);
  if (own) read_gradus_entries(config, options);
  if (options.positions == Positions::sinusoidal) expect_few_waves(config, options.context);
  if (const auto placement = read_placement(config, given)) options.placement = *placement;
  if (given.dropout) options.block.dropout = *given.dropout;  // overrides gradus' own entry too
  return options;
}

Json marian_config(const char* caller, const std::string& folder, const Seq2SeqOptions& options) {
  const Json wanted = gradus_entries(caller, options);
  Json text = write_marian(options);
  const Json rest =
      differing_entries(wanted, gradus_entries(caller, read_marian(Config(caller, folder, text), {})));
  if (rest.empty()) {
    marian_options(Config(caller, folder, text), {});  // throws if reading would throw
    return text;
  }
  text.erase("architectures");
  text["model_type"] = std::string(kOwnType) + "marian";
  text.update(rest);
  text["final_norm"] = wanted["final_norm"];  // explicit, even if it is the placement's default
  // Refuses to write a config that would be read differently.
  const Config written(caller, folder, text);
  const Json lost = differing_entries(
      wanted, gradus_entries(caller, marian_options(written, {.placements = {options.placement}})));
  if (!lost.empty()) written.fail(lost.begin().key(), "this option cannot be saved");
  return text;
}

NameMap marian_names(const Seq2SeqOptions& o) {
  const std::int64_t d = o.block.d_model;
  const std::string encoder = "model.encoder.embed_tokens.weight",
                    decoder = "model.decoder.embed_tokens.weight";
  NameMap names;
  names.optional_prefix("model.");
  if (o.shared_embeddings && o.source_vocab == 0) {
    names.plain("embedding.weight", {"model.shared.weight", {o.vocab, d}});
    names.same(encoder, "model.shared.weight", kSharedFlag);
    names.same(decoder, "model.shared.weight", kSharedFlag);
    if (o.tied) names.same("lm_head.weight", "model.shared.weight", kTiedFlag);
  } else {
    names.plain("source_embedding.weight", {encoder, {o.source_vocab ? o.source_vocab : o.vocab, d}});
    names.plain("embedding.weight", {decoder, {o.vocab, d}});
    if (o.tied) names.same("lm_head.weight", decoder, kTiedFlag);
  }
  name_stack(names, o, "encoder", o.encoder_layers);
  name_stack(names, o, "decoder", o.decoder_layers);
  if (!o.tied) names.plain("head.weight", {"lm_head.weight", {o.vocab, d}});
  if (o.head_bias) names.row("head_bias", {"final_logits_bias", {1, o.vocab}});
  names.ignore(".embed_positions.weight");  // the waves
  return names;
}

}  // namespace gradus::nn::pretrained
