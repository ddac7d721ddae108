#pragma once
// Stacks of blocks, with the rule for the final norm: the output of a Pre-LN stack is a sum nobody has
// normalised, so the stack owns a norm after its last block; a Post-LN block ends with one already.
// Keys: layers.0.*, layers.1.*, ..., norm.* (PyTorch's nn.TransformerEncoder and nn.TransformerDecoder).

#include <optional>
#include <variant>
#include <vector>

#include "gradus/nn/transformer/block.h"
#include "gradus/nn/transformer/decoder_block.h"

namespace gradus::nn {

/// Where the norms stand.
enum class Placement { pre, post };

struct TransformerEncoderOptions {
  std::int64_t layers = 0;
  Placement placement = Placement::pre;
  BlockOptions block = {};
  std::optional<bool> final_norm = {};  // not given: Pre-LN has one, Post-LN has none
  bool checkpoint =
      false;  // keep only each block's input for backward and run the block again: see checkpoint()
};

/// Blocks of self-attention, x [B, T, C] -> [B, T, C].
/// `nn::TransformerEncoder encoder({.layers = 6, .block = {.d_model = 64, .heads = 4}});`
struct TransformerEncoder : Module {
  using Block = std::variant<PreLNBlock, PostLNBlock>;

  explicit TransformerEncoder(const TransformerEncoderOptions& options);
  /// With a cache, for causal blocks, x follows the positions it holds: see MultiheadAttention.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValueCache* cache = nullptr) const;
  /// An empty cache for `batch` sequences of at most `capacity` positions.
  KeyValueCache new_cache(std::int64_t batch, std::int64_t capacity) const;
  /// What block i is made of, whichever kind it is: `encoder.parts(0).ffn.linear2.weight`
  const BlockParts& parts(std::size_t i) const;

  std::vector<Block> layers;
  std::optional<LayerNorm> norm;

 private:
  bool checkpoint_;
};

struct TransformerDecoderOptions {
  std::int64_t layers = 0;
  Placement placement = Placement::pre;
  DecoderBlockOptions block = {};
  std::optional<bool> final_norm = {};  // not given: Pre-LN has one, Post-LN has none
  bool checkpoint =
      false;  // keep only each block's input for backward and run the block again: see checkpoint()
};

/// Blocks of self-attention and attention over memory: x [B, T, C], memory [B, Tm, C] -> [B, T, C].
struct TransformerDecoder : Module {
  using Block = std::variant<PreLNDecoderBlock, PostLNDecoderBlock>;

  explicit TransformerDecoder(const TransformerDecoderOptions& options);
  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {}) const;
  const DecoderBlockParts& parts(std::size_t i) const;

  std::vector<Block> layers;
  std::optional<LayerNorm> norm;

 private:
  bool checkpoint_;
};

}  // namespace gradus::nn
