#pragma once
// Stacks of blocks, with the rule for the final norm: the output of a Pre-LN stack is a sum nobody has
// normalised, so the stack owns a norm after its last block; a Post-LN block ends with one already.
// Keys: layers.0.*, layers.1.*, ..., norm.* (PyTorch's nn.TransformerEncoder and nn.TransformerDecoder).

#include <optional>
#include <vector>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

struct TransformerOptions {
  std::int64_t layers = 0;              // L
  Placement placement = pre_ln();       // post_ln(), placement<MyConnection>(...), blocks of one's own
  BlockOptions block = {};              // what each block is made from
  std::optional<bool> final_norm = {};  // not given: as the placement has it
  // Keep only each block's input for backward and run the block again: see checkpoint().
  bool checkpoint = false;
};

/// Blocks of self-attention, x [B, T, C] -> [B, T, C]. What comes out where a key_padding_mask says padding
/// means nothing: mostly it is 0, as padding at the ends of rows costs nothing where placement and norm are
/// gradus' own (BatchNorm and GroupNorm excepted), unless somebody watches (Probe, AttentionMaps, hooks).
/// `nn::TransformerEncoder encoder({.layers = 6, .block = {.d_model = 64, .heads = 4}});`
struct TransformerEncoder : Module {
  explicit TransformerEncoder(const TransformerOptions& options);
  /// With a cache, for causal blocks, x follows the positions it holds: see MultiheadAttention.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValueCache* cache = nullptr) const;
  /// An empty cache for `batch` sequences of at most `capacity` positions.
  KeyValueCache new_cache(std::int64_t batch, std::int64_t capacity) const;
  const TransformerOptions& options() const& { return options_; }
  TransformerOptions options() const&& { return options_; }

  std::vector<AnyBlock> layers;  // `encoder.layers[0].parameter("linear2.weight")`
  std::optional<Norm> norm;      // the final norm, or what the placement has in its place

 private:
  TransformerOptions options_;
  std::optional<DType> dtype_;  // of the parameters
  bool by_position_ = false;    // nothing but attention looks at other positions
};

/// Blocks of self-attention and attention over memory: x [B, T, C], memory [B, Tm, C] -> [B, T, C].
/// Padding of either is left out as in an encoder.
struct TransformerDecoder : Module {
  explicit TransformerDecoder(const TransformerOptions& options);
  /// With a cache x follows the positions it holds; memory and its mask are those of the first call.
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {},
                    KeyValueCache* cache = nullptr) const;
  /// An empty cache for `batch` sequences of at most `capacity` positions.
  KeyValueCache new_cache(std::int64_t batch, std::int64_t capacity) const;
  const TransformerOptions& options() const& { return options_; }
  TransformerOptions options() const&& { return options_; }

  std::vector<AnyDecoderBlock> layers;  // the blocks, the first first
  std::optional<Norm> norm;             // after the last block, where the placement has one

 private:
  TransformerOptions options_;
  std::optional<DType> dtype_;  // of the parameters
  bool by_position_ = false;    // nothing but attention looks at other positions
};

}  // namespace gradus::nn
