#pragma once
// The command line of gpt2. The defaults define a small model that learns from a book of a megabyte in a few
// minutes.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "gradus/nn/models/gpt.h"

namespace gradus::gpt2 {

constexpr std::int64_t kContext = 128;  // tokens of a window, by default

struct Options {
  std::filesystem::path weights;    // a folder with a model
  std::filesystem::path tokenizer;  // a folder with a different tokenizer from that of weights
  std::filesystem::path text;       // training text
  std::filesystem::path save = "gpt2_model";

  // Writing.
  std::optional<std::string> prompt;
  std::int64_t count = 200;  // tokens
  double temperature = 1, top_p = 1, repetition_penalty = 1;
  std::int64_t top_k = 0;
  bool greedy = false;
  std::int64_t beams = 1;
  std::string stop;  // the text ends before this string

  // A new model.
  std::string kind = "gpt2";             // gpt1, gpt2, gpt3 or llama; with a size, "gpt2-124m", as published
  std::optional<std::string> placement;  // a name of nn::placements(); not given: the kind's
  std::optional<std::string> norm;       // of nn::norms()
  std::int64_t vocab = 2000;             // tokens of a learned vocabulary
  std::int64_t layers = 4, heads = 4, d_model = 128;  // if the kind has no size

  // Training.
  std::optional<double> dropout;  // not given: 0.1 in a new model, else config.json's
  std::optional<std::int64_t>
      context;  // tokens of a window; not given: 128, or the model's context if that is less
  std::int64_t steps = 1000;
  std::int64_t batch = 16, accumulate = 1;
  std::optional<double> lr;  // not given: 1e-3 for a new model, else 5e-5
  std::int64_t warmup = 100;
  double weight_decay = 0.1, clip = 1;
  std::int64_t shards = 0;  // of a batch; 0: computed at once
  bool checkpoint = false;  // of blocks: less memory, more time
  bool resume = false;
  std::int64_t seed = 0;
  std::int64_t threads = 0;

  bool is_new() const { return weights.empty(); }
  double peak_lr() const { return lr.value_or(is_new() ? 1e-3 : 5e-5); }
  /// The new model.
  nn::GPTOptions model(std::int64_t tokens) const;
  /// The folder of the training's checkpoints.
  std::filesystem::path run() const { return save / "training"; }
};

/// Parses the command line; an exit status if the program should stop.
std::optional<int> parse(int argc, char** argv, Options& options);

}  // namespace gradus::gpt2
