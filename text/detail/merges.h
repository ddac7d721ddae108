#pragma once
// Merges: the second half of BPE, which merges pairs of tokens within a word.

#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace gradus::text::detail {

class Merges {
 public:
  struct To {
    std::int32_t rank = 0, id = 0;
  };

  /// Adds the next merge: left and right become `result`. A pair that was added before keeps its first merge.
  void add(std::int32_t left, std::int32_t right, std::int32_t result) {
    to_.try_emplace(key(left, right), To{static_cast<std::int32_t>(pairs_.size()), result});
    pairs_.push_back({left, right});
  }
  /// All pairs, in order.
  const std::vector<std::array<std::int32_t, 2>>& pairs() const { return pairs_; }

  /// Merges a word's tokens in place: repeatedly the pair with the earliest merge, the leftmost of equal
  /// ones. n log n in its length.
  void apply(std::vector<std::int32_t>& word) const;

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
  }
  struct Hash {
    std::size_t operator()(std::uint64_t pair) const {
      return (pair ^ pair >> 29) * 0x9E3779B97F4A7C15u >> 7;
    }
  };
  const To* find(std::int32_t left, std::int32_t right) const {
    const auto at = to_.find(key(left, right));
    return at == to_.end() ? nullptr : &at->second;
  }

  std::unordered_map<std::uint64_t, To, Hash> to_;
  std::vector<std::array<std::int32_t, 2>> pairs_;
};

}  // namespace gradus::text::detail
