#pragma once
// A language of twelve words, and another one that says the same, word by word.

#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "translate/corpus.h"
#include "translate/options.h"
#include "translate/training.h"

namespace gradus::translate {

inline Corpus toy_corpus(std::size_t size, std::uint64_t seed) {
  static const std::vector<std::pair<std::string, std::string>> words = {
      {"rot", "red"},    {"Hund", "dog"},   {"Katze", "cat"},    {"läuft", "runs"},
      {"sieht", "sees"}, {"groß", "big"},   {"klein", "little"}, {"Baum", "tree"},
      {"Haus", "house"}, {"Vogel", "bird"}, {"ein", "a"},        {"zwei", "two"}};
  Generator generator(seed);
  Corpus corpus;
  for (std::size_t i = 0; i < size; ++i) {
    std::string source, target;
    const auto length = 1 + static_cast<std::size_t>(generator.uniform() * 4);
    for (std::size_t j = 0; j < length; ++j) {
      const auto& [german, english] = words[static_cast<std::size_t>(generator.uniform() * 12)];
      source += (j > 0 ? " " : "") + german;
      target += (j > 0 ? " " : "") + english;
    }
    corpus.source.push_back(source);
    corpus.target.push_back(target);
  }
  return corpus;
}

inline Options toy_options() {
  Options o;
  o.vocab = 330, o.layers = 1, o.heads = 2, o.d_model = 32, o.d_ff = 64, o.dropout = 0;
  o.steps = 600, o.tokens = 512, o.lr = 5e-3, o.warmup = 40;
  o.average = 3, o.average_every = 10, o.evaluate_every = 300;
  return o;
}

inline Translator toy_translator(const Corpus& corpus, const Options& o) {
  const auto tokenizer = learn_vocabulary(corpus.source, corpus.target, o.vocab);
  return {nn::Seq2SeqTransformer(o.model(tokenizer->vocab_size())), tokenizer};
}

inline bool train(const Translator& translator, const Corpus& training, const Corpus& validation,
                  const Options& o) {
  kit::TrainingRun run(training_options(training, validation, o));
  return train({}, run, translator, training, validation, o);
}

/// The message of what f throws.
std::string complaint_of(const auto& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace gradus::translate
