#include "gradus/nn/transformer/any_block.h"

#include "gradus/core/detail/format.h"

namespace gradus::nn::detail {

void expect_no_masks(const Module& block, const AttentionMasks& masks, const char* arguments) {
  check(!masks.key_padding_mask.defined() && !masks.visible.defined() && !masks.score_bias.defined(),
        "{}: takes no masks: give it `Tensor operator()({}) const`", block.kind(), arguments);
}

void expect_no_masks(const Module& block, const DecoderMasks& masks, const char* arguments) {
  expect_no_masks(block, masks.self, arguments);
  expect_no_masks(block, masks.memory, arguments);
}

void fail_without_cache(const Module& block, const char* arguments) {
  fail_with(
      "{}: keeps no keys and values: give it `Tensor operator()({}, KeyValues* cache) const` and `KeyValues "
      "new_cache(std::int64_t batch, std::int64_t capacity) const`, or work without a cache",
      block.kind(), arguments);
}

}  // namespace gradus::nn::detail
