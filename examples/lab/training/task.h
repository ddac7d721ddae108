#pragma once
// The training data of the lab's models: the recall language, or the characters of a text file.

#include <filesystem>
#include <optional>
#include <string>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/kit/data/text_data.h"
#include "lab/training/ngram.h"
#include "lab/training/recall_language.h"

namespace gradus::lab {

class Task {
 public:
  explicit Task(const RecallOptions& options);
  /// Throws, naming the file, when it is too short for windows of `context` characters or, with the option it
  /// was given by, when it is not a text.
  Task(const std::filesystem::path& text, std::int64_t context, const char* option = "--text");

  std::string name() const { return name_; }
  std::int64_t context() const { return context_; }
  const kit::Vocabulary& vocabulary() const { return vocabulary_; }
  /// The lowest possible loss in nats per character; with a chain of boxes, that of the source on the
  /// validation set; unknown for a text file.
  std::optional<double> entropy() const { return entropy_; }
  /// The lowest loss of any prediction that ignores earlier characters, on the validation set: the entropy of
  /// the character frequencies there.
  double context_free_loss() const;
  /// The best of n = 1 .. 4 (3 for huge vocabularies), on text that was not counted. In the recall language a
  /// larger n would be lower still.
  const NgramBaseline& ngram() const { return ngram_; }

  /// The same batch for the same state of the generator.
  Batch batch(std::int64_t size, Generator& generator) const;
  /// A fixed set no batch is drawn from (documents of another stream, or the end of the text).
  const Batch& validation() const { return validation_; }

 private:
  std::string name_;
  std::int64_t context_ = 0;
  kit::Vocabulary vocabulary_;
  std::optional<RecallLanguage> language_;
  std::optional<double> entropy_;
  Tensor train_;  // of a text file: i64 [N]
  NgramBaseline ngram_;
  Batch validation_;
};

}  // namespace gradus::lab
