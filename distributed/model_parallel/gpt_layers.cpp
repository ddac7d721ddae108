// gpt_layers: the parts of an nn::GPT, under its keys.

#include <cmath>
#include <optional>

#include "gradus/core/check.h"
#include "gradus/distributed/model_parallel/pipeline.h"
#include "gradus/nn/module/init.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/checkpoint.h"

namespace gradus::distributed {

namespace {

/// As nn::GPT fills them in.
nn::GPTOptions completed(nn::GPTOptions o) {
  check(o.vocab >= 1 && o.context >= 1 && o.layers >= 1,
        "gpt_layers: expects vocab, context and layers of 1 or more, got {}, {} and {}", o.vocab, o.context,
        o.layers);
  check(o.positions != nn::Positions::relative,
        "gpt_layers: Positions::relative is one table for all blocks, which are on several ranks: use rotary "
        "or alibi");
  check(!o.placement.init,
        "gpt_layers: the placement {} sets initial values that depend on the whole stack: use another",
        o.placement.name);
  check(static_cast<bool>(o.placement.block), "gpt_layers: the placement {} has no blocks", o.placement.name);
  check(o.block.causal.value_or(true),
        "gpt_layers: block.causal is false, but each token is predicted from those before it");
  o.block.causal = true;
  o.block.layer = 0;
  o.block.layers = o.layers;
  if (o.positions == nn::Positions::alibi) o.block.alibi = true;
  if (o.positions == nn::Positions::rotary && !o.block.rope) o.block.rope = RopeOptions{};
  o.block.activation = o.block.activation.value_or(nn::Activation::gelu_tanh);
  return o;
}

void set_initial_values(const nn::Module& part, const nn::GPTOptions& o) {
  nn::init::gpt2_(part, {.residual_layers = o.residual_init_scaling ? o.layers : 0});
}

/// ids [B, T] -> what the first block takes.
struct GptEmbedding : nn::Module {
  explicit GptEmbedding(const nn::GPTOptions& o)
      : token_embedding(add("token_embedding", nn::Embedding(o.vocab, o.block.d_model))),
        dropout(add("dropout", nn::Dropout(o.block.dropout))),
        options(o) {
    if (o.positions == nn::Positions::learned)
      positions.emplace(add("position_embedding", nn::LearnedPositions(o.context, o.block.d_model)));
    if (o.positions == nn::Positions::sinusoidal)
      waves.emplace(add("position_waves", nn::SinusoidalPositions(o.context, o.block.d_model)));
    set_initial_values(*this, o);
  }

  Tensor operator()(const Tensor& ids) const {
    check(ids.dim() == 2 && ids.size(1) <= options.context,
          "GPT: expects ids [B, T] of at most {} tokens, got {}", options.context, ids.shape());
    Tensor x = token_embedding(ids);
    if (positions) x = x + (*positions)(ids.size(1));
    if (waves) x = x * std::sqrt(static_cast<double>(options.block.d_model)) + (*waves)(ids.size(1));
    x = dropout(x);
    return options.placement.enter ? options.placement.enter(x) : x;
  }

  nn::Embedding token_embedding;
  nn::Dropout dropout;
  nn::GPTOptions options;
  std::optional<nn::LearnedPositions> positions;
  std::optional<nn::SinusoidalPositions> waves;
};

struct GptBlock : nn::Module {
  GptBlock(const nn::GPTOptions& o, std::int64_t layer)
      : block(add("", o.placement.block(at(o.block, layer)))), recompute(o.checkpoint) {
    set_initial_values(*this, o);
  }
  static nn::BlockOptions at(nn::BlockOptions options, std::int64_t layer) {
    options.layer = layer;
    return options;
  }
  Tensor operator()(const Tensor& x) const {
    return recompute ? checkpoint([b = block](const Tensor& h) { return b(h); }, x) : block(x);
  }

  nn::AnyBlock block;
  bool recompute;
};

/// The final norm, the head and the loss.
struct GptHead : nn::Module {
  explicit GptHead(const nn::GPTOptions& o) {
    if (o.final_norm.value_or(o.placement.final_norm || o.placement.leave))
      norm.emplace(add("norm", o.placement.leave ? o.placement.leave(o.block) : o.block.new_norm()));
    head.emplace(add("head", nn::Linear(o.block.d_model, o.vocab, {.bias = false})));
    set_initial_values(*this, o);
  }
  ShardLoss operator()(const Tensor& x, const Tensor& targets) const {
    const double count = (targets != -100).to(i64).sum().item();
    return Mean{linear_cross_entropy(norm ? (*norm)(x) : x, head->weight, targets), count};
  }

  std::optional<nn::Norm> norm;
  std::optional<nn::Linear> head;
};

}  // namespace

PipelineModel gpt_layers(const nn::GPTOptions& options) {
  const nn::GPTOptions o = completed(options);
  PipelineModel model{.layers = {{"", [o] { return GptEmbedding(o); }}},
                      .loss = PipelineLoss("", [o] { return GptHead(o); })};
  for (std::int64_t i = 0; i < o.layers; ++i)
    model.layers.push_back({"layers." + std::to_string(i), [o, i] { return GptBlock(o, i); }});
  if (o.tied) model.tied = {{"head.weight", "token_embedding.weight"}};
  return model;
}

}  // namespace gradus::distributed
