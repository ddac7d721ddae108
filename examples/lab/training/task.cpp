#include "lab/training/task.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/io/printable.h"
#include "gradus/data/text_windows.h"
#include "gradus/ops/ops.h"

namespace gradus::lab {

namespace {

constexpr std::int64_t kValidationWindows = 256;
constexpr std::int64_t kNgramDocuments = 4000;
constexpr std::int64_t kNgramCharacters = 1'000'000;
// Streams of this seed belong to the task: training draws from other seeds.
constexpr std::uint64_t kTaskSeed = 0x6c6162;

std::vector<std::vector<std::int32_t>> documents(const RecallLanguage& language, std::uint64_t stream) {
  Generator generator(kTaskSeed, stream);
  std::vector<std::vector<std::int32_t>> texts;
  for (std::int64_t i = 0; i < kNgramDocuments; ++i)
    texts.push_back(language.vocabulary().encode(language.document(generator)));
  return texts;
}

/// At most kValidationWindows of so many windows, spread evenly.
std::vector<std::int64_t> spread(std::int64_t windows) {
  const std::int64_t kept = std::min(windows, kValidationWindows);
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < kept; ++i) some.push_back(i * windows / kept);
  return some;
}

/// 4, or less where a text has so many different characters that 4 of them do not fit into 64 bits.
int largest_ngram(std::int64_t vocabulary) { return vocabulary < 65536 ? 4 : 3; }

}  // namespace

Task::Task(const RecallOptions& options)
    : name_("recall language"), context_(options.length), language_(RecallLanguage(options)) {
  vocabulary_ = language_->vocabulary();
  ngram_ = best_ngram(documents(*language_, 1), documents(*language_, 2), vocabulary_.size());
  Generator generator(kTaskSeed, 3);
  validation_ = language_->batch(kValidationWindows, generator);
  if (options.chain == 0) {
    entropy_ = language_->entropy();
    return;
  }
  Generator again(kTaskSeed, 3);
  double sum = 0;
  for (std::int64_t i = 0; i < kValidationWindows; ++i)
    sum += language_->surprise(language_->document(again));
  entropy_ = sum / static_cast<double>(kValidationWindows * options.length);
}

Task::Task(const std::filesystem::path& text, std::int64_t context, const char* option)
    : name_(text.filename().string()), context_(context) {
  const kit::TextData data =
      kit::split_text(kit::read_text(text, option), context, 0.9, io::printable(text.string()));
  vocabulary_ = data.vocabulary;
  train_ = data.train;
  const auto [inputs, targets] = data::text_windows(data.validation, context, /*stride=*/context);
  const std::vector<std::int64_t> windows = spread(inputs.size(0));
  const Tensor rows = from_vector(windows);
  validation_ = {index_select(inputs, 0, rows), index_select(targets, 0, rows)};

  // The baseline predicts the same characters on which the models are measured.
  std::vector<std::vector<std::int32_t>> held_out;
  for (const std::int64_t window : windows) {
    const std::int32_t* const first = data.validation.data() + window * context;
    held_out.emplace_back(first, first + context + 1);
  }
  const auto counted = std::min<std::int64_t>(kNgramCharacters, std::ssize(data.train));
  const std::vector<std::vector<std::int32_t>> train = {{data.train.data(), data.train.data() + counted}};
  ngram_ = best_ngram(train, held_out, vocabulary_.size(), largest_ngram(vocabulary_.size()));
}

double Task::context_free_loss() const {
  std::vector<double> counts(static_cast<std::size_t>(vocabulary_.size()));
  for (const std::int64_t target : validation_.targets.span<std::int64_t>())
    ++counts[static_cast<std::size_t>(target)];
  const auto all = static_cast<double>(validation_.targets.numel());
  double entropy = 0;
  for (const double count : counts)
    if (count > 0) entropy -= count / all * std::log(count / all);
  return entropy;
}

Batch Task::batch(std::int64_t size, Generator& generator) const {
  if (language_) return language_->batch(size, generator);
  const auto [inputs, targets] = data::random_windows(train_, size, context_, generator);
  return {inputs, targets};
}

}  // namespace gradus::lab
