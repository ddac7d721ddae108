#pragma once
// Placement: where the norms of a stack stand, as a value. Made from a residual connection or from blocks of
// one's own, and taken by TransformerEncoder, TransformerDecoder and GPT:
//
//   nn::Placement peri = nn::placement<PeriLN>({.name = "Peri-LN", .final_norm = true});
//   nn::GPT gpt({..., .placement = peri});
//
//   // blocks that change with depth: Mix-LN (Li et al. 2024)
//   nn::Placement mix{.name = "Mix-LN", .final_norm = true};
//   mix.block = [](const nn::BlockOptions& o) -> nn::AnyBlock {
//     if (o.layer < o.layers / 4) return nn::PostLNBlock(o);
//     return nn::PreLNBlock(o);
//   };

#include <functional>
#include <string>

#include "gradus/nn/transformer/any_block.h"
#include "gradus/nn/transformer/residual.h"

namespace gradus::nn {

struct Placement {
  std::string name = {};      // "Pre-LN", for messages, tables and files
  bool final_norm = false;    // whether the stack owns a norm after its last block
  std::string equation = {};  // of one branch, or of a block: "x + f(LN(x))", for lists
  std::string paper = {};     // where it was proposed: "Xiong et al. 2020, arXiv 2002.04745"
  /// Block options.layer of options.layers.
  std::function<AnyBlock(const BlockOptions& options)> block = {};
  /// The same for decoders; not given: not for decoders.
  std::function<AnyDecoderBlock(const BlockOptions& options)> decoder_block = {};
  /// What becomes of x [B, T, C] before the first block; not given: nothing. A placement with two streams
  /// makes them here, `[](const Tensor& x) { return stack({x, x}); }`, and its blocks take [2, B, T, C].
  std::function<Tensor(const Tensor& x)> enter = {};
  /// What stands in the final norm's place and has its keys, whatever final_norm says: makes a module from
  /// the stream to [B, T, C]. Not given: a norm as the options have it.
  std::function<Norm(const BlockOptions& options)> leave = {};
  /// Initial values of its own, set once, after those of the model: `stack` is the encoder or decoder,
  /// options are those of block 0.
  std::function<void(const Module& stack, const BlockOptions& options)> init = {};

  /// Of one name and made by the same code: one's own that calls itself "Pre-LN" is not pre_ln().
  friend bool operator==(const Placement& a, const Placement& b) {
    return a.name == b.name && a.block.target_type() == b.block.target_type() &&
           a.decoder_block.target_type() == b.decoder_block.target_type() &&
           a.enter.target_type() == b.enter.target_type() && a.leave.target_type() == b.leave.target_type();
  }
};

/// The placement of a residual connection R: the rest of it as given, with blocks and decoder blocks of R. F,
/// where given, joins the FFN, R then attention: `nn::placement<nn::PreLN, nn::PostLN>({.name = "mixed"})`.
template <ResidualConnection R, ResidualConnection F = R>
Placement placement(Placement rest = {}) {
  if (rest.name.empty()) rest.name = detail::name_of<R, F>();
  rest.block = [](const BlockOptions& options) { return Block<R, F>(options); };
  rest.decoder_block = [](const BlockOptions& options) { return DecoderBlock<R, F>(options); };
  return rest;
}

/// x + f(LN(x)) and a final norm: PreLNBlock, PreLNDecoderBlock. The default.
Placement pre_ln();
/// LN(x + f(x)): PostLNBlock, PostLNDecoderBlock.
Placement post_ln();

}  // namespace gradus::nn
