#pragma once
// Blocks of any type, as stacks hold them.

#include "gradus/nn/module/any_module.h"
#include "gradus/nn/transformer/decoder_block.h"

namespace gradus::nn {

namespace detail {

template <class B>
concept CalledWithCache =
    std::is_invocable_r_v<Tensor, const B&, const Tensor&, const AttentionMasks&, KeyValues*> &&
    !std::is_invocable_v<const B&, const Tensor&, const AttentionMasks&,
                         bool>;  // which a pointer becomes too
template <class B>
concept CalledWithMasks = std::is_invocable_r_v<Tensor, const B&, const Tensor&, const AttentionMasks&>;
template <class B>
concept CalledWithStream = std::is_invocable_r_v<Tensor, const B&, const Tensor&>;

template <class B>
concept DecoderBlockCalledWithCache =
    std::is_invocable_r_v<Tensor, const B&, const Tensor&, const Tensor&, const DecoderMasks&, KeyValues*> &&
    !std::is_invocable_v<const B&, const Tensor&, const Tensor&, const DecoderMasks&, bool>;

void expect_no_masks(const Module& block, const AttentionMasks& masks);
/// `arguments` are those its call is to have before the cache.
[[noreturn]] void fail_without_cache(const Module& block, const char* arguments);
constexpr const char* kBlockArguments = "const Tensor& x, const AttentionMasks& masks";
constexpr const char* kDecoderBlockArguments =
    "const Tensor& x, const Tensor& memory, const DecoderMasks& masks";

template <class B>
Tensor call_block(const B& block, const Tensor& x, const AttentionMasks& masks, KeyValues* cache) {
  if constexpr (CalledWithCache<B>) {
    return block(x, masks, cache);
  } else {
    if (cache) fail_without_cache(block, kBlockArguments);
    if constexpr (CalledWithMasks<B>) {
      return block(x, masks);
    } else {
      expect_no_masks(block, masks);
      return block(x);
    }
  }
}

template <class B>
Tensor call_decoder_block(const B& block, const Tensor& x, const Tensor& memory, const DecoderMasks& masks,
                          KeyValues* cache) {
  if constexpr (DecoderBlockCalledWithCache<B>) {
    return block(x, memory, masks, cache);
  } else {
    if (cache) fail_without_cache(block, kDecoderBlockArguments);
    return block(x, memory, masks);
  }
}

template <class B>
KeyValues new_block_cache(const B& block, const char* arguments, std::int64_t batch, std::int64_t capacity) {
  if constexpr (requires { KeyValues(block.new_cache(batch, capacity)); })
    return block.new_cache(batch, capacity);
  else if constexpr (requires { KeyValues(block.self_attn.new_cache(batch, capacity)); })
    return block.self_attn.new_cache(batch, capacity);
  else
    fail_without_cache(block, arguments);
}

}  // namespace detail

/// A module that is called as block(x, masks, cache), block(x, masks) or block(x), with a stream for each.
template <class B>
concept BlockModule = std::derived_from<B, Module> &&
    (detail::CalledWithCache<B> || detail::CalledWithMasks<B> || detail::CalledWithStream<B>);

/// Any block of an encoder or a GPT: PreLNBlock, Block<R> or a module of one's own. Masks or a cache for a
/// block that takes none are an error. Its cache is what its `KeyValues new_cache(std::int64_t batch,
/// std::int64_t capacity) const` makes, or else that of its part self_attn.
class AnyBlock : public detail::AnyPart {
 public:
  template <std::derived_from<Module> B>
  requires(!std::same_as<B, AnyBlock>) AnyBlock(const B& block)
      : AnyPart(block),
        call_([](const void* any, const Tensor& x, const AttentionMasks& masks, KeyValues* cache) {
          return detail::call_block(*static_cast<const B*>(any), x, masks, cache);
        }),
        new_cache_([](const void* any, std::int64_t batch, std::int64_t capacity) {
          return detail::new_block_cache(*static_cast<const B*>(any), detail::kBlockArguments, batch,
                                         capacity);
        }) {
    static_assert(BlockModule<B>,
                  "a block is called by `Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks, "
                  "nn::KeyValues* cache) const`, or without cache, or without masks");
  }

  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValues* cache = nullptr) const {
    return report_call([&] { return call_(part_.get(), x, masks, cache); });
  }
  /// An empty cache of the shape the block needs, for generation.
  KeyValues new_cache(std::int64_t batch, std::int64_t capacity) const {
    return new_cache_(part_.get(), batch, capacity);
  }

 private:
  Tensor (*call_)(const void*, const Tensor&, const AttentionMasks&, KeyValues*);
  KeyValues (*new_cache_)(const void*, std::int64_t, std::int64_t);
};

/// Any block of a decoder: PreLNDecoderBlock, DecoderBlock<R> or a module of one's own, called as
/// block(x, memory, masks, cache) or block(x, memory, masks); its cache as of AnyBlock.
class AnyDecoderBlock : public detail::AnyPart {
 public:
  template <std::derived_from<Module> B>
  requires(!std::same_as<B, AnyDecoderBlock>) AnyDecoderBlock(const B& block)
      : AnyPart(block),
        call_([](const void* any, const Tensor& x, const Tensor& memory, const DecoderMasks& masks,
                 KeyValues* cache) {
          return detail::call_decoder_block(*static_cast<const B*>(any), x, memory, masks, cache);
        }),
        new_cache_([](const void* any, std::int64_t batch, std::int64_t capacity) {
          return detail::new_block_cache(*static_cast<const B*>(any), detail::kDecoderBlockArguments, batch,
                                         capacity);
        }) {
    static_assert(
        detail::DecoderBlockCalledWithCache<B> ||
            std::is_invocable_r_v<Tensor, const B&, const Tensor&, const Tensor&, const DecoderMasks&>,
        "a decoder block is called by `Tensor operator()(const Tensor& x, const Tensor& memory, const "
        "nn::DecoderMasks& masks, nn::KeyValues* cache) const`, or without cache");
  }

  Tensor operator()(const Tensor& x, const Tensor& memory, const DecoderMasks& masks = {},
                    KeyValues* cache = nullptr) const {
    return report_call([&] { return call_(part_.get(), x, memory, masks, cache); });
  }
  /// An empty cache of the shape the block needs, for generation.
  KeyValues new_cache(std::int64_t batch, std::int64_t capacity) const {
    return new_cache_(part_.get(), batch, capacity);
  }

 private:
  Tensor (*call_)(const void*, const Tensor&, const Tensor&, const DecoderMasks&, KeyValues*);
  KeyValues (*new_cache_)(const void*, std::int64_t, std::int64_t);
};

}  // namespace gradus::nn
