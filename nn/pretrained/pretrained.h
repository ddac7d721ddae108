#pragma once
// Models in folders with Hugging Face's layout: config.json describes the model, and its weights are in
// model.safetensors, or in several files listed in model.safetensors.index.json. Each model has
//
//   nn::GPT gpt = nn::GPT::load_pretrained("gpt2");
//   gpt.save_pretrained("mine");
//
// Parameters have gradus' names in the program and Hugging Face's in files. Options that Hugging Face's
// config cannot express, such as another placement, have gradus' own keys in config.json; "model_type" then
// starts with "gradus-", so that no other program misreads the model.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

struct PretrainedOptions {
  std::optional<double> dropout = {};  // in training; not given: config.json's
  // A smaller context of a GPT, for a smaller cache, if positions are not learned; 0: config.json's. It
  // becomes the model's context: save_pretrained writes it.
  std::int64_t context = 0;
  std::vector<Placement> placements = {};  // your own, which config.json may name
  // Ignores tensors whose names begin with these: {"classifier."} to load the body of a classifier.
  std::vector<std::string> leave_out = {};
};

struct SavePretrainedOptions {
  std::uint64_t max_shard_bytes = 5'000'000'000;  // larger models are saved as several files
};

}  // namespace gradus::nn
