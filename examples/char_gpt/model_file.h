#pragma once
// A trained model in one safetensors file: weights under PyTorch's names, and in the notes what else is
// needed to use them (sizes and the characters).

#include <filesystem>

#include "char_gpt/options.h"
#include "gradus/kit/data/text_data.h"

namespace gradus::char_gpt {

void save_model(const std::filesystem::path& file, const nn::GPT& model, const kit::Vocabulary& vocabulary);

/// The name, or with a number the first that no file or link has: what an earlier training wrote is not
/// replaced unasked. `free_name("model.safetensors")` may be model-2.safetensors
std::filesystem::path free_name(const std::filesystem::path& name);
/// Saves under a free name, which is taken before anything is written: no other program can take it too.
std::filesystem::path save_beside(const std::filesystem::path& name, const nn::GPT& model,
                                  const kit::Vocabulary& vocabulary);

struct LoadedModel {
  nn::GPT model;
  kit::Vocabulary vocabulary;
};
/// Throws, naming the file, when it is not one that save_model wrote. Its notes are held against its weights
/// before a model is built, so that memory is bounded by the size of the file. Dropout and checkpoint, which
/// are no part of a file, are those of `training`.
LoadedModel load_model(const std::filesystem::path& file, const Options& training = {});

}  // namespace gradus::char_gpt
