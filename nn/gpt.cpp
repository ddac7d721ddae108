#include "gradus/nn/gpt.h"

#include <algorithm>

#include "gradus/core/format.h"
#include "gradus/nn/expect.h"
#include "gradus/nn/init.h"
#include "gradus/nn/probe.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

GPTOptions checked(const GPTOptions& options) {
  expect_positive("GPT", "vocab", options.vocab);
  expect_positive("GPT", "context", options.context);
  expect_positive("GPT", "layers", options.layers);
  expect_positive("GPT", "heads", options.heads);
  expect_positive("GPT", "d_model", options.d_model);
  expect_probability("GPT", "dropout", options.dropout);
  return options;
}

BlockOptions block_of(const GPTOptions& o) {
  return {.d_model = o.d_model,
          .heads = o.heads,
          .d_ff = o.d_ff,
          .activation = o.activation,
          .gated = o.gated,
          .causal = true,
          .dropout = o.dropout,
          .bias = o.bias,
          .eps = o.eps};
}

}  // namespace

GPT::GPT(const GPTOptions& o)
    : Module("GPT"),
      token_embedding(add("token_embedding", Embedding(checked(o).vocab, o.d_model))),
      position_embedding(add("position_embedding", LearnedPositions(o.context, o.d_model))),
      dropout(add("dropout", Dropout(o.dropout))),
      transformer(add("", TransformerEncoder({.layers = o.layers,
                                              .placement = o.placement,
                                              .block = block_of(o),
                                              .final_norm = o.final_norm,
                                              .checkpoint = o.checkpoint}))),
      options_(o) {
  if (!o.tied) head = add("head", Linear(o.d_model, o.vocab, {.bias = false}));
  init::gpt2_(*this, {.residual_layers = o.residual_init_scaling ? o.layers : 0});
}

Tensor GPT::operator()(const Tensor& ids) const { return logits(hidden(ids)); }

Tensor GPT::loss(const Tensor& ids, const Tensor& targets) const {
  const Scope scope(path());
  check(targets.defined() && targets.shape() == ids.shape(),
        "GPT: expects targets of the shape of ids, {}, got {}", ids.shape(), targets.shape());
  return linear_cross_entropy(hidden(ids), head ? head->weight : token_embedding.weight, targets);
}

/// What the head sees: [B, T] -> [B, T, C].
Tensor GPT::hidden(const Tensor& ids) const {
  const Scope scope(path());
  check(ids.defined() && ids.dim() == 2, "GPT: expects ids [B, T], got {}", ids.shape());
  check(ids.size(1) <= options_.context, "GPT: expects at most {} tokens, its context, got ids {}",
        options_.context, ids.shape());
  const Tensor x = dropout(token_embedding(ids) + position_embedding(ids.size(1)));
  return transformer(observe(token_embedding, x));
}

Tensor GPT::logits(const Tensor& hidden) const {
  return head ? (*head)(hidden) : linear(hidden, token_embedding.weight);
}

namespace {

/// One token for each row of logits [B, V] -> [B, 1].
Tensor draw(const Tensor& logits, const GenerateOptions& options) {
  if (options.greedy) return logits.argmax(-1, /*keepdim=*/true);
  Generator& generator = options.generator ? *options.generator : default_generator();
  // Measured from the largest logit, so that the lowest temperature gives 0 and -inf, never NaN.
  const Tensor scaled = (logits - logits.max(-1, /*keepdim=*/true)) / std::max(options.temperature, 1e-30);
  if (options.top_k == 0 || options.top_k >= logits.size(-1))
    return multinomial(softmax(scaled, -1), 1, /*replacement=*/true, generator);
  const auto [values, ids] = topk(scaled, options.top_k);
  return gather(ids, 1, multinomial(softmax(values, -1), 1, /*replacement=*/true, generator));
}

}  // namespace

Tensor GPT::generate(const Tensor& prompt, std::int64_t count, const GenerateOptions& options) const {
  check(prompt.defined() && (prompt.dim() == 1 || prompt.dim() == 2) && prompt.size(-1) > 0,
        "GPT: generate expects a prompt [T] or [B, T] of at least one token, got {}", prompt.shape());
  check(count >= 0, "GPT: generate expects a count of 0 or more, got {}", count);
  check(options.temperature > 0,
        "GPT: generate expects a temperature above 0, got {}: for the likeliest token set greedy",
        options.temperature);
  check(options.top_k >= 0, "GPT: generate expects top_k of 0 (all) or more, got {}", options.top_k);
  const NoGrad no_grad;
  const EvalMode eval_mode(*this);
  Tensor ids = prompt.dim() == 1 ? prompt.unsqueeze(0) : prompt;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = std::max<std::int64_t>(0, ids.size(1) - options_.context);
    const Tensor last = hidden(ids.slice(1, begin)).select(1, -1);  // [B, C]
    ids = cat({ids, draw(logits(last), options)}, 1);
  }
  return prompt.dim() == 1 ? ids.squeeze(0) : ids;
}

}  // namespace gradus::nn
