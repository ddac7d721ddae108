#pragma once
// Blocks of any type, as stacks hold them.

#include "gradus/nn/module/any_module.h"
#include "gradus/nn/transformer/decoder_block.h"

namespace gradus::nn {

namespace detail {

// How a block is called: of an encoder block(x, masks, cache), of a decoder block(x, memory, masks, cache),
// or without the cache, or without the masks.
template <class B, class Masks, class... Memory>
concept CalledWithCache =
    std::is_invocable_r_v<Tensor, const B&, const Tensor&, const Memory&..., const Masks&, KeyValues*> &&
    !std::is_invocable_v<const B&, const Tensor&, const Memory&..., const Masks&,
                         bool>;  // which a pointer becomes too
template <class B, class Masks, class... Memory>
concept CalledWithMasks =
    std::is_invocable_r_v<Tensor, const B&, const Tensor&, const Memory&..., const Masks&>;
template <class B, class... Memory>
concept CalledWithStream = std::is_invocable_r_v<Tensor, const B&, const Tensor&, const Memory&...>;

// `arguments` are those its call is to have before the cache.
void expect_no_masks(const Module& block, const AttentionMasks& masks, const char* arguments);
void expect_no_masks(const Module& block, const DecoderMasks& masks, const char* arguments);
[[noreturn]] void fail_without_cache(const Module& block, const char* arguments);

}  // namespace detail

/// A module that is called as block(x, masks, cache), block(x, masks) or block(x), with a stream for each;
/// in a decoder, BlockModule<B, DecoderMasks, Tensor>, with memory after x.
template <class B, class Masks = AttentionMasks, class... Memory>
concept BlockModule = std::derived_from<B, Module> &&
    (detail::CalledWithCache<B, Masks, Memory...> || detail::CalledWithMasks<B, Masks, Memory...> ||
     detail::CalledWithStream<B, Memory...>);

/// AnyBlock and AnyDecoderBlock.
template <class Masks, class... Memory>
class AnyBlockOf : public detail::AnyPart {
 public:
  template <std::derived_from<Module> B>
  requires(!std::same_as<B, AnyBlockOf>) AnyBlockOf(const B& block)
      : AnyPart(block), call_(&call<B>), new_cache_(&new_cache_of<B>) {
    static_assert(sizeof...(Memory) == 1 || BlockModule<B, Masks, Memory...>,
                  "a block is called by `Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks, "
                  "nn::KeyValues* cache) const`, or without cache, or without masks");
    static_assert(
        sizeof...(Memory) == 0 || BlockModule<B, Masks, Memory...>,
        "a decoder block is called by `Tensor operator()(const Tensor& x, const Tensor& memory, const "
        "nn::DecoderMasks& masks, nn::KeyValues* cache) const`, or without cache, or without masks");
  }

  Tensor operator()(const Tensor& x, const Memory&... memory, const Masks& masks = {},
                    KeyValues* cache = nullptr) const {
    return report_call([&] { return call_(part_.get(), x, memory..., masks, cache); });
  }
  /// An empty cache of the shape the block needs, for generation.
  KeyValues new_cache(std::int64_t batch, std::int64_t capacity) const {
    return new_cache_(part_.get(), batch, capacity);
  }

 private:
  static constexpr const char* kArguments =
      sizeof...(Memory) == 0 ? "const Tensor& x, const AttentionMasks& masks"
                             : "const Tensor& x, const Tensor& memory, const DecoderMasks& masks";

  template <class B>
  static Tensor call(const void* any, const Tensor& x, const Memory&... memory, const Masks& masks,
                     KeyValues* cache) {
    const B& block = *static_cast<const B*>(any);
    if constexpr (detail::CalledWithCache<B, Masks, Memory...>) {
      return block(x, memory..., masks, cache);
    } else {
      if (cache) detail::fail_without_cache(block, kArguments);
      if constexpr (detail::CalledWithMasks<B, Masks, Memory...>) {
        return block(x, memory..., masks);
      } else {
        detail::expect_no_masks(block, masks, kArguments);
        return block(x, memory...);
      }
    }
  }

  template <class B>
  static KeyValues new_cache_of(const void* any, std::int64_t batch, std::int64_t capacity) {
    const B& block = *static_cast<const B*>(any);
    if constexpr (requires { KeyValues(block.new_cache(batch, capacity)); })
      return block.new_cache(batch, capacity);
    else if constexpr (requires { KeyValues(block.self_attn.new_cache(batch, capacity)); })
      return block.self_attn.new_cache(batch, capacity);
    else
      detail::fail_without_cache(block, kArguments);
  }

  Tensor (*call_)(const void*, const Tensor&, const Memory&..., const Masks&, KeyValues*);
  KeyValues (*new_cache_)(const void*, std::int64_t, std::int64_t);
};

/// Any block of an encoder or a GPT: PreLNBlock, Block<R> or a module of your own, called as
/// block(x, masks, cache), block(x, masks) or block(x). Masks or a cache for a block that takes none are an
/// error. Its cache is what its `KeyValues new_cache(std::int64_t batch, std::int64_t capacity) const` makes,
/// or else that of its part self_attn.
using AnyBlock = AnyBlockOf<AttentionMasks>;

/// Any block of a decoder: PreLNDecoderBlock, DecoderBlock<R> or a module of your own, called as an AnyBlock
/// with memory after x.
using AnyDecoderBlock = AnyBlockOf<DecoderMasks, Tensor>;

}  // namespace gradus::nn
