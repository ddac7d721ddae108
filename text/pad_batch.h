#pragma once
// Texts of different lengths as one batch.

#include <cstdint>
#include <span>

#include "gradus/core/tensor.h"
#include "gradus/text/tokenizer.h"

namespace gradus::text {

/// Rows of one length, and which of it is none of theirs.
struct PaddedBatch {
  Tensor ids;      // i64 [B, T]
  Tensor padding;  // bool [B, T], true where a row was filled up
};

/// The ids of B texts side by side, filled up at their ends to the length of the longest, T. Throws where
/// there are none, or all are empty.
///
///   const std::vector<text::Ids> rows{bert->encode_pair("Who?").ids, bert->encode_pair("Nobody.").ids};
///   const auto [ids, padding] = text::pad_batch(rows, *bert->special().pad);
///   const Tensor hidden = model(ids, {.padding = padding});
PaddedBatch pad_batch(std::span<const Ids> rows, std::int64_t pad);

}  // namespace gradus::text
