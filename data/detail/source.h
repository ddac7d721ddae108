#pragma once
// Where items come from, and how some of them become a batch.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gradus/data/loader.h"

namespace gradus::data::detail {

/// The numbers of the item (epoch, index), or, for index -1, of the epoch's order.
Generator numbers_of(std::uint64_t seed, std::int64_t epoch, std::int64_t index);

class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t items() const = 0;
  virtual std::size_t parts() const = 0;
  /// Whether items may depend on (seed, epoch).
  virtual bool draws() const = 0;
  struct Draw {
    std::uint64_t seed;
    std::int64_t epoch;
  };
  /// The batch of the items `ids` (i64). Once `stop` is set nobody wants it any more.
  virtual std::vector<Tensor> batch(const Array& ids, Draw draw, const std::atomic<bool>& stop) const = 0;
};

/// Rows of tensors of one first axis.
std::unique_ptr<const Source> tensor_source(std::span<const Tensor> tensors);
/// Items of a function, stacked; padded where there is something to pad with.
std::unique_ptr<const Source> function_source(std::int64_t items, std::size_t parts, ItemFunction function,
                                              std::vector<Scalar> pad);

}  // namespace gradus::data::detail
