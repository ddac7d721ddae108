#pragma once
// Recall over a distance: pairs of a key and a value, a long stretch of noise, then questions.
//
//   k3v1 k0v5 ... k7v2   noise noise ... noise   k0? k7? k0? ...
//
// A pair is one token, so one look back answers a question: the target of "k0?" is the token k0v5. The noise
// in between does not help. A reader that does not look back knows the key but not the value, ln(values) nats
// per question; one that does has no loss. Only questions have targets.

#include <cstdint>

#include "gradus/core/random/random.h"
#include "lab/training/recall_language.h"

namespace gradus::lab {

struct FarRecallOptions {
  std::int64_t keys = 4;  // each is in one pair of a document
  std::int64_t values = 4;
  std::int64_t noise = 8;       // different tokens of noise
  std::int64_t questions = 32;  // at the end of a document
};

class FarRecall {
 public:
  /// Throws unless all are at least 1, and values at least 2.
  explicit FarRecall(const FarRecallOptions& options = {});

  const FarRecallOptions& options() const { return options_; }
  /// Pairs, then questions, then noise.
  std::int64_t vocabulary() const;
  /// Tokens of a document with `distance` tokens of noise; each question's pair is further back than that.
  std::int64_t length(std::int64_t distance) const;
  /// `count` documents [count, length(distance)]; targets are -100 where nothing is asked.
  Batch batch(std::int64_t count, std::int64_t distance, Generator& generator) const;
  /// The loss of a reader that does not look back: ln(values).
  double forgetful_loss() const;

 private:
  FarRecallOptions options_;
};

}  // namespace gradus::lab
