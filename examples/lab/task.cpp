#include "lab/task.h"

#include <algorithm>

namespace gradus::lab {

namespace {

constexpr std::int64_t kValidationWindows = 256;
constexpr std::int64_t kNgramDocuments = 4000;
// Streams of this seed are the task's own: training draws from other seeds.
constexpr std::uint64_t kTaskSeed = 0x6c6162;

kit::RandomBelow source(Generator& generator) {
  return [&generator](std::uint64_t bound) {
    return static_cast<std::uint64_t>(generator.below(static_cast<std::int64_t>(bound)));
  };
}

Batch as_batch(const kit::Windows& windows, std::int64_t context) {
  const auto rows = static_cast<std::int64_t>(windows.inputs.size()) / context;
  return {from_vector(windows.inputs, {rows, context}), from_vector(windows.targets, {rows, context})};
}

std::vector<std::vector<std::int32_t>> documents(const RecallLanguage& language, std::uint64_t stream) {
  Generator generator(kTaskSeed, stream);
  std::vector<std::vector<std::int32_t>> texts;
  for (std::int64_t i = 0; i < kNgramDocuments; ++i)
    texts.push_back(language.vocabulary().encode(language.document(source(generator))));
  return texts;
}

}  // namespace

Task::Task(const RecallOptions& options)
    : name_("recall language"), context_(options.length), language_(RecallLanguage(options)) {
  vocabulary_ = language_->vocabulary();
  ngram_ = best_ngram(documents(*language_, 1), documents(*language_, 2), vocabulary_.size());
  Generator generator(kTaskSeed, 3);
  validation_ = as_batch(language_->batch(kValidationWindows, source(generator)), context_);
}

Task::Task(const std::filesystem::path& text, std::int64_t context)
    : name_(text.filename().string()), context_(context) {
  kit::TextData data = kit::load_text(text, context);
  vocabulary_ = std::move(data.vocabulary);
  train_ = std::move(data.train);
  const std::vector<std::vector<std::int32_t>> train{train_}, held_out{data.validation};
  ngram_ = best_ngram(train, held_out, vocabulary_.size());
  // Windows spread evenly over the held-out part.
  std::vector<std::int64_t> starts =
      kit::side_by_side(static_cast<std::int64_t>(data.validation.size()), context);
  const std::int64_t all = static_cast<std::int64_t>(starts.size()), kept = std::min(all, kValidationWindows);
  for (std::int64_t i = 0; i < kept; ++i)
    starts[static_cast<std::size_t>(i)] = starts[static_cast<std::size_t>(i * all / kept)];
  starts.resize(static_cast<std::size_t>(kept));
  validation_ = as_batch(kit::windows_at(data.validation, starts, context), context);
}

std::optional<double> Task::entropy() const {
  return language_ ? std::optional(language_->entropy()) : std::nullopt;
}

Batch Task::batch(std::int64_t size, Generator& generator) const {
  if (language_) return as_batch(language_->batch(size, source(generator)), context_);
  return as_batch(kit::random_windows(train_, size, context_, source(generator)), context_);
}

}  // namespace gradus::lab
