#pragma once
// The command line of translate. Its defaults are the recipe of docs/translate.md.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "gradus/nn/models/seq2seq_transformer.h"
#include "translate/corpus.h"
#include "translate/translator.h"

namespace gradus::translate {

struct Options {
  Files train = {}, validation = {.prefix = "--val-"}, test = {.prefix = "--test-"};
  std::filesystem::path save = "translator";  // folder of the trained model
  std::filesystem::path load;                 // folder of one that is to translate
  std::filesystem::path run;                  // checkpoints and losses; empty: none
  bool resume = false;

  std::string placement = "pre";  // a name of nn::placements()
  std::string norm = "layer";     // of nn::norms()
  std::int64_t vocab = 8000, layers = 4, heads = 4, d_model = 128, d_ff = 256;
  double dropout = 0.3;

  std::int64_t steps = 8000;
  double minutes = 0;          // above 0: training ends after so many, if steps are left then
  std::int64_t tokens = 3072;  // of a batch: the longest text times the number of texts
  std::int64_t longest = 100;  // tokens of a text that is trained on
  double lr = 4e-3;
  std::optional<std::int64_t> warmup;  // steps
  double smoothing = 0.1;
  std::int64_t average = 10, average_every = 150;  // weights, and steps between two
  std::int64_t evaluate_every = 500;               // steps
  std::int64_t seed = 0, threads = 0;

  Search search = {};
  std::optional<std::string> translate;  // a text
  std::filesystem::path attention;       // a picture of how it was translated; empty: none
  std::int64_t layer = 0;                // the decoder's, from 1; 0: the last

  /// --warmup or, where it is not given, a quarter of the training as far as that is known before.
  std::int64_t warmup_steps() const;
  /// Of the model for a vocabulary of this size.
  nn::Seq2SeqOptions model(std::int64_t vocabulary) const;
};

/// Reads the command line; an exit status when the program should not go on.
std::optional<int> parse(int argc, char** argv, Options& options);

}  // namespace gradus::translate
