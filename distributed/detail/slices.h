#pragma once
// Slices: which elements of an array each rank owns while the tree sums it. At level 0 every rank has all
// elements; at each level, a rank and its partner rank ^ 2^level share what they have had so far, the one
// whose bit is 0 keeping the lower half. After the last level each element has one owner; in order of
// elements, owners are 0, 4, 2, 6, 1, 5, 3, 7 for 8 ranks.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace gradus::distributed::detail {

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

class Slices {
 public:
  Slices() = default;
  /// Of n elements for a power of two of ranks. With `cuts`, in ascending order, slices begin and end at one
  /// of these, at 0 or at n: halves are then equal only as far as these allow.
  Slices(std::int64_t n, int ranks, std::vector<std::int64_t> cuts = {}, bool anywhere = true)
      : n_(n),
        levels_(std::countr_zero(static_cast<unsigned>(ranks))),
        cuts_(std::move(cuts)),
        anywhere_(anywhere) {}

  std::int64_t size() const { return n_; }
  int levels() const { return levels_; }
  /// What the rank owns at a level.
  Range of(int rank, int level) const {
    Range range{0, n_};
    for (int l = 0; l < level; ++l) {
      const std::int64_t middle = split(range);
      ((rank >> l) % 2 == 1 ? range.begin : range.end) = middle;
    }
    return range;
  }
  /// What the rank owns in the end.
  Range of(int rank) const { return of(rank, levels_); }

 private:
  std::int64_t split(const Range& range) const {
    const std::int64_t middle = range.begin + range.size() / 2;
    if (anywhere_) return middle;
    const auto after = std::lower_bound(cuts_.begin(), cuts_.end(), middle);
    const std::int64_t above = after == cuts_.end() ? range.end : std::min(*after, range.end);
    const std::int64_t below =
        after == cuts_.begin() ? range.begin : std::max(*std::prev(after), range.begin);
    return above - middle < middle - below ? above : below;
  }

  std::int64_t n_ = 0;
  int levels_ = 0;
  std::vector<std::int64_t> cuts_;
  bool anywhere_ = true;
};

}  // namespace gradus::distributed::detail
