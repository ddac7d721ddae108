#include "gradus/nn/models/transformer.h"

#include <algorithm>

#include "gradus/core/detail/format.h"
#include "gradus/nn/attention/attention_maps.h"
#include "gradus/nn/attention/detail/packing.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/layers/shape.h"
#include "gradus/nn/module/probe.h"
#include "gradus/nn/norm/dyt.h"
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

/// How a placement makes blocks of this type.
template <class Block>
const auto& maker_of(const Placement& placement) {
  if constexpr (std::same_as<Block, AnyBlock>)
    return placement.block;
  else
    return placement.decoder_block;
}

bool norm_by_position(const MakeNorm& norm) {
  using Maker = Norm (*)(const NormOptions&);
  const Maker* const made = norm.target<Maker>();
  return made && (*made == make_norm<LayerNorm> || *made == make_norm<RMSNorm> || *made == make_norm<DyT> ||
                  *made == make_norm<Identity>);
}

/// Whether nothing but attention looks at other positions: as the placement declares it, of the functions
/// that it was declared of.
template <class Block>
bool stack_by_position(const TransformerOptions& options) {
  const Placement& p = options.placement;
  return p.by_position && detail::same_owner(maker_of<Block>(p), p.enter, p.leave) &&
         norm_by_position(options.block.norm);
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

}  // namespace

template <class Block>
TransformerStack<Block>::TransformerStack(const char* kind, const TransformerOptions& options)
    : Module(kind), options_(options), by_position_(stack_by_position<Block>(options)) {
  const Placement& placement = options_.placement;
  const auto& make = maker_of<Block>(placement);
  expect_positive(kind, "layers", options.layers);
  expect_block_options(kind, options.block);
  const char* const field = std::same_as<Block, AnyBlock> ? "block" : "decoder_block";
  check(placement.block || placement.decoder_block,
        "{}: the placement '{}' is a name without blocks: nn::placement_named(\"{}\") finds one of gradus', "
        "nn::placement<R>() makes one",
        kind, placement.name, placement.name);
  check(static_cast<bool>(make),
        "{}: the placement '{}' has no {}: of gradus' own, nn::list_placements() says which are for decoders "
        "with memory; one of yours needs .{}, or nn::placement<R>(), which makes both",
        kind, placement.name, field, field);
  BlockOptions block = options.block;
  const Module list = add("layers", Module("List"));
  for (block.layer = 0; block.layer < block.layers; ++block.layer)
    layers.push_back(list.add(std::to_string(block.layer), make(block)));
  const bool leaves = options.final_norm.value_or(placement.final_norm || placement.leave);
  check(leaves || !placement.enter || !placement.leave,
        "{}: the placement {} joins its streams after the last block: leave final_norm unset", kind,
        placement.name);
  if (leaves)
    norm.emplace(add("norm", placement.leave ? placement.leave(options.block) : options.block.new_norm()));
  if (placement.init) {
    const NoClaims guard;
    placement.init(*this, options.block);
  }
  dtype_ = dtype_of(*this);
}

template <class Block>
KeyValueCache TransformerStack<Block>::new_cache(std::int64_t batch, std::int64_t capacity) const {
  std::vector<KeyValues> kept;
  for (const Block& block : layers) kept.push_back(block.new_cache(batch, capacity));
  return KeyValueCache(std::move(kept), *this);
}

template struct TransformerStack<AnyBlock>;
template struct TransformerStack<AnyDecoderBlock>;

TransformerEncoder::TransformerEncoder(const TransformerOptions& options)
    : TransformerStack("TransformerEncoder", completed(options, false)) {}

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

TransformerDecoder::TransformerDecoder(const TransformerOptions& options)
    : TransformerStack("TransformerDecoder", completed(options, true)) {}

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

}  // namespace gradus::nn
