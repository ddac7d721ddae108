#pragma once
// Residual connections: what joins a branch to the stream. A branch f is attention or the FFN, dropout
// included; the stream x is what runs from block to block. A block is two connections, a decoder block three:
//
//   struct PeriLN : nn::Module {  // Kim et al. 2025
//     explicit PeriLN(const nn::BlockOptions& o)
//         : before(add("before", o.new_norm())), after(add("after", o.new_norm())) {}
//     Tensor operator()(const Tensor& x, const nn::Branch& f) const {
//       return x + after(f(before(x)));  // x + LN(f(LN(x)))
//     }
//     nn::Norm before, after;
//   };
//   nn::Block<PeriLN> block({.d_model = 64, .heads = 4});
//
// In a stack or a GPT: placement.h. Those of the library: ../placements.

#include <functional>

#include "gradus/nn/transformer/block.h"
#include "gradus/nn/transformer/decoder_block.h"

namespace gradus::nn {

/// What a connection joins to the stream: [B, T, C] -> [B, T, C]. Called once: with a cache, the attention
/// takes each position in with its call.
using Branch = std::function<Tensor(const Tensor&)>;

/// A module made from a block's options and called with the stream and a branch; it returns the stream.
// Compilers quote the line that is not met, so each says what it asks for.
template <class R>
concept ResidualConnection = std::derived_from<R, Module> &&  // struct R : nn::Module
    std::constructible_from<R, const BlockOptions&> &&        // explicit R(const nn::BlockOptions&)
    std::is_invocable_r_v<Tensor, const R&, const Tensor&, const Branch&>;  // Tensor operator()(x, f) const

namespace detail {
/// "PreLN", or "PreLNPostLN" of two that differ.
template <class R, class F>
std::string name_of() {
  return std::same_as<R, F> ? short_name(typeid(R)) : short_name(typeid(R)) + short_name(typeid(F));
}
}  // namespace detail

/// A block of two residual connections, registered as "norm1" and "norm2": `nn::Block<nn::PreLN>` has the
/// keys and the numbers of nn::PreLNBlock. F, where given, joins the FFN, R then attention alone.
/// x [B, T, C], or whatever the connections take for the stream.
template <ResidualConnection R, ResidualConnection F = R>
struct Block : BlockBranches {
  explicit Block(const BlockOptions& options) : Block(options, R(options), F(options)) {}
  /// Of connections that take more than a block's options.
  Block(const BlockOptions& options, const R& first, const F& second)
      : BlockBranches(detail::name_of<R, F>() + "Block", options),
        residual1(add("norm1", first)),
        residual2(add("norm2", second)) {}

  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValues* cache = nullptr) const {
    const Scope scope(path());
    const Tensor h = residual1(x, [&](const Tensor& y) { return dropout1(self_attn(y, masks, cache)); });
    return report(residual2(h, [&](const Tensor& y) { return dropout2(ffn(y)); }));
  }

  R residual1;  // around attention
  F residual2;  // around the FFN
};

/// The same with the attention over memory between the two, and three connections.
template <ResidualConnection R, ResidualConnection F = R>
struct DecoderBlock : DecoderBranches {
  explicit DecoderBlock(const BlockOptions& options)
      : DecoderBlock(options, R(options), R(options), F(options)) {}
  DecoderBlock(const BlockOptions& options, const R& first, const R& second, const F& third)
      : DecoderBranches(detail::name_of<R, F>() + "DecoderBlock", options),
        residual1(add("norm1", first)),
        residual2(add("norm2", second)),
        residual3(add("norm3", third)) {}

  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {},
                    KeyValues* cache = nullptr) const {
    const Scope scope(path());
    const Tensor h = residual1(x, [&](const Tensor& y) { return dropout1(self_attn(y, masks.self, cache)); });
    const Tensor g = residual2(
        h, [&](const Tensor& y) { return dropout2(multihead_attn(y, memory, masks.memory, cache)); });
    return report(residual3(g, [&](const Tensor& y) { return dropout3(ffn(y)); }));
  }

  R residual1, residual2;  // around both attentions
  F residual3;             // around the FFN
};

}  // namespace gradus::nn
