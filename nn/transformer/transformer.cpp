#include "gradus/nn/transformer/transformer.h"

#include <algorithm>

#include "gradus/core/detail/format.h"
#include "gradus/nn/attention/attention_maps.h"
#include "gradus/nn/attention/detail/packing.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/probe.h"
#include "gradus/nn/transformer/detail/by_position.h"
#include "gradus/ops/checkpoint.h"

namespace gradus::nn {

namespace {

/// The options, with what blocks are told: the depth, and whether their attention is causal.
TransformerOptions completed(TransformerOptions options, bool causal) {
  options.block.layer = 0;
  options.block.layers = options.layers;
  options.block.causal = options.block.causal.value_or(causal);
  return options;
}

/// Registers a stack's blocks, made by make(options of block i), and what stands after the last.
template <class Stack, class Make>
void build(Stack& stack, const char* kind, const TransformerOptions& options, const Make& make) {
  const Placement& placement = options.placement;
  expect_positive(kind, "layers", options.layers);
  expect_block_options(kind, options.block);
  const char* const field = std::is_same_v<Stack, TransformerDecoder> ? "decoder_block" : "block";
  check(placement.block || placement.decoder_block,
        "{}: the placement '{}' is a name without blocks: nn::placement_named(\"{}\") finds one of gradus', "
        "nn::placement<R>() makes one",
        kind, placement.name, placement.name);
  check(make != nullptr,
        "{}: the placement '{}' has no {}: of gradus' own, nn::list_placements() says which are for decoders "
        "with "
        "memory; one of yours needs .{}, or nn::placement<R>(), which makes both",
        kind, placement.name, field, field);
  BlockOptions block = options.block;
  const Module list = stack.add("layers", Module("List"));
  for (block.layer = 0; block.layer < block.layers; ++block.layer)
    stack.layers.push_back(list.add(std::to_string(block.layer), make(block)));
  const bool leaves = options.final_norm.value_or(placement.final_norm || placement.leave);
  check(leaves || !placement.enter || !placement.leave,
        "{}: the placement {} joins its streams after the last block: leave final_norm unset", kind,
        placement.name);
  if (leaves)
    stack.norm.emplace(
        stack.add("norm", placement.leave ? placement.leave(options.block) : options.block.new_norm()));
  if (placement.init) {
    const NoClaims guard;
    placement.init(stack, options.block);
  }
}

/// That of the first parameter; where there is none, any input will do.
std::optional<DType> dtype_of(const Module& stack) {
  for (const auto& [name, module] : stack.named_modules())
    for (const auto& [key, w] : module.own_parameters()) return w.dtype();
  return std::nullopt;
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
    Tensor y = step(stack.layers[i], i, h);
    check(y.defined(), "{}: returned an undefined tensor", stack.layers[i].kind());
    observe(stack.layers[i], y);
    check(y.shape() == h.shape(), "{}: a stream {} came out as {}: a block returns the streams it is given",
          stack.layers[i].kind(), h.shape(), y.shape());
    h = std::move(y);
  }
  if (stack.norm) h = observe(*stack.norm, (*stack.norm)(h));
  check(h.shape() == x.shape(), "{}: with the placement {} x {} comes out as {}: {}", stack.kind(),
        placement.name, x.shape(), h.shape(),
        placement.leave ? "what its leave makes returns one stream, [B, T, C]"
                        : "give it leave, which makes one stream of what enter makes");
  return stack.report(std::move(h));
}

/// A block, with what it keeps of the positions before x; each must add its own once, or the layers would
/// count differently.
template <class Block, class... Rest>
Tensor run_cached(const Block& block, KeyValueCache& cache, std::size_t i, std::int64_t end, const Tensor& h,
                  const Rest&... rest) {
  const std::int64_t begin = cache.layer(i).length();
  Tensor y = block(h, rest..., &cache.layer(i));
  const std::int64_t length = cache.layer(i).length();
  check(length == end, "{}: kept {} positions where {} came: with a cache a block calls its attention once",
        block.kind(), length - begin, end - begin);
  return y;
}

/// x through every block, each with the rest of its arguments; with a cache, which forgets what it has taken
/// in where an error comes in between.
template <class Stack, class... Rest>
Tensor run_stack(const Stack& stack, KeyValueCache* cache, const Tensor& x, const Rest&... rest) {
  if (!cache)
    return run(stack, x, [&](const auto& block, std::size_t, const Tensor& h) {
      return run_block(block, stack.options().checkpoint, h, rest...);
    });
  cache->expect_model(stack);
  const std::int64_t end = cache->length() + x.size(1);
  return cache->attempt([&] {
    return run(stack, x, [&](const auto& block, std::size_t i, const Tensor& h) {
      return run_cached(block, *cache, i, end, h, rest...);
    });
  });
}

/// x and memory without their padding, for blocks in which nothing but attention looks at other positions;
/// nothing where there is none to leave out, or somebody watches, who would see other shapes.
std::shared_ptr<const detail::Packing> packing_of(bool by_position, const Tensor& x, const Tensor& x_padding,
                                                  const Tensor& memory, const Tensor& memory_padding) {
  const bool padded = x_padding.defined() || memory_padding.defined();
  if (!by_position || !padded || x.size(0) != memory.size(0)) return nullptr;
  if (detail::forward_hooks != 0 || Probe::current() || AttentionMaps::current()) return nullptr;
  const auto queries = detail::RealRows::of(x_padding, x.size(0), x.size(1));
  const auto keys = detail::RealRows::of(memory_padding, memory.size(0), memory.size(1));
  if (!queries || !keys || queries->count() == 0 || (queries->all() && keys->all())) return nullptr;
  return std::make_shared<const detail::Packing>(detail::Packing{*queries, *keys});
}

/// With the padding in the score_bias, once for all blocks.
AttentionMasks joined(AttentionMasks masks, const Tensor& keys) {
  const Tensor &padding = masks.key_padding_mask, &bias = masks.score_bias;
  const bool fits = padding.defined() && bias.defined() && padding.dtype() == boolean &&
                    padding.shape() == Shape{keys.size(0), keys.size(1)} && bias.dim() == 4 &&
                    bias.dtype() == keys.dtype() && bias.size(3) == keys.size(1);
  if (!fits) return masks;  // blocks say what is wrong
  masks.score_bias = where(padding.unsqueeze(1).unsqueeze(1), full({}, -INFINITY, bias.dtype()), bias);
  masks.key_padding_mask = {};
  return masks;
}

template <class Stack>
KeyValueCache new_cache_of(const Stack& stack, std::int64_t batch, std::int64_t capacity) {
  std::vector<KeyValues> kept;
  for (const auto& block : stack.layers) kept.push_back(block.new_cache(batch, capacity));
  return KeyValueCache(std::move(kept), stack);
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerOptions& options)
    : Module("TransformerEncoder"), options_(completed(options, false)) {
  build(*this, "TransformerEncoder", options_, options_.placement.block);
  by_position_ = detail::encoder_by_position(options_.placement, options_.block.norm);
  dtype_ = dtype_of(*this);
}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionMasks& masks,
                                      KeyValueCache* cache) const {
  const Scope scope(path());
  expect_sequence("TransformerEncoder", "x", x, options_.block.d_model, dtype_.value_or(x.dtype()));
  const Tensor& padding = masks.key_padding_mask;
  const auto packing = cache ? nullptr : packing_of(by_position_, x, padding, x, padding);
  if (!packing) return run_stack(*this, cache, x, cache ? masks : joined(masks, x));
  AttentionMasks packed = masks;
  packed.key_padding_mask = {};
  packed.packing = packing;
  return packing->queries.unpack(run_stack(*this, nullptr, packing->queries.pack(x), packed));
}

KeyValueCache TransformerEncoder::new_cache(std::int64_t batch, std::int64_t capacity) const {
  return new_cache_of(*this, batch, capacity);
}

TransformerDecoder::TransformerDecoder(const TransformerOptions& options)
    : Module("TransformerDecoder"), options_(completed(options, true)) {
  build(*this, "TransformerDecoder", options_, options_.placement.decoder_block);
  by_position_ = detail::decoder_by_position(options_.placement, options_.block.norm);
  dtype_ = dtype_of(*this);
}

Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks,
                                      KeyValueCache* cache) const {
  const Scope scope(path());
  expect_decoder_inputs("TransformerDecoder", x, memory, options_.block.d_model, dtype_.value_or(x.dtype()));
  const Tensor &padding = masks.self.key_padding_mask, &memory_padding = masks.memory.key_padding_mask;
  const auto packing = cache ? nullptr : packing_of(by_position_, x, padding, memory, memory_padding);
  if (!packing) return run_stack(*this, cache, x, memory, masks);
  DecoderMasks packed = masks;
  packed.self.key_padding_mask = packed.memory.key_padding_mask = {};
  const detail::Packing self{packing->queries, packing->queries};
  packed.self.packing = std::make_shared<const detail::Packing>(self);
  packed.memory.packing = packing;
  return packing->queries.unpack(
      run_stack(*this, nullptr, packing->queries.pack(x), packing->keys.pack(memory), packed));
}

KeyValueCache TransformerDecoder::new_cache(std::int64_t batch, std::int64_t capacity) const {
  return new_cache_of(*this, batch, capacity);
}

}  // namespace gradus::nn
