#pragma once
// A batch without its padding: stacks compute only the rows that contain text. See transformer.cpp.

#include <optional>

#include "gradus/core/tensor.h"
#include "gradus/ops/attention/segments.h"

namespace gradus::nn::detail {

/// The rows of a batch [B, T, C] that are not padding, [1, N, C], one text after the other.
class RealRows {
 public:
  /// Of `batch` rows of `length`; `padding`, bool [batch, length], is undefined if there is none. nullopt if
  /// it has another shape or is not only at the ends of rows.
  static std::optional<RealRows> of(const Tensor& padding, std::int64_t batch, std::int64_t length);

  std::int64_t count() const { return texts_.begins.back(); }             // N
  bool all() const { return count() == texts_.batch() * texts_.length; }  // no padding
  const attention::Segments& texts() const { return texts_; }
  Tensor pack(const Tensor& x) const;    // [B, T, C] -> [1, N, C]
  Tensor unpack(const Tensor& y) const;  // [1, N, C] -> [B, T, C], zeros in padding

 private:
  attention::Segments texts_;
  Tensor places_;  // i64 [N], of each row among B T
};

/// Describes such a batch to attention; the keys come from the rows of the queries, or from memory.
struct Packing {
  RealRows queries, keys;
  attention::TextPairs texts() const { return {queries.texts(), keys.texts()}; }
};

}  // namespace gradus::nn::detail
