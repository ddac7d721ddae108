#pragma once
// Learns a vocabulary: repeatedly merges the most frequent pair of symbols into one symbol.

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace gradus::text::detail {

using Symbol = std::int32_t;

struct CountedWord {
  std::vector<Symbol> symbols;
  std::int64_t count = 0;
};

class MergeLearner {
 public:
  using Pair = std::array<Symbol, 2>;

  MergeLearner(std::vector<CountedWord> words, std::int64_t min_frequency);

  /// The most frequent pair, of equally frequent ones that with the smaller symbols; false if none is left.
  bool next(Pair& pair);
  /// Replaces the pair by one symbol in all words.
  void merge(const Pair& pair, Symbol merged);

 private:
  struct Known {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  // that contain it, or contained it
  };
  struct Candidate {
    std::int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {  // the queue returns the largest first
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };
  struct Hash {
    std::size_t operator()(const Pair& pair) const {
      const auto both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair[0])) << 32 |
                        static_cast<std::uint32_t>(pair[1]);
      return (both ^ both >> 29) * 0x9E3779B97F4A7C15u >> 7;
    }
  };

  void change(const Pair& pair, std::int64_t by, std::uint32_t word);
  void merge_in(std::uint32_t word, const Pair& pair, Symbol merged);

  std::vector<CountedWord> words_;
  std::int64_t min_frequency_;
  std::unordered_map<Pair, Known, Hash> pairs_;
  std::priority_queue<Candidate> queue_;
  std::vector<Pair> grown_;  // pairs that the current merge made more frequent
};

}  // namespace gradus::text::detail
