#pragma once
// Source: items, and the making of a batch from some of them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gradus/data/loader.h"

namespace gradus::data::detail {

/// The generator of the item (epoch, index), or, for index -1, of the epoch's order.
Generator generator_of(std::uint64_t seed, std::int64_t epoch, std::int64_t index);

class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t items() const = 0;
  virtual std::size_t parts() const = 0;
  /// Whether items may depend on (seed, epoch).
  virtual bool draws() const = 0;
  /// Of the data, as far as it is known.
  virtual std::string fingerprint() const { return ""; }
  struct Draw {
    std::uint64_t seed;
    std::int64_t epoch;
  };
  /// The batch of the items `ids` (i64). Once `stop` is set, the result is no longer needed.
  virtual std::vector<Tensor> batch(const Array& ids, Draw draw, const std::atomic<bool>& stop) const = 0;
};

/// Rows of tensors with equal first axes.
std::unique_ptr<const Source> tensor_source(std::span<const Tensor> tensors);
/// Stacks the items of a function; pads them unless `pad` is empty.
std::unique_ptr<const Source> function_source(std::int64_t items, std::size_t parts, ItemFunction function,
                                              std::vector<Scalar> pad);

}  // namespace gradus::data::detail
