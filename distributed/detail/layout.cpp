#include "gradus/distributed/detail/layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gradus/optim/clip.h"

namespace gradus::distributed::detail {

Layout::Layout(const std::vector<Tensor>& parameters, std::int64_t bucket_bytes, int ranks)
    : places_(parameters.size()) {
  std::vector<std::int64_t> sizes;
  std::array<std::size_t, 2> open{};  // one past the bucket that is being filled, of f32 and f64; 0: none
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const Tensor& parameter = parameters[i];
    const auto bytes = static_cast<std::int64_t>(size_of(parameter.dtype()));
    std::size_t& last = open[parameter.dtype() == f64 ? 1 : 0];
    if (last == 0 || (sizes[last - 1] + parameter.numel()) * bytes > bucket_bytes) {
      buckets_.push_back({parameter.dtype(), {}, {}});
      sizes.push_back(0);
      last = buckets_.size();
    }
    std::int64_t& size = sizes[last - 1];
    buckets_[last - 1].parameters.push_back(i);
    places_[i] = {last - 1, {size, size + parameter.numel()}};
    size += parameter.numel();
  }
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    std::vector<std::int64_t> cuts;
    for (const std::size_t i : buckets_[b].parameters)
      for (std::int64_t at = places_[i].range.begin; at < places_[i].range.end; at += optim::kNormBlock)
        cuts.push_back(at);
    buckets_[b].slices = Slices(sizes[b], ranks, std::move(cuts), /*anywhere=*/false);
  }
}

Range Layout::own(std::size_t parameter, int rank) const {
  const Place& place = places_[parameter];
  const Range slice = buckets_[place.bucket].slices.of(rank);
  const std::int64_t begin = std::clamp(slice.begin, place.range.begin, place.range.end);
  const std::int64_t end = std::clamp(slice.end, begin, place.range.end);
  return {begin - place.range.begin, end - place.range.begin};
}

}  // namespace gradus::distributed::detail
