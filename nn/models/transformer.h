#pragma once
// Stacks of blocks, with the rule for the final norm: the output of a Pre-LN stack is a sum that no norm has
// seen, so the stack owns a norm after its last block; a Post-LN block ends with one already.
// Keys: layers.0.*, layers.1.*, ..., norm.* (PyTorch's nn.TransformerEncoder and nn.TransformerDecoder).

#include <optional>
#include <vector>

#include "gradus/nn/placements/one_norm.h"

namespace gradus::nn {

struct TransformerOptions {
  std::int64_t layers = 0;              // L
  Placement placement = pre_ln();       // post_ln(), placement<MyConnection>(...), blocks of your own
  BlockOptions block = {};              // what each block is made from
  std::optional<bool> final_norm = {};  // not given: as the placement has it
  // Keep only each block's input for backward and run the block again: see checkpoint().
  bool checkpoint = false;
};

/// The common parts of both stacks; Block is AnyBlock or AnyDecoderBlock.
template <class Block>
struct TransformerStack : Module {
  /// An empty cache for `batch` sequences of at most `capacity` positions.
  KeyValueCache new_cache(std::int64_t batch, std::int64_t capacity) const;
  const TransformerOptions& options() const& { return options_; }
  TransformerOptions options() const&& { return options_; }

  std::vector<Block> layers;  // from the first to the last: `encoder.layers[0].parameter("linear2.weight")`
  std::optional<Norm> norm;   // the final norm, or the placement's module in its place

 protected:
  TransformerStack(const char* kind, const TransformerOptions& options);

  TransformerOptions options_;
  std::optional<DType> dtype_;  // of the parameters
  bool by_position_ = false;    // nothing but attention looks at other positions
};

/// Blocks of self-attention, x [B, T, C] -> [B, T, C]. The output where a key_padding_mask marks padding has
/// no meaning: mostly it is 0, as padding at the ends of rows costs nothing where placement and norm work
/// position by position (BatchNorm, GroupNorm and, unless declared, your own do not), except under a Probe,
/// AttentionMaps or hooks.
/// `nn::TransformerEncoder encoder({.layers = 6, .block = {.d_model = 64, .heads = 4}});`
struct TransformerEncoder : TransformerStack<AnyBlock> {
  explicit TransformerEncoder(const TransformerOptions& options);
  /// With a cache, for causal blocks, x follows the positions it holds: see MultiheadAttention.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValueCache* cache = nullptr) const;
};

/// Blocks of self-attention and attention over memory: x [B, T, C], memory [B, Tm, C] -> [B, T, C].
/// Padding of either is left out as in an encoder.
struct TransformerDecoder : TransformerStack<AnyDecoderBlock> {
  explicit TransformerDecoder(const TransformerOptions& options);
  /// With a cache x follows the positions it holds; memory and its mask are those of the first call.
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {},
                    KeyValueCache* cache = nullptr) const;
};

}  // namespace gradus::nn
