#include "gradus/nn/models/seq2seq_transformer.h"

#include <cmath>
#include <span>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/nn/module/probe.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

void expect_token(const char* kind, const char* what, std::int64_t token, std::int64_t vocab) {
  check(token >= 0 && token < vocab, "{}: expects {} from 0 to {}, the last token, got {}", kind, what,
        vocab - 1, token);
}

Seq2SeqOptions checked_options(const char* kind, Seq2SeqOptions o) {
  expect_positive(kind, "vocab", o.vocab);
  expect_positive(kind, "context", o.context);
  expect_positive(kind, "encoder_layers", o.encoder_layers);
  expect_positive(kind, "decoder_layers", o.decoder_layers);
  expect_block_options(kind, o.block);
  check(!o.block.causal.has_value(),
        "{}: block.causal is for models with one stack: here the decoder is causal, the encoder is not",
        kind);
  expect_token(kind, "start", o.start, o.vocab);
  expect_token(kind, "end", o.end, o.vocab);
  expect_token(kind, "pad", o.pad, o.vocab);
  check(o.pad != o.end,
        "{}: pad and end are the same token, {}: the loss ignores padding but includes the end", kind, o.pad);
  check(o.source_vocab >= 0, "{}: expects a source_vocab of 1 or more, or 0 for vocab, got {}", kind,
        o.source_vocab);
  if (o.source_vocab != 0) {
    expect_token(kind, "pad", o.pad, o.source_vocab);
    o.shared_embeddings = false;
  }
  if (o.positions == Positions::alibi) o.block.alibi = true;
  if (o.positions == Positions::rotary && !o.block.rope) o.block.rope = RopeOptions{};
  const Placement& p = o.placement;
  if (p.of_both && detail::same_owner(p.block, p.decoder_block))
    o.placement = o.placement.of_both(o.encoder_layers, o.decoder_layers);
  return o;
}

/// Without the placement's initial values, which the model sets last.
TransformerOptions stack_options(const Seq2SeqOptions& o, std::int64_t layers) {
  TransformerOptions stack{.layers = layers,
                           .placement = o.placement,
                           .block = o.block,
                           .final_norm = o.final_norm,
                           .checkpoint = o.checkpoint};
  stack.placement.init = nullptr;
  return stack;
}

/// Registers and returns the part that make() makes, if wanted.
template <class Make>
std::optional<std::invoke_result_t<Make>> part_if(bool wanted, Module& model, const char* name,
                                                  const Make& make) {
  if (!wanted) return std::nullopt;
  return model.add(name, make());
}

/// As in PyTorch's nn.Transformer: overwrites every matrix of the stacks.
void initialize_as_in_2017(const Seq2SeqTransformer& model) {
  const double std = 1 / std::sqrt(static_cast<double>(model.options().block.d_model));
  for (const auto& [name, w] : model.named_parameters()) {
    if (w.dim() < 2) continue;
    if (name.starts_with("encoder.") || name.starts_with("decoder."))
      init::xavier_uniform_(w);
    else if (!name.ends_with("_bias.weight"))
      init::normal_(w, 0, std);
  }
}

/// Padding inside a text would leave a gap, and padding before it would shift its positions.
void expect_padding_at_end(const std::string& kind, const char* what, const Tensor& ids, std::int64_t pad) {
  const Tensor all = ids.contiguous();
  const std::span<const std::int64_t> tokens = all.span<std::int64_t>();
  const auto width = static_cast<std::size_t>(ids.size(1));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (i % width > 0 && tokens[i] != pad && tokens[i - 1] == pad)
      fail_with("{}: row {} of {} has padding, token {}, at {}, before other tokens: expects it at the end",
                kind, i / width, what, pad, i % width - 1);
}

/// Throws if a target begins with the start token. A row of only padding may do so.
void expect_no_start(const std::string& kind, const Tensor& target, std::int64_t start, std::int64_t pad) {
  if (target.size(1) == 0) return;
  const Tensor begins = (target.select(1, 0) == start) & (target != pad).any(1);
  const Tensor rows = nonzero(begins);
  if (rows.size(0) > 0)
    fail_with("{}: row {} of target begins with the start token, {}: leave it out, the model adds it", kind,
              rows[0][0].item<std::int64_t>(), start);
}

}  // namespace

Seq2SeqTransformer::Seq2SeqTransformer(const Seq2SeqOptions& given)
    : Seq2SeqTransformer("Seq2SeqTransformer", "marian", given, &initialize_as_in_2017) {}

Seq2SeqTransformer::Seq2SeqTransformer(const char* kind, const char* model_type, const Seq2SeqOptions& given,
                                       void (*initialize)(const Seq2SeqTransformer& model))
    : Module(kind),
      embedding(add("embedding", Embedding(checked_options(kind, given).vocab, given.block.d_model))),
      source_embedding(part_if(!checked_options(kind, given).shared_embeddings, *this, "source_embedding",
                               [&] {
                                 const std::int64_t own = given.source_vocab;
                                 return Embedding(own ? own : given.vocab, given.block.d_model);
                               })),
      source_positions(part_if(given.positions == Positions::learned, *this, "source_positions",
                               [&] { return LearnedPositions(given.context, given.block.d_model); })),
      target_positions(part_if(given.positions == Positions::learned, *this, "target_positions",
                               [&] { return LearnedPositions(given.context, given.block.d_model); })),
      position_waves(part_if(
          given.positions == Positions::sinusoidal, *this, "position_waves",
          [&] { return SinusoidalPositions(given.context, given.block.d_model, {.waves = given.waves}); })),
      dropout(add("dropout", Dropout(given.block.dropout))),
      encoder(add("encoder",
                  TransformerEncoder(stack_options(checked_options(kind, given), given.encoder_layers)))),
      decoder(add("decoder",
                  TransformerDecoder(stack_options(checked_options(kind, given), given.decoder_layers)))),
      options_(checked_options(kind, given)),
      model_type_(model_type) {
  if (options_.positions == Positions::relative) {
    RelativeBiasOptions bias{
        .heads = given.block.heads, .buckets = given.buckets, .max_distance = given.max_distance};
    encoder_bias.emplace(add("encoder_bias", RelativeBias(bias)));
    bias.causal = true;
    decoder_bias.emplace(add("decoder_bias", RelativeBias(bias)));
  }
  if (!options_.tied) head.emplace(add("head", Linear(given.block.d_model, given.vocab, {.bias = false})));
  if (options_.head_bias) head_bias = parameter("head_bias", zeros({given.vocab}));
  const NoClaims guard;
  initialize(*this);
  if (options_.placement.init) {
    options_.placement.init(encoder, encoder.options().block);
    options_.placement.init(decoder, decoder.options().block);
  }
}

void Seq2SeqTransformer::expect_text(const char* what, const Tensor& ids, std::int64_t vocab) const {
  const std::string name = kind();
  expect_ids(name.c_str(), what, ids);
  check(ids.dim() == 2, "{}: expects {} [B, T], got {}{}", name, what, ids.shape(),
        ids.dim() == 1 ? ": add a batch axis with .unsqueeze(0)" : "");
  expect_tokens(name.c_str(), what, ids, vocab, fmt::format("; padding is options().pad, {}", options_.pad));
}

void Seq2SeqTransformer::expect_source(const Tensor& source) const {
  expect_text("source", source, options_.source_vocab ? options_.source_vocab : options_.vocab);
  expect_padding_at_end(kind(), "source", source, options_.pad);
}

void Seq2SeqTransformer::expect_target(const Tensor& target) const {
  expect_text("target", target, options_.vocab);
  expect_padding_at_end(kind(), "target", target, options_.pad);
}

/// Only tables of positions limit the length.
void Seq2SeqTransformer::expect_in_context(const char* what, const Tensor& ids, std::int64_t begin) const {
  if (!position_waves && !target_positions) return;
  check(begin + ids.size(1) <= options_.context,
        "{}: {} has {} tokens, its context is {}: shorten the text, or make the model with a larger .context",
        kind(), what, begin + ids.size(1), options_.context);
}

/// Embeds tokens with their positions, which begin at `begin`.
Tensor Seq2SeqTransformer::embedded(const Tensor& ids, const Embedding& table,
                                    const std::optional<LearnedPositions>& learned,
                                    std::int64_t begin) const {
  Tensor x = table(ids);
  if (options_.scale_embedding) x = x * std::sqrt(static_cast<double>(x.size(2)));
  if (learned) x = x + (*learned)(ids.size(1), begin);
  if (position_waves) x = x + (*position_waves)(ids.size(1), begin);
  return observe(table, dropout(x));
}

EncoderOutput Seq2SeqTransformer::encode(const Tensor& source) const {
  const Scope scope(path());
  expect_source(source);
  expect_in_context("source", source, 0);
  EncoderOutput output;
  const Tensor padding = source == options_.pad;
  if (padding.any()) output.padding = padding;
  AttentionMasks masks{.key_padding_mask = output.padding};
  if (encoder_bias) masks.score_bias = (*encoder_bias)(source.size(1), source.size(1));
  const Tensor x = embedded(source, source_embedding ? *source_embedding : embedding, source_positions, 0);
  output.memory = encoder(x, masks);
  if (options_.output_dropout) output.memory = dropout(output.memory);
  return output;
}

/// `padding` [B, Tt] is true at positions whose states are not used.
Tensor Seq2SeqTransformer::states(const Tensor& target_in, const EncoderOutput& source, KeyValueCache* cache,
                                  const Tensor& padding) const {
  const Scope scope(path());
  expect_text("target_in", target_in, options_.vocab);
  if (cache) cache->expect_model(*this);
  const std::int64_t begin = cache ? cache->length() : 0;
  expect_in_context("target_in", target_in, begin);
  DecoderMasks masks{.self = {.key_padding_mask = padding}, .memory = {.key_padding_mask = source.padding}};
  if (decoder_bias) masks.self.score_bias = (*decoder_bias)(target_in.size(1), begin + target_in.size(1));
  const Tensor x = embedded(target_in, embedding, target_positions, begin);
  Tensor y = decoder(x, source.memory, masks, cache);
  if (options_.output_dropout) y = dropout(y);
  return options_.output_scale == 1 ? y : y * options_.output_scale;
}

Tensor Seq2SeqTransformer::logits(const Tensor& hidden) const {
  return linear(hidden, head ? head->weight : embedding.weight, head_bias);
}

Tensor Seq2SeqTransformer::operator()(const Tensor& source, const Tensor& target_in) const {
  return report(decode(target_in, encode(source)));
}

Tensor Seq2SeqTransformer::hidden(const Tensor& source, const Tensor& target_in) const {
  return hidden(target_in, encode(source));
}

Tensor Seq2SeqTransformer::hidden(const Tensor& target_in, const EncoderOutput& source) const {
  return states(target_in, source);
}

Tensor Seq2SeqTransformer::hidden(const Tensor& target_in, const EncoderOutput& source,
                                  KeyValueCache& cache) const {
  const NoGrad no_grad;
  return cache.attempt([&] { return states(target_in, source, &cache); });
}

Tensor Seq2SeqTransformer::decode(const Tensor& target_in, const EncoderOutput& source) const {
  return logits(hidden(target_in, source));
}

Tensor Seq2SeqTransformer::decode(const Tensor& target_in, const EncoderOutput& source,
                                  KeyValueCache& cache) const {
  const NoGrad no_grad;
  return cache.attempt([&] { return logits(states(target_in, source, &cache)); });
}

Tensor Seq2SeqTransformer::next_logits(const Tensor& target_in, const EncoderOutput& source,
                                       KeyValueCache& cache) const {
  expect_text("target_in", target_in, options_.vocab);
  check(target_in.size(1) > 0, "{}: next_logits expects target_in [B, T] of at least one token, got {}",
        kind(), target_in.shape());
  const NoGrad no_grad;
  return cache.attempt([&] { return logits(states(target_in, source, &cache).select(1, -1)); });
}

KeyValueCache Seq2SeqTransformer::new_cache(std::int64_t batch, std::int64_t capacity) const {
  KeyValueCache cache = decoder.new_cache(batch, capacity);
  cache.add_model(*this);
  return cache;
}

Tensor Seq2SeqTransformer::shifted(const Tensor& target) const {
  expect_target(target);
  check(target.size(1) > 0, "{}: expects target [B, T] of at least one token, got {}", kind(),
        target.shape());
  return cat({full({target.size(0), 1}, options_.start, i64), target.slice(1, 0, -1)}, 1);
}

namespace {

/// Drops the last columns that are padding in every row; keeps at least one column.
Tensor without_empty_columns(const Tensor& ids, const Tensor& real) {
  const Tensor used = nonzero(real.any(0));
  const std::int64_t last = used.size(0) == 0 ? 1 : used[-1][0].item<std::int64_t>() + 1;
  return ids.slice(1, 0, last);
}

}  // namespace

Tensor Seq2SeqTransformer::loss(const Tensor& source, const Tensor& target,
                                const Seq2SeqLossOptions& options) const {
  expect_source(source);
  expect_text("target", target, options_.vocab);
  if (options_.start != options_.end) expect_no_start(kind(), target, options_.start, options_.pad);
  check(source.size(0) == target.size(0), "{}: source {} and target {} have different batch sizes", kind(),
        source.shape(), target.shape());
  const Tensor read = without_empty_columns(source, source != options_.pad);
  const Tensor written = without_empty_columns(target, target != options_.pad);
  const Tensor real = written != options_.pad;
  const bool padded = !real.all();
  Tensor y = states(shifted(written), encode(read), nullptr, padded ? !real : Tensor()), next = written;
  // The head's product is the largest of a step: it leaves out padding.
  if (padded) {
    const Tensor counting = nonzero(real.reshape({-1})).squeeze(-1);
    y = index_select(y.reshape({-1, y.size(2)}), 0, counting);
    next = index_select(written.reshape({-1}), 0, counting);
  }
  const Scope scope(path());
  return linear_cross_entropy(y, head ? head->weight : embedding.weight, next,
                              {.label_smoothing = options.label_smoothing}, head_bias);
}

}  // namespace gradus::nn
