#pragma once
// A batch without its padding: how stacks leave out what no text has. See transformer.cpp.

#include <optional>

#include "gradus/core/tensor.h"
#include "gradus/ops/attention/segments.h"

namespace gradus::nn::detail {

/// The rows of a batch [B, T, C] that are no padding, [1, N, C], one text after the other.
class RealRows {
 public:
  /// Of `batch` rows of `length`; `padding`, bool [batch, length], is undefined where there is none. Nothing
  /// where it is of another shape or stands elsewhere than at the ends of rows.
  static std::optional<RealRows> of(const Tensor& padding, std::int64_t batch, std::int64_t length);

  std::int64_t count() const { return texts_.begins.back(); }             // N
  bool all() const { return count() == texts_.batch() * texts_.length; }  // no padding
  const attention::Segments& texts() const { return texts_; }
  Tensor pack(const Tensor& x) const;    // [B, T, C] -> [1, N, C]
  Tensor unpack(const Tensor& y) const;  // [1, N, C] -> [B, T, C], zeros where there is padding

 private:
  attention::Segments texts_;
  Tensor places_;  // i64 [N], of each row among B T
};

/// What attention is told of such a batch; keys are those of the queries, or of memory.
struct Packing {
  RealRows queries, keys;
  attention::TextPairs texts() const { return {queries.texts(), keys.texts()}; }
};

}  // namespace gradus::nn::detail
