#pragma once
// The lab's own text: easy to produce, impossible to predict without looking back, with a known best loss.
//
// A document is a line about boxes and the things in them, such as "3p1b3p4t1b2k3p": a digit names a box, the
// letter after it the thing in the box. A box is drawn each time, all equally likely. The first time a box is
// named its thing is drawn from the box's own letters; from then on it stays the same. So a
// digit is never predictable, a letter is a fair draw at first and certain later, but only for a reader who
// finds the box's earlier mention anywhere in the line, a task for attention.
//
// The best possible loss, with K boxes, V letters for each, and P pairs in a document of T = 2P characters:
//   a digit                  ln K                     (it depends on nothing before it)
//   the letter of pair i     (1 - 1/K)^i ln V         i = 0..P-1: ln V if none of the i earlier boxes is this
//                                                     one, which has probability (1 - 1/K)^i; 0 otherwise
//   the mean of a character  (P ln K + K (1 - (1 - 1/K)^P) ln V) / T      (the geometric sum of the above)
// These are conditional entropies given all characters before, so no model has a smaller expected loss.
//
// A model soon reaches that loss, and then models no longer differ. With a chain of k boxes the next box
// depends on the k before it, by a table of K^k rows drawn once: there are as many facts to learn, each rarer
// than the last. The loss of the source itself is then the mean of surprise() over documents.

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/kit/data/text_data.h"

namespace gradus::lab {

struct RecallOptions {
  std::int64_t boxes = 4;    // K: 2 to 10, one digit each
  std::int64_t things = 6;   // V: 2 or more letters for each box, boxes * things at most 52
  std::int64_t length = 32;  // T: predicted characters of a document; even
  std::int64_t chain = 0;    // number of earlier boxes on which the next one depends: 0 to 3
};

/// Texts [count, context] and the characters that come next: targets are the inputs moved on by one.
struct Batch {
  Tensor inputs, targets;
};

class RecallLanguage {
 public:
  /// Throws when the options are outside the limits above.
  explicit RecallLanguage(const RecallOptions& options = {});

  const RecallOptions& options() const { return options_; }
  /// The newline, the digits and the letters: all characters that occur.
  const kit::Vocabulary& vocabulary() const { return vocabulary_; }

  /// A document: a newline, which is given and never predicted, and `length` characters.
  std::string document(Generator& generator) const;
  /// The negative logarithm of a document's probability, in nats: its mean over documents is the lowest
  /// expected loss, times T.
  double surprise(const std::string& document) const;
  /// `count` documents as windows [count, length]: inputs start with the newline, targets are the characters
  /// after it. One window is one document, so the entropy below is exact for the loss over windows.
  Batch batch(std::int64_t count, Generator& generator) const;

  /// The lowest possible loss at one place 0 .. length-1 of a document, in nats; throws with a chain.
  double entropy_at(std::int64_t place) const;
  /// The lowest possible loss, as the mean over a document, in nats per predicted character; throws with a
  /// chain.
  double entropy() const;

 private:
  /// The row of the table after so many boxes, the last of them last; nothing while there are fewer than the
  /// chain has.
  const double* row_after(const std::vector<std::size_t>& boxes) const;

  RecallOptions options_;
  std::vector<double> table_;  // of a chain: K^k rows of K probabilities
  std::string letters_;        // those of box k are letters_[k V .. k V + V - 1]
  kit::Vocabulary vocabulary_;
};

}  // namespace gradus::lab
