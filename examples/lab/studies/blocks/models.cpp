#include "lab/studies/blocks/models.h"

#include <algorithm>
#include <cmath>

#include "gradus/gradus.h"
#include "lab/studies/blocks/mutants.h"

namespace gradus::lab::blocks {

Tensor layer_norm_by_hand(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps) {
  const Tensor centred = x - x.mean(-1, true);
  return centred / sqrt((centred * centred).mean(-1, true) + eps) * gain + bias;
}

Tensor rms_norm_by_hand(const Tensor& x, const Tensor& gain, double eps) {
  return x / sqrt((x * x).mean(-1, true) + eps) * gain;
}

namespace {

/// "norm1" of a block, "norm" of a stack.
Tensor norm_by_hand(const nn::Module& holder, const std::string& name, const Tensor& x, double eps) {
  Tensor gain, bias;
  for (const auto& [key, w] : holder.named_parameters()) {
    if (key == name + ".weight") gain = w;
    if (key == name + ".bias") bias = w;
  }
  return bias.defined() ? layer_norm_by_hand(x, gain, bias, eps) : rms_norm_by_hand(x, gain, eps);
}

/// The weights of `from` under prefix + their names in `to`.
void take(const nn::Module& to, const nn::Module& from, const std::string& prefix) {
  const NoGrad guard;
  for (const auto& [name, w] : to.named_parameters()) w.copy_(from.parameter(prefix + name));
}

double off(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item() / b.std().item(); }

double layer_norm_share(const nn::Module& model) {
  double layer_norms = 0, all = 0;
  for (const auto& [name, module] : model.named_modules()) {
    all += module.kind().ends_with("Norm");
    layer_norms += module.kind() == "LayerNorm";
  }
  return layer_norms / all;
}

constexpr std::int64_t kVocab = 29, kContext = 16, kLayers = 2;

Tensor some_ids(std::uint64_t seed) {
  Generator generator(seed, 7);
  return randint(3, kVocab, {3, kContext}, generator);
}

/// A small model of the same pattern.
nn::GPT small(nn::GPTOptions options, std::uint64_t seed) {
  options.vocab = kVocab;
  options.context = kContext;
  options.layers = kLayers;
  options.block.d_model = 32;
  options.block.heads = 4;
  options.block.head_dim = 0;
  options.block.dropout = 0;
  if (options.block.window > 0) options.block.window = 4;
  nn::GPT gpt(options);
  draw_all(gpt, seed);
  return gpt;
}

Tensor embedded(const nn::GPT& gpt, const Tensor& ids) {
  return gpt.token_embedding(ids) + (*gpt.position_embedding)(ids.size(1));
}
Tensor logits_of(const nn::GPT& gpt, const Tensor& hidden) {
  return linear(hidden, gpt.token_embedding.weight);
}

/// The original decoder's block without the attention over memory and its norm.
struct WithoutMemory : nn::PostLNDecoderBlock {
  using PostLNDecoderBlock::PostLNDecoderBlock;
  Tensor operator()(const Tensor& x, const Tensor&, const nn::DecoderMasks& masks = {}) const {
    const Tensor h = norm1(x + self_attn(x, masks.self));
    return norm3(h + ffn(h));
  }
};

/// A decoder with GPT-1's weights in the shared parts; its attention over memory, if called, gives 0.
Tensor through_decoder(const nn::GPT& gpt, const Tensor& x, const nn::Placement& placement) {
  const nn::TransformerDecoder decoder(
      {.layers = kLayers, .placement = placement, .block = gpt.transformer.options().block});
  const NoGrad guard;
  for (std::size_t i = 0; i < decoder.layers.size(); ++i) {
    for (const auto& [name, w] : decoder.layers[i].named_parameters()) {
      if (name.starts_with("multihead_attn.out_proj")) w.zero_();
      if (name.starts_with("multihead_attn.") || name.starts_with("norm2.")) continue;
      const bool last_norm = name.starts_with("norm3.");
      w.copy_(gpt.transformer.layers[i].parameter(last_norm ? "norm2" + name.substr(5) : name));
    }
  }
  return decoder(x, zeros({x.size(0), 1, x.size(2)}));
}

Measured measure_gpt1(std::uint64_t seed) {
  const nn::GPT gpt = small(nn::gpt1(), seed);
  const Tensor ids = some_ids(seed), x = embedded(gpt, ids), logits = gpt(ids);
  nn::Placement removed{.name = "without memory"};
  removed.decoder_block = [](const nn::BlockOptions& options) { return WithoutMemory(options); };
  return {
      .numbers = {{"gpt1.logits", off(logits_of(gpt, through_decoder(gpt, x, removed)), logits)},
                  {"gpt1.silenced", off(logits_of(gpt, through_decoder(gpt, x, nn::post_ln())), logits)}}};
}

double off_pre(const nn::GPT& gpt, std::uint64_t seed) {
  const Tensor ids = some_ids(seed);
  return off(logits_of(gpt, written_out(gpt.transformer, embedded(gpt, ids), WrittenOut::pre)), gpt(ids));
}

Measured measure_gpt2(std::uint64_t seed) {
  const nn::GPT gpt = small(nn::gpt2(), seed);
  const nn::GPTOptions published = nn::gpt2();
  return {.numbers = {{"gpt2.formula", off_pre(gpt, seed)},
                      {"gpt2.names", gpt2_names_off(gpt)},
                      {"gpt2.vocab", static_cast<double>(published.vocab)},
                      {"gpt2.context", static_cast<double>(published.context)}}};
}

Measured measure_gpt3(std::uint64_t seed) {
  const nn::GPT gpt = small(nn::gpt3(), seed);
  return {.numbers = {{"gpt3.pre", off_pre(gpt, seed)},
                      {"gpt3.layernorm", layer_norm_share(gpt)},
                      {"gpt3.banded", 1.0 / static_cast<double>(nn::gpt3().block.window_every)}}};
}

Measured measure_t5(std::uint64_t seed) {
  const nn::T5 t5({.vocab = kVocab,
                   .d_model = 32,
                   .d_kv = 8,
                   .d_ff = 64,
                   .heads = 4,
                   .encoder_layers = kLayers,
                   .decoder_layers = kLayers,
                   .dropout = 0});
  draw_all(t5, seed);
  const Tensor ids = some_ids(seed), x = t5.embedding(ids);
  const nn::AttentionMasks masks{.score_bias = (*t5.encoder_bias)(kContext, kContext)};
  return {
      .numbers = {{"t5.pre", off(written_out(t5.encoder, x, WrittenOut::pre, masks), t5.encode(ids).memory)},
                  {"t5.layernorm", layer_norm_share(t5)}}};
}

Measured measure_bert(std::uint64_t seed) {
  const nn::Bert bert(
      {.vocab = kVocab, .context = kContext, .layers = kLayers, .block = {.d_model = 32, .heads = 4}});
  draw_all(bert, seed);
  const Tensor ids = some_ids(seed);
  const Tensor x = layer_norm_by_hand(
      bert.token_embedding(ids) + bert.position_embedding(kContext) + bert.type_embedding.weight.select(0, 0),
      bert.parameter("embedding_norm.weight"), bert.parameter("embedding_norm.bias"), 1e-12);
  return {.numbers = {{"bert.post", off(written_out(bert.transformer, x, WrittenOut::post), bert(ids))},
                      {"bert.names", bert_names_off(bert)}}};
}

/// Compares the block whose shortcut takes the normalised stream with Post-LN on a stream that is normalised
/// first: each norm of the one is at the end of the previous branch in the other.
Measured measure_shortcut(std::uint64_t seed) {
  const auto stack = [](const nn::Placement& placement) {
    return nn::TransformerEncoder(
        {.layers = kLayers, .placement = placement, .block = {.d_model = 32, .heads = 4}});
  };
  const nn::TransformerEncoder wrong =
      stack(nn::placement<NormedShortcut>({.name = "normed shortcut", .final_norm = true}));
  draw_all(wrong, seed);
  const nn::TransformerEncoder post = stack(nn::post_ln());
  const NoGrad guard;
  for (std::size_t i = 0; i < kLayers; ++i)
    for (const auto& [name, w] : post.layers[i].named_parameters()) {
      const bool last = i + 1 == kLayers;
      if (name.starts_with("norm1."))
        w.copy_(wrong.layers[i].parameter("norm2" + name.substr(5)));
      else if (name.starts_with("norm2."))
        w.copy_(last ? wrong.parameter("norm" + name.substr(5))
                     : wrong.layers[i + 1].parameter("norm1" + name.substr(5)));
      else
        w.copy_(wrong.layers[i].parameter(name));
    }
  Generator generator(seed, 8);
  const Tensor x = Tensor(random_normal({3, kContext, 32}, 0, 1, f32, generator));
  const Tensor first = layer_norm_by_hand(x, wrong.layers[0].parameter("norm1.weight"),
                                          wrong.layers[0].parameter("norm1.bias"), 1e-5);
  return {.numbers = {{"shortcut.is-post", off(post(first), wrong(x))}}};
}

}  // namespace

Tensor written_out(const nn::TransformerEncoder& stack, const Tensor& given, WrittenOut order,
                   const nn::AttentionMasks& masks) {
  nn::BlockOptions options = stack.options().block;
  Tensor x = given;
  for (const nn::AnyBlock& block : stack.layers) {
    const nn::MultiheadAttention attention(options.attention());
    const nn::FFN ffn(options.ffn());
    take(attention, block, "self_attn.");
    take(ffn, block, "");
    const auto norm1 = [&](const Tensor& y) { return norm_by_hand(block, "norm1", y, options.eps); };
    const auto norm2 = [&](const Tensor& y) { return norm_by_hand(block, "norm2", y, options.eps); };
    if (order == WrittenOut::pre) {
      const Tensor h = x + attention(norm1(x), masks);
      x = h + ffn(norm2(h));
    } else {
      const Tensor h = norm1(x + attention(x, masks));
      x = norm2(h + ffn(h));
    }
    ++options.layer;
  }
  return order == WrittenOut::pre ? norm_by_hand(stack, "norm", x, options.eps) : x;
}

void draw_all(const nn::Module& model, std::uint64_t seed) {
  Generator generator(seed, 6);
  for (const auto& [name, w] : model.named_parameters()) {
    if (w.dim() >= 2)
      nn::init::normal_(w, 0, 1 / std::sqrt(static_cast<double>(w.size(-1))), generator);
    else
      nn::init::normal_(w, name.ends_with("bias") ? 0 : 1, 0.3, generator);
  }
}

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> all = {"gpt1", "gpt2", "gpt3", "t5", "bert", "shortcut"};
  return all;
}

Measured measure_model(const std::string& name, std::uint64_t seed) {
  const NoGrad guard;
  if (name == "gpt1") return measure_gpt1(seed);
  if (name == "gpt2") return measure_gpt2(seed);
  if (name == "gpt3") return measure_gpt3(seed);
  if (name == "t5") return measure_t5(seed);
  if (name == "bert") return measure_bert(seed);
  return measure_shortcut(seed);
}

}  // namespace gradus::lab::blocks
