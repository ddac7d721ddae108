#pragma once
// ShardSums: the lower part of the tree, inside a rank. Its shards come one after the other, and their sums
// wait like the digits of a binary counter: after 6 shards, (s0 + s1) + (s2 + s3) and s4 + s5. So at most
// log2 of the number of shards wait, beside the one that is being added.

#include <cstddef>
#include <utility>
#include <vector>

#include "gradus/core/array/array.h"

namespace gradus::distributed::detail {

class ShardSums {
 public:
  /// The arrays of the next shard, which become this object's. One that is undefined counts as 0.
  void add(std::vector<Array> shard) {
    int level = 0;
    for (; !waiting_.empty() && waiting_.back().level == level; ++level) {
      std::vector<Array>& left = waiting_.back().sums;
      for (std::size_t i = 0; i < shard.size(); ++i) shard[i] = sum(std::move(left[i]), shard[i]);
      waiting_.pop_back();
    }
    waiting_.push_back({level, std::move(shard)});
  }

  /// Array i's sum over all shards, given the last shard's. Once for each i, when 2^k - 1 shards were added.
  Array with_last(std::size_t i, Array last) {
    for (auto left = waiting_.rbegin(); left != waiting_.rend(); ++left)
      last = sum(std::move(left->sums[i]), last);
    return last;
  }

 private:
  struct Sums {
    int level;  // of 2^level shards
    std::vector<Array> sums;
  };

  /// Of 0 and 0 undefined; otherwise the 0 is added, since -0 + 0 is 0.
  static Array sum(Array left, const Array& right) {
    if (!left.defined() && !right.defined()) return left;
    if (!left.defined()) left = Array::zeros(right.shape(), right.dtype());
    if (!left.owns_exclusively()) left = left.clone();
    left.add_(right.defined() ? right : Array::zeros(left.shape(), left.dtype()));
    return left;
  }

  std::vector<Sums> waiting_;
};

}  // namespace gradus::distributed::detail
