#pragma once
// Attention over texts of different lengths without padding: the texts of a batch are concatenated.

#include <cstdint>
#include <vector>

#include "gradus/ops/ops.h"

namespace gradus::attention {

/// Position of each text in the rows of [1, H, N, D]: text b is rows begins[b] .. begins[b + 1] - 1. Padded
/// to `length` rows each they would be [B, H, length, D].
struct Segments {
  std::vector<std::int64_t> begins = {};  // [B + 1], from 0 to N; empty: there are no segments
  std::int64_t length = 0;

  explicit operator bool() const { return !begins.empty(); }
  std::int64_t batch() const { return std::ssize(begins) - 1; }
  std::int64_t begin(std::int64_t b) const { return begins[static_cast<std::size_t>(b)]; }
  std::int64_t size(std::int64_t b) const { return begin(b + 1) - begin(b); }
};

/// The texts of the queries, and those of the keys they look at.
struct TextPairs {
  Segments queries, keys;
};

/// scaled_dot_product_attention of q [1, H, N, D] and k, v [1, Hkv, Nk, D]: rows of one text see keys of the
/// same number only. Masks and positions are those of the batch filled up: a mask broadcasts to
/// [B, H, queries.length, keys.length].
Tensor attend_in_segments(const Tensor& q, const Tensor& k, const Tensor& v, const TextPairs& texts,
                          const AttentionOptions& options);
/// self_attention_packed of qkv [1, N, 3 C] -> [1, N, C] in the same way.
Tensor self_attend_in_segments(const Tensor& qkv, std::int64_t heads, const Segments& texts,
                               const AttentionOptions& options);

}  // namespace gradus::attention
