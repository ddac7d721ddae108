#pragma once
// pad_batch: texts of different lengths as one batch.

#include <cstdint>
#include <span>

#include "gradus/core/tensor.h"
#include "gradus/text/tokenizer.h"

namespace gradus::text {

/// Rows padded to one length, and a mask of the padding.
struct PaddedBatch {
  Tensor ids;      // i64 [B, T]
  Tensor padding;  // bool [B, T], true at padding
};

/// Stacks the ids of B texts, padded at their ends to the length of the longest, T. Throws if there are no
/// texts, or all are empty.
///
///   const std::vector<text::Ids> rows{bert->encode_pair("Who?").ids, bert->encode_pair("Nobody.").ids};
///   const auto [ids, padding] = text::pad_batch(rows, *bert->special().pad);
///   const Tensor hidden = model(ids, {.padding = padding});
PaddedBatch pad_batch(std::span<const Ids> rows, std::int64_t pad);

}  // namespace gradus::text
