#include "gradus/nn/transformer/transformer.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/probe.h"
#include "gradus/ops/checkpoint.h"

namespace gradus::nn {

namespace {

/// Registers a stack's blocks and final norm with it.
template <class Pre, class Post, class Stack, class Options>
void build(Stack& stack, const char* kind, const Options& options) {
  expect_positive(kind, "layers", options.layers);
  expect_block_options(kind, options.block);
  const Module list = stack.add("layers", Module("List"));
  for (std::int64_t i = 0; i < options.layers; ++i) {
    if (options.placement == Placement::pre)
      stack.layers.emplace_back(list.add(std::to_string(i), Pre(options.block)));
    else
      stack.layers.emplace_back(list.add(std::to_string(i), Post(options.block)));
  }
  if (options.final_norm.value_or(options.placement == Placement::pre))
    stack.norm.emplace(stack.add(
        "norm", LayerNorm(options.block.d_model, {.eps = options.block.eps, .bias = options.block.bias})));
}

// [checkpoint]
template <class Block, class... Rest>
Tensor apply(const Block& block, bool recompute, const Tensor& x, const Rest&... rest) {
  if (!recompute) return block(x, rest...);
  return checkpoint([block, rest...](const Tensor& h) { return block(h, rest...); }, x);
}
// [/checkpoint]

template <class Stack>
Tensor final_norm(const Stack& stack, const Tensor& x) {
  return stack.norm ? observe(*stack.norm, (*stack.norm)(x)) : x;
}

/// x through every block, then through the final norm; a probe sees each output.
template <class Stack, class... Rest>
Tensor run(const Stack& stack, bool recompute, Tensor x, const Rest&... rest) {
  for (const auto& layer : stack.layers)
    x = std::visit([&](const auto& block) { return observe(block, apply(block, recompute, x, rest...)); },
                   layer);
  return final_norm(stack, x);
}

template <class Parts, class Stack>
const Parts& parts_of(const Stack& stack, const char* kind, std::size_t i) {
  check(i < stack.layers.size(), "{}: there is no layer {}: it has {}", kind, i, stack.layers.size());
  return std::visit([](const auto& block) -> const Parts& { return block; }, stack.layers[i]);
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerEncoderOptions& options)
    : Module("TransformerEncoder"), checkpoint_(options.checkpoint) {
  build<PreLNBlock, PostLNBlock>(*this, "TransformerEncoder", options);
}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionMasks& masks,
                                      KeyValueCache* cache) const {
  const Scope scope(path());
  const Tensor& weight = parts(0).norm1.weight;
  expect_sequence("TransformerEncoder", "x", x, weight.numel(), weight.dtype());
  if (!cache) return run(*this, checkpoint_, x, masks);
  check(cache->layers() == layers.size(),
        "TransformerEncoder: expects a cache of {} layers, got one of {}: make it with new_cache()",
        layers.size(), cache->layers());
  cache->truncate(cache->length());  // what an error may have left in the first layers
  Tensor h = x;
  for (std::size_t i = 0; i < layers.size(); ++i)
    h = std::visit([&](const auto& block) { return observe(block, block(h, masks, &cache->layer(i))); },
                   layers[i]);
  return final_norm(*this, h);
}

KeyValueCache TransformerEncoder::new_cache(std::int64_t batch, std::int64_t capacity) const {
  std::vector<KeyValues> kept;
  for (std::size_t i = 0; i < layers.size(); ++i)
    kept.push_back(parts(i).self_attn.new_cache(batch, capacity));
  return KeyValueCache(std::move(kept));
}

const BlockParts& TransformerEncoder::parts(std::size_t i) const {
  return parts_of<BlockParts>(*this, "TransformerEncoder", i);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderOptions& options)
    : Module("TransformerDecoder"), checkpoint_(options.checkpoint) {
  build<PreLNDecoderBlock, PostLNDecoderBlock>(*this, "TransformerDecoder", options);
}

Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory,
                                      const DecoderMasks& masks) const {
  const Scope scope(path());
  const Tensor& weight = parts(0).norm1.weight;
  expect_sequence("TransformerDecoder", "x", x, weight.numel(), weight.dtype());
  expect_memory("TransformerDecoder", memory, weight.numel(), weight.dtype(),
                "decoder(x, memory, {.memory = {.key_padding_mask = padding}})");
  return run(*this, checkpoint_, x, memory, masks);
}

const DecoderBlockParts& TransformerDecoder::parts(std::size_t i) const {
  return parts_of<DecoderBlockParts>(*this, "TransformerDecoder", i);
}

}  // namespace gradus::nn
