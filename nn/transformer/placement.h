#pragma once
// Placement: where the norms of a stack are, as a value. Made from a residual connection or from blocks of
// your own, and taken by TransformerEncoder, TransformerDecoder and every model:
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
//
// Those of the library: placements/placements.h.

#include <functional>
#include <string>
#include <vector>

#include "gradus/nn/transformer/any_block.h"
#include "gradus/nn/transformer/residual.h"

namespace gradus::nn {

namespace detail {
/// A function of a placement. It knows the library's placement that it belongs to; a function that replaces
/// it belongs to none.
template <class Signature>
struct PlacementFunction : std::function<Signature> {
  PlacementFunction() = default;
  PlacementFunction(std::nullptr_t) {}
  template <class F>
  requires(!std::derived_from<std::remove_cvref_t<F>, PlacementFunction> &&
           std::constructible_from<std::function<Signature>, F>) PlacementFunction(F&& f)
      : std::function<Signature>(std::forward<F>(f)) {}

  std::string owner = {};  // "Pre-LN"; empty: not the library's
};

/// Whether functions belong together: none of them has been replaced since the placement was made.
template <class First, class... Rest>
bool same_owner(const First& first, const Rest&... rest) {
  return ((rest.owner == first.owner) && ...);
}
}  // namespace detail

/// How a branch joins the stream, for drawings and figures; LN(x + f(x)): `{.branch = {"f"}, .after = "LN"}`
struct Joining {
  std::vector<std::string> branch = {};  // from the stream to the sum: {"LN", "f"}
  std::string shortcut = {};             // a factor on the shortcut: "a"
  std::string after = {};                // on the stream after the sum: "LN"
  std::string equation = {};             // of this one, where they differ
};

struct Placement {
  std::string name = {};      // "Pre-LN", for messages, tables and files
  bool final_norm = false;    // whether the stack owns a norm after its last block
  std::string equation = {};  // of one branch, or of a block: "x + f(LN(x))", for lists
  std::string paper = {};     // where it was proposed: "Xiong et al. 2020, arXiv 2002.04745"
  /// Block options.layer of options.layers.
  detail::PlacementFunction<AnyBlock(const BlockOptions& options)> block = {};
  /// The same for decoders; not given: not for decoders.
  detail::PlacementFunction<AnyDecoderBlock(const BlockOptions& options)> decoder_block = {};
  /// What becomes of x [B, T, C] before the first block; not given: nothing. A placement with two streams
  /// makes them here, `[](const Tensor& x) { return stack({x, x}); }`, and its blocks take [2, B, T, C].
  detail::PlacementFunction<Tensor(const Tensor& x)> enter = {};
  /// Replaces the final norm under its keys, whatever final_norm says: makes a module from the stream to
  /// [B, T, C]. Not given: a norm as the options have it.
  detail::PlacementFunction<Norm(const BlockOptions& options)> leave = {};
  /// Initial values of the placement, set once, after those of the model: `stack` is the encoder or decoder,
  /// options are those of block 0.
  std::function<void(const Module& stack, const BlockOptions& options)> init = {};
  /// Initial values that need a batch, set by prepare_(): `forward` runs the model on one.
  std::function<void(const Module& model, const std::function<void()>& forward)> prepare = {};
  /// The placement of a model with encoder and decoder, where its numbers depend on both depths.
  std::function<Placement(std::int64_t encoder_layers, std::int64_t decoder_layers)> of_both = {};
  /// Nothing but attention (and the norm) looks at other positions: stacks may leave padding out.
  bool by_position = false;
  bool by_layer = false;                  // blocks differ with options.layer
  std::vector<std::string> aliases = {};  // other names: {"Sandwich-LN"}
  /// Of every branch, or of attention and of the FFN; where blocks differ, of the first and the later ones.
  /// Empty: this form cannot express it.
  std::vector<Joining> joinings = {};

  /// Of one name, and both the library's or neither: your own that calls itself "Pre-LN" is not pre_ln(), nor
  /// is a copy of pre_ln() whose block you have replaced.
  friend bool operator==(const Placement& a, const Placement& b) {
    return a.name == b.name && a.block.owner == b.block.owner &&
           a.decoder_block.owner == b.decoder_block.owner && a.enter.owner == b.enter.owner &&
           a.leave.owner == b.leave.owner;
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

/// Sets the initial values that a model's placement measures on a batch (Admin's shortcuts), before training.
/// forward() runs the model once; with other placements it is not called, and nothing changes. Returns
/// whether it was called: `nn::prepare_(gpt, [&] { gpt.loss(ids, targets); });`
template <class Model>
bool prepare_(const Model& model, const std::function<void()>& forward) {
  const auto& prepare = model.options().placement.prepare;
  if (prepare) prepare(model, forward);
  return static_cast<bool>(prepare);
}

}  // namespace gradus::nn
