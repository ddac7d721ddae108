#pragma once
// Layout: where each parameter lies in flat arrays, the buckets, which are summed one by one. Buckets are
// filled from the last parameter to the first, in about the order in which backward completes the gradients
// (Li et al. 2020, "PyTorch distributed: experiences on accelerating data parallel training", section 3.2.3).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gradus/core/tensor.h"
#include "gradus/distributed/detail/slices.h"

namespace gradus::distributed::detail {

struct Bucket {
  DType dtype;
  std::vector<std::size_t> parameters;  // in order of their places
  Slices slices;                        // of each rank; they cut a parameter only between blocks of its norm
};

/// A parameter's elements in its bucket.
struct Place {
  std::size_t bucket = 0;
  Range range = {};
};

class Layout {
 public:
  Layout(const std::vector<Tensor>& parameters, std::int64_t bucket_bytes, int ranks);

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const Place& place(std::size_t parameter) const { return places_[parameter]; }
  /// The elements of a parameter that lie in a rank's slice; perhaps none.
  Range own(std::size_t parameter, int rank) const;

 private:
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;
};

}  // namespace gradus::distributed::detail
