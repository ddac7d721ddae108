#pragma once
// Prediction from the last few characters alone: the baseline a Transformer has to beat.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace gradus::lab {

/// An n-gram model: counts of each character after each of the n-1 characters before it, smoothed by mixing
/// in the model of the next shorter context (Witten and Bell 1991, method C):
///   p(c | h) = (count(h c) + types(h) p(c | shorter h)) / (count(h) + types(h))
/// types(h) is the number of different characters seen after h; the shortest model is uniform.
class Ngram {
 public:
  /// n = 1 looks at no character before. Throws when vocabulary^n exceeds 64 bits.
  Ngram(int n, std::int64_t vocabulary);

  int n() const { return n_; }
  /// Counts a text. Its first character is context only: a document's newline is given, not predicted.
  void learn(std::span<const std::int32_t> text);
  /// Probability of `next` after `before` (only the last n-1 characters count).
  double probability(std::span<const std::int32_t> before, std::int32_t next) const;
  /// Mean of -ln p over the characters of a text but the first, in nats.
  double loss(std::span<const std::int32_t> text) const;

 private:
  struct Context {
    std::int64_t count = 0;
    std::int64_t types = 0;
  };
  // For one length of context; contexts and characters are read as digits of a number in base `vocabulary`.
  struct Counts {
    std::unordered_map<std::uint64_t, Context> contexts;
    std::unordered_map<std::uint64_t, std::int64_t> followers;
  };

  int n_;
  std::uint64_t vocabulary_;
  std::vector<Counts> counts_;  // by length of context, 0 .. n-1
};

struct NgramBaseline {
  int n = 0;                   // the best n of those tried
  double loss = 0;             // its loss on the held-out text
  std::vector<double> losses;  // of n = 1, 2, ...
};

/// Learns n = 1 .. largest_n on `train` and measures each on `held_out`. Both hold texts of any length, such
/// as documents; losses are means over all predicted characters.
NgramBaseline best_ngram(std::span<const std::vector<std::int32_t>> train,
                         std::span<const std::vector<std::int32_t>> held_out, std::int64_t vocabulary,
                         int largest_n = 4);

}  // namespace gradus::lab
