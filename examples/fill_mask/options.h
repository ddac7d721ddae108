#pragma once
// The command line of fill_mask. The defaults train on a 1 MB book in a minute on two idle cores.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "gradus/nn/models/bert.h"

namespace gradus::fill_mask {

struct Options {
  std::filesystem::path text;  // training text
  std::filesystem::path load;  // a folder with a model
  std::filesystem::path save = "fill_mask_model";
  bool resume = false;
  std::optional<std::string> prompt;  // with [MASK]s to fill
  std::string placement = "pre";      // a name of nn::placements()
  std::string norm = "layer";         // of nn::norms()
  std::int64_t vocab = 1000;          // tokens
  std::int64_t layers = 2, heads = 4, d_model = 64, context = 24;
  std::int64_t batch = 64;
  std::int64_t steps = 3000;
  std::int64_t warmup = 100;
  double lr = 4e-3;
  double weight_decay = 0.01, clip = 1;
  double dropout = 0;
  double masked = 0.2;
  std::int64_t top = 5;  // guesses for a mask
  std::int64_t seed = 0;
  std::int64_t threads = 0;

  /// With the masked-token head only.
  nn::BertOptions model(std::int64_t tokens) const;
  /// The folder of the training's checkpoints.
  std::filesystem::path run() const { return save / "training"; }
};

/// Parses the command line; an exit status if the program should stop.
std::optional<int> parse(int argc, char** argv, Options& options);

}  // namespace gradus::fill_mask
