#pragma once
// Models in folders as Hugging Face lays them out: config.json, which says what the model is, and its weights
// in model.safetensors, or in several files that model.safetensors.index.json names. Each model has
//
//   nn::GPT gpt = nn::GPT::load_pretrained("gpt2");
//   gpt.save_pretrained("mine");
//
// Parameters keep gradus' names in the program and Hugging Face's in files. What Hugging Face has no words
// for, such as another placement, stands in config.json under gradus' own; "model_type" then starts with
// "gradus-", so that no other program takes the model for what it is not.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

struct PretrainedOptions {
  std::optional<double> dropout = {};  // in training; not given: what config.json says
  // Fewer tokens for a GPT to look back on, for a smaller cache, where positions are not learned; 0: all. It
  // is the model's context from then on: save_pretrained writes it.
  std::int64_t context = 0;
  std::vector<Placement> placements = {};  // of one's own, which config.json may name
  // Beginnings of names of tensors to do without: {"classifier."} of a classifier whose body is wanted.
  std::vector<std::string> leave_out = {};
};

struct SavePretrainedOptions {
  std::uint64_t max_shard_bytes = 5'000'000'000;  // more is saved as several files
};

}  // namespace gradus::nn
