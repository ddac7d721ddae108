#pragma once
// Which items make up which batch of an epoch.

#include <cstdint>
#include <utility>
#include <vector>

#include "gradus/core/array/array.h"
#include "gradus/core/random/random.h"

namespace gradus::data {
struct DataLoaderOptions;
}

namespace gradus::data::detail {

/// A pure function of the items' number and lengths, the options and the generator.
class Plan {
 public:
  /// `lengths`: of every item, or none where the options have no `length`.
  Plan(std::int64_t items, const std::vector<std::int64_t>& lengths, const DataLoaderOptions& options,
       Generator order);

  /// Batches.
  std::int64_t size() const { return size_; }
  /// The items of a batch, i64.
  Array batch(std::int64_t number) const;

 private:
  using Range = std::pair<std::int64_t, std::int64_t>;
  void cut_by_length(const std::vector<std::int64_t>& lengths, const DataLoaderOptions& options);

  std::int64_t items_, batch_size_, size_;
  Array order_;                 // undefined: 0, 1, 2, ...
  std::vector<Range> batches_;  // parts of the order; none: each of batch_size_, side by side
};

}  // namespace gradus::data::detail
