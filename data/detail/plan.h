#pragma once
// Plan: the items of each batch of an epoch.

#include <cstdint>
#include <utility>
#include <vector>

#include "gradus/core/array/array.h"
#include "gradus/core/random/random.h"

namespace gradus::data {
struct DataLoaderOptions;
}

namespace gradus::data::detail {

/// Depends only on the number of items, their lengths, the options and the generator.
class Plan {
 public:
  /// `lengths`: of every item; empty if the options have no `length`.
  Plan(std::int64_t items, const std::vector<std::int64_t>& lengths, const DataLoaderOptions& options,
       Generator order);

  /// The number of batches.
  std::int64_t size() const { return size_; }
  /// The items of a batch, i64.
  Array batch(std::int64_t number) const;

 private:
  using Range = std::pair<std::int64_t, std::int64_t>;
  void cut_by_length(const std::vector<std::int64_t>& lengths, const DataLoaderOptions& options);

  std::int64_t items_, batch_size_, size_;
  Array order_;                 // undefined: 0, 1, 2, ...
  std::vector<Range> batches_;  // ranges of the order; empty: consecutive ranges of batch_size_
};

}  // namespace gradus::data::detail
