#include "gradus/nn/transformer/transformer.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/probe.h"
#include "gradus/ops/checkpoint.h"

namespace gradus::nn {

namespace {

/// The options, with the depth told to the blocks.
TransformerOptions completed(TransformerOptions options) {
  options.block.layer = 0;
  options.block.layers = options.layers;
  return options;
}

/// Registers a stack's blocks, made by make(options of block i), and what stands after the last.
template <class Stack, class Make>
void build(Stack& stack, const char* kind, const TransformerOptions& options, const Make& make) {
  const Placement& placement = options.placement;
  expect_positive(kind, "layers", options.layers);
  expect_block_options(kind, options.block);
  check(make != nullptr, "{}: the placement {} has no {}block", kind, placement.name,
        std::is_same_v<Stack, TransformerDecoder> ? "decoder " : "");
  BlockOptions block = options.block;
  const Module list = stack.add("layers", Module("List"));
  for (block.layer = 0; block.layer < block.layers; ++block.layer)
    stack.layers.push_back(list.add(std::to_string(block.layer), make(block)));
  const bool leaves = options.final_norm.value_or(placement.final_norm || placement.leave);
  check(leaves || !placement.enter,
        "{}: the placement {} needs what it has after the last block: no final_norm = false", kind,
        placement.name);
  if (leaves)
    stack.norm.emplace(stack.add("norm", placement.leave ? placement.leave(block) : block.new_norm()));
  if (placement.init) placement.init(stack, block);
}

/// That of the first floating-point parameter; where there is none, any input will do.
DType dtype_of(const Module& stack) {
  for (const auto& [name, module] : stack.named_modules())
    for (const auto& [key, w] : module.own_parameters()) return w.dtype();
  return f32;
}

// [checkpoint]
template <class Block, class... Rest>
Tensor run_block(const Block& block, bool recompute, const Tensor& x, const Rest&... rest) {
  if (!recompute) return block(x, rest...);
  return checkpoint([block, rest...](const Tensor& h) { return block(h, rest...); }, x);
}
// [/checkpoint]

/// x through every block, step(block, i, h), and what stands before the first and after the last; a probe
/// sees each output.
template <class Stack, class Step>
Tensor run(const Stack& stack, const Tensor& x, const Step& step) {
  const Placement& placement = stack.options().placement;
  Tensor h = placement.enter ? placement.enter(x) : x;
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const Scope scope(stack.layers[i].path());
    h = observe(stack.layers[i], step(stack.layers[i], i, h));
  }
  return stack.norm ? observe(*stack.norm, (*stack.norm)(h)) : h;
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerOptions& options)
    : Module("TransformerEncoder"), options_(completed(options)) {
  build(*this, "TransformerEncoder", options_, options_.placement.block);
  dtype_ = dtype_of(*this);
}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionMasks& masks,
                                      KeyValueCache* cache) const {
  const Scope scope(path());
  expect_sequence("TransformerEncoder", "x", x, options_.block.d_model, dtype_);
  if (!cache)
    return run(*this, x, [&](const AnyBlock& block, std::size_t, const Tensor& h) {
      return run_block(block, options_.checkpoint, h, masks);
    });
  check(cache->layers() == layers.size(),
        "TransformerEncoder: expects a cache of {} layers, got one of {}: make it with new_cache()",
        layers.size(), cache->layers());
  cache->truncate(cache->length());  // what an error may have left in the first layers
  return run(*this, x, [&](const AnyBlock& block, std::size_t i, const Tensor& h) {
    return block(h, masks, &cache->layer(i));
  });
}

KeyValueCache TransformerEncoder::new_cache(std::int64_t batch, std::int64_t capacity) const {
  std::vector<KeyValues> kept;
  for (const AnyBlock& block : layers) kept.push_back(block.new_cache(batch, capacity));
  return KeyValueCache(std::move(kept));
}

TransformerDecoder::TransformerDecoder(const TransformerOptions& options)
    : Module("TransformerDecoder"), options_(completed(options)) {
  build(*this, "TransformerDecoder", options_, options_.placement.decoder_block);
  dtype_ = dtype_of(*this);
}

Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory,
                                      const DecoderMasks& masks) const {
  const Scope scope(path());
  const std::int64_t d_model = options_.block.d_model;
  expect_sequence("TransformerDecoder", "x", x, d_model, dtype_);
  expect_memory("TransformerDecoder", memory, d_model, dtype_,
                "decoder(x, memory, {.memory = {.key_padding_mask = padding}})");
  return run(*this, x, [&](const AnyDecoderBlock& block, std::size_t, const Tensor& h) {
    return run_block(block, options_.checkpoint, h, memory, masks);
  });
}

}  // namespace gradus::nn
