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
  std::filesystem::path load;                 // folder of a model that translates
  std::filesystem::path run;                  // checkpoints and losses; empty: none
  bool resume = false;

  std::string placement = "pre";  // a name of nn::placements()
  std::string norm = "layer";     // of nn::norms()
  std::int64_t vocab = 8000, layers = 4, heads = 4, d_model = 128, d_ff = 256;
  double dropout = 0.3;

  std::int64_t steps = 8000;
  double minutes = 0;          // above 0: training ends after this many, even if steps are left
  std::int64_t tokens = 3072;  // of a batch: the longest text times the number of texts
  std::int64_t longest = 100;  // tokens of a training text
  double lr = 4e-3;
  std::optional<std::int64_t> warmup;  // steps
  double smoothing = 0.1;
  std::int64_t average = 10, average_every = 150;  // snapshots, and steps between two
  std::int64_t evaluate_every = 500;               // steps
  std::int64_t seed = 0, threads = 0;
  std::int64_t shards = 0;  // of a batch; 0: computed at once

  Search search = {};
  std::optional<std::string> translate;  // a text
  std::filesystem::path attention;       // a picture of its attention; empty: none
  std::int64_t layer = 0;                // the decoder's, from 1; 0: the last

  /// --warmup or, by default, a quarter of the training as far as its length is known.
  std::int64_t warmup_steps() const;
  /// The model's options for a vocabulary of this size.
  nn::Seq2SeqOptions model(std::int64_t vocabulary) const;
};

/// Parses the command line; an exit status if the program should stop.
std::optional<int> parse(int argc, char** argv, Options& options);

}  // namespace gradus::translate
