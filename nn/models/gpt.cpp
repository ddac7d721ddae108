#include "gradus/nn/models/gpt.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/nn/module/probe.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

GPTOptions completed(GPTOptions o) {
  expect_positive("GPT", "vocab", o.vocab);
  expect_positive("GPT", "context", o.context);
  expect_positive("GPT", "layers", o.layers);
  expect_block_options("GPT", o.block);
  check(o.block.causal.value_or(true),
        "GPT: block.causal is false, but each token is predicted from those before it");
  o.block.causal = true;
  if (o.positions == Positions::alibi) o.block.alibi = true;
  if (o.positions == Positions::rotary && !o.block.rope) o.block.rope = RopeOptions{};
  o.block.activation = o.block.activation.value_or(Activation::gelu_tanh);
  return o;
}

/// Without the placement's initial values, which GPT sets last.
TransformerOptions stack_of(const GPTOptions& o) {
  TransformerOptions stack{.layers = o.layers,
                           .placement = o.placement,
                           .block = completed(o).block,
                           .final_norm = o.final_norm,
                           .checkpoint = o.checkpoint};
  stack.placement.init = nullptr;
  return stack;
}

/// Registers and returns the part that make() makes, if wanted.
template <class Make>
std::optional<std::invoke_result_t<Make>> add_if(bool wanted, Module& model, const char* name,
                                                 const Make& make) {
  if (!wanted) return std::nullopt;
  return model.add(name, make());
}

void expect_gpt_ids(const Tensor& ids, std::int64_t vocab) {
  expect_ids("GPT", "ids", ids);
  check(ids.dim() == 2, "GPT: expects ids [B, T], got {}{}", ids.shape(),
        ids.dim() == 1 ? ": add a batch axis with .unsqueeze(0)" : "");
  expect_tokens("GPT", "ids", ids, vocab);
}

}  // namespace

GPT::GPT(const GPTOptions& given)
    : Module("GPT"),
      token_embedding(add("token_embedding", Embedding(completed(given).vocab, given.block.d_model))),
      position_embedding(add_if(given.positions == Positions::learned, *this, "position_embedding",
                                [&] { return LearnedPositions(given.context, given.block.d_model); })),
      position_waves(add_if(given.positions == Positions::sinusoidal, *this, "position_waves",
                            [&] { return SinusoidalPositions(given.context, given.block.d_model); })),
      relative_bias(add_if(given.positions == Positions::relative, *this, "relative_bias",
                           [&] { return RelativeBias({.heads = given.block.heads, .causal = true}); })),
      dropout(add("dropout", Dropout(given.block.dropout))),
      transformer(add("", TransformerEncoder(stack_of(given)))),
      options_(completed(given)) {
  if (!given.tied) head.emplace(add("head", Linear(given.block.d_model, given.vocab, {.bias = false})));
  init::gpt2_(*this, {.residual_layers = given.residual_init_scaling ? given.layers : 0});
  if (given.placement.init) {
    const NoClaims guard;
    given.placement.init(transformer, transformer.options().block);
  }
}

Tensor GPT::operator()(const Tensor& ids) const { return report(logits(hidden(ids))); }

Tensor GPT::loss(const Tensor& ids, const Tensor& targets) const {
  const Scope scope(path());
  expect_gpt_ids(ids, options_.vocab);
  expect_ids("GPT", "targets", targets);
  check(targets.shape() == ids.shape(), "GPT: expects targets of the shape of ids, {}, got {}", ids.shape(),
        targets.shape());
  expect_next_tokens("GPT", ids, targets);
  return linear_cross_entropy(hidden(ids), head ? head->weight : token_embedding.weight, targets);
}

Tensor GPT::operator()(const Tensor& ids, KeyValueCache& cache) const {
  const NoGrad no_grad;
  return report(cache.attempt([&] { return logits(states(ids, &cache)); }));
}

Tensor GPT::hidden(const Tensor& ids) const { return states(ids); }

Tensor GPT::hidden(const Tensor& ids, KeyValueCache& cache) const {
  const NoGrad no_grad;
  return cache.attempt([&] { return states(ids, &cache); });
}

Tensor GPT::next_logits(const Tensor& ids, KeyValueCache& cache) const {
  expect_gpt_ids(ids, options_.vocab);
  check(ids.size(1) > 0, "GPT: next_logits expects ids [B, T] of at least one token, got {}", ids.shape());
  const NoGrad no_grad;
  return cache.attempt([&] { return logits(states(ids, &cache).select(1, -1)); });
}

KeyValueCache GPT::new_cache(std::int64_t batch) const {
  KeyValueCache cache = transformer.new_cache(batch, options_.context);
  cache.add_model(*this);
  return cache;
}

Tensor GPT::states(const Tensor& ids, KeyValueCache* cache) const {
  const Scope scope(path());
  expect_gpt_ids(ids, options_.vocab);
  check(ids.size(1) <= options_.context, "GPT: expects at most {} tokens, its context, got ids {}",
        options_.context, ids.shape());
  if (cache) cache->expect_model(*this);
  const std::int64_t begin = cache ? cache->length() : 0;
  check(begin + ids.size(1) <= options_.context,
        "GPT: expects at most {} tokens, its context, got ids {} after {} in the cache: clear() it and "
        "pass the last tokens again",
        options_.context, ids.shape(), begin);
  AttentionMasks masks;
  if (relative_bias) masks.score_bias = (*relative_bias)(ids.size(1), begin + ids.size(1));
  return transformer(observe(token_embedding, dropout(embedded(ids, begin))), masks, cache);
}

/// Embeds tokens with their positions, which begin at `begin`.
Tensor GPT::embedded(const Tensor& ids, std::int64_t begin) const {
  const Tensor x = token_embedding(ids);
  if (position_embedding) return x + (*position_embedding)(ids.size(1), begin);
  if (position_waves)
    return x * std::sqrt(static_cast<double>(x.size(2))) + (*position_waves)(ids.size(1), begin);
  return x;
}

Tensor GPT::logits(const Tensor& hidden) const {
  return head ? (*head)(hidden) : linear(hidden, token_embedding.weight);
}

}  // namespace gradus::nn
