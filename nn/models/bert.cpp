#include "gradus/nn/models/bert.h"

#include <algorithm>
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

BertOptions completed(BertOptions o) {
  expect_positive("Bert", "vocab", o.vocab);
  expect_positive("Bert", "context", o.context);
  expect_positive("Bert", "layers", o.layers);
  expect_positive("Bert", "token_types", o.token_types);
  expect_eps("Bert", o.eps);
  check(o.init_std >= 0 && std::isfinite(o.init_std), "Bert: expects init_std of 0 or more, got {}",
        o.init_std);
  expect_block_options("Bert", o.block);
  check(!o.block.causal.value_or(false), "Bert: block.causal is true, but it sees both sides of every token");
  check(o.block.eps == BlockOptions().eps || o.block.eps == o.eps,
        "Bert: expects eps outside of block: {{.eps = {}, .block = ...}}", o.block.eps);
  check(o.pooler || !o.nsp_head, "Bert: nsp_head needs the pooler: set pooler, or nsp_head to false");
  o.block.causal = false;
  o.block.eps = o.eps;
  o.block.activation = o.block.activation.value_or(Activation::gelu);
  return o;
}

/// Without the placement's initial values, which Bert sets last.
TransformerOptions stack_of(const BertOptions& o) {
  TransformerOptions stack{.layers = o.layers,
                           .placement = o.placement,
                           .block = completed(o).block,
                           .final_norm = o.final_norm,
                           .checkpoint = o.checkpoint};
  stack.placement.init = nullptr;
  return stack;
}

/// Throws unless `given` has the shape of the ids.
void expect_like_ids(const char* what, const Tensor& given, const Tensor& ids) {
  check(given.shape() == ids.shape(), "Bert: expects {} of the shape of ids, {}, got {}", what, ids.shape(),
        given.shape());
}

/// Throws if a row of padding [B, T] has no token: then the mask usually has the inverse polarity.
void expect_tokens_in_rows(const Tensor& padding) {
  const Tensor all = padding.contiguous();
  const std::span<const bool> hidden = all.span<bool>();
  const auto width = static_cast<std::size_t>(padding.size(1));
  for (std::size_t i = 0; i < hidden.size(); i += width) {
    const auto row = hidden.subspan(i, width);
    check(std::find(row.begin(), row.end(), false) != row.end(),
          "Bert: row {} of padding {} is true everywhere, which hides all of its tokens: true means "
          "padding, as in ids == pad (Hugging Face's attention_mask is the inverse); leave out rows that are "
          "only padding",
          i / width, padding.shape());
  }
}

/// Throws unless ids [B, T] hide some of the targets. Masking leaves one in ten chosen tokens unchanged.
void expect_hidden_tokens(const Tensor& targets, const Tensor& ids) {
  const Tensor wanted = targets.contiguous(), seen = ids.contiguous();
  const std::span<const std::int64_t> target = wanted.span<std::int64_t>(), id = seen.span<std::int64_t>();
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -100) continue;
    if (target[i] != id[i]) return;
    ++chosen;
  }
  constexpr std::size_t kBeyondChance = 16;
  check(
      chosen == 0 || (chosen < target.size() && chosen < kBeyondChance),
      "Bert: targets.tokens {} are the ids wherever they are not -100, which a model learns to copy: expects "
      "ids in which these tokens are hidden, as from data::mask_tokens",
      targets.shape());
}

void expect_inputs(const Tensor& ids, const BertInputs& inputs, const BertOptions& o) {
  expect_ids("Bert", "ids", ids);
  check(ids.dim() == 2, "Bert: expects ids [B, T], got {}{}", ids.shape(),
        ids.dim() == 1 ? ": add a batch axis with .unsqueeze(0)" : "");
  expect_tokens("Bert", "ids", ids, o.vocab);
  check(ids.size(1) <= o.context, "Bert: expects at most {} tokens, its context, got ids {}", o.context,
        ids.shape());
  if (inputs.token_types.defined()) {
    expect_ids("Bert", "token_types", inputs.token_types);
    expect_like_ids("token_types", inputs.token_types, ids);
  }
  if (inputs.padding.defined()) {
    check(inputs.padding.dtype() == boolean,
          "Bert: expects padding of bool, true where a token is padding, got {} {}", inputs.padding.dtype(),
          inputs.padding.shape());
    expect_like_ids("padding", inputs.padding, ids);
    expect_tokens_in_rows(inputs.padding);
  }
}

void expect_targets(const BertTargets& targets, const Tensor& ids) {
  check(targets.tokens.defined() || targets.next.defined(),
        "Bert: expects targets: loss(ids, {{.tokens = targets}})");
  if (targets.tokens.defined()) {
    expect_ids("Bert", "targets.tokens", targets.tokens);
    expect_like_ids("targets.tokens", targets.tokens, ids);
    expect_hidden_tokens(targets.tokens, ids);
  }
  if (targets.next.defined()) {
    expect_ids("Bert", "targets.next", targets.next);
    check(targets.next.shape() == Shape{ids.size(0)},
          "Bert: expects targets.next [{}], one for each row of ids, got {}", ids.size(0),
          targets.next.shape());
  }
}

void expect_part(bool there, const char* call, const char* option) {
  check(there, "Bert: {} needs the option {}, which is false", call, option);
}

}  // namespace

Bert::Bert(const BertOptions& given)
    : Module("Bert"),
      token_embedding(add("token_embedding", Embedding(completed(given).vocab, given.block.d_model))),
      position_embedding(add("position_embedding", LearnedPositions(given.context, given.block.d_model))),
      type_embedding(add("type_embedding", Embedding(given.token_types, given.block.d_model))),
      embedding_norm(add("embedding_norm", completed(given).block.new_norm())),
      dropout(add("dropout", Dropout(given.block.dropout))),
      transformer(add("", TransformerEncoder(stack_of(given)))),
      options_(completed(given)) {
  const std::int64_t width = given.block.d_model;
  if (given.pooler) pooler.emplace(add("pooler", Linear(width, width)));
  if (given.mlm_head) {
    mlm_dense.emplace(add("mlm_dense", Linear(width, width)));
    mlm_norm.emplace(add("mlm_norm", options_.block.new_norm()));
    mlm_bias = parameter("mlm_bias", zeros({given.vocab}));
  }
  if (given.nsp_head) nsp_head.emplace(add("nsp_head", Linear(width, 2)));
  init::gpt2_(*this, {.std = given.init_std});
  if (given.placement.init) {
    const NoClaims guard;
    given.placement.init(transformer, transformer.options().block);
  }
}

Tensor Bert::operator()(const Tensor& ids, const BertInputs& inputs) const {
  const Scope scope(path());
  expect_inputs(ids, inputs, options_);
  const Tensor x = observe(token_embedding, embedded(ids, inputs));
  return report(transformer(x, {.key_padding_mask = inputs.padding}));
}

/// LN(token + position + type), with dropout.
Tensor Bert::embedded(const Tensor& ids, const BertInputs& inputs) const {
  const auto first_type = [this] {
    const Tensor row = type_embedding.weight.select(0, 0);
    return is_half(row.dtype()) ? row.to(f32) : row;
  };
  const Tensor types = inputs.token_types.defined() ? type_embedding(inputs.token_types) : first_type();
  return dropout(embedding_norm(token_embedding(ids) + position_embedding(ids.size(1)) + types));
}

Tensor Bert::pooled(const Tensor& hidden) const {
  const Scope scope(path());
  expect_part(options_.pooler, "pooled", "pooler");
  expect_sequence("Bert", "hidden", hidden, options_.block.d_model, pooler->weight.dtype());
  check(hidden.size(1) > 0, "Bert: expects hidden [B, T, C] of at least one token, got {}", hidden.shape());
  return tanh((*pooler)(hidden.select(1, 0)));
}

/// The vectors multiplied by the token embedding: norm(GELU(dense(h))).
Tensor Bert::mlm_features(const Tensor& hidden) const {
  return (*mlm_norm)((*mlm_dense)(hidden, *options_.block.activation));
}

Tensor Bert::mlm_logits(const Tensor& hidden) const {
  const Scope scope(path());
  expect_part(options_.mlm_head, "mlm_logits", "mlm_head");
  return linear(mlm_features(hidden), token_embedding.weight, mlm_bias);
}

Tensor Bert::nsp_logits(const Tensor& hidden) const {
  const Scope scope(path());
  expect_part(options_.nsp_head, "nsp_logits", "nsp_head");
  return (*nsp_head)(pooled(hidden));
}

Tensor Bert::loss(const Tensor& ids, const BertTargets& targets, const BertInputs& inputs) const {
  const Scope scope(path());
  expect_inputs(ids, inputs, options_);
  expect_targets(targets, ids);
  const Tensor hidden = (*this)(ids, inputs);
  Tensor sum;
  if (targets.tokens.defined()) {
    expect_part(options_.mlm_head, "loss with targets.tokens", "mlm_head");
    const Tensor chosen = targets.tokens != -100;
    check(!inputs.padding.defined() || !chosen.any() || (chosen & !inputs.padding).any(),
          "Bert: all tokens to be predicted are at padding {}, where true means padding, as in ids == pad "
          "(Hugging Face's attention_mask is the inverse)",
          inputs.padding.shape());
    sum = linear_cross_entropy(mlm_features(hidden[chosen]), token_embedding.weight, targets.tokens[chosen],
                               {}, mlm_bias);
  }
  if (!targets.next.defined()) return sum;
  const Tensor next = cross_entropy(nsp_logits(hidden), targets.next);
  return sum.defined() ? sum + next : next;
}

}  // namespace gradus::nn
