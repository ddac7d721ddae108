#pragma once
// The command line of char_gpt. The defaults are nanoGPT's CPU setting for tiny Shakespeare.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "gradus/nn/models/gpt.h"

namespace gradus::char_gpt {

struct Options {
  std::filesystem::path text;  // training text
  std::filesystem::path load;  // initial weights
  std::filesystem::path save = "char_gpt.safetensors";
  bool named = true;          // by --save; else just the name that is free now
  std::filesystem::path run;  // checkpoints and losses; empty: none
  bool resume = false;
  std::string placement = "pre";  // a name of nn::placements()
  std::string norm = "layer";     // of nn::norms()
  std::int64_t layers = 4, heads = 4, d_model = 128, context = 64;
  std::int64_t batch = 12;
  std::int64_t steps = 2000;
  std::int64_t warmup = 100;
  double lr = 1e-3, least_lr = 1e-4;
  double weight_decay = 0.1, clip = 1;
  double dropout = 0;
  std::int64_t seed = 0;
  std::int64_t threads = 0;
  std::int64_t shards = 0;  // of a batch; 0: computed at once
  std::string prompt;       // empty: a new line
  std::int64_t sample = 500;
  double temperature = 0.8;
  std::int64_t top_k = 0;
  double top_p = 1, repetition_penalty = 1;
  bool checkpoint = false;  // recompute blocks in backward
  bool profile = false;
  std::filesystem::path trace;  // of the profiled steps; empty: none

  nn::GPTOptions model(std::int64_t vocab) const;
};

/// Parses the command line; an exit status if the program should stop.
std::optional<int> parse(int argc, char** argv, Options& options);

}  // namespace gradus::char_gpt
