#pragma once
// A trained model in one safetensors file: weights under PyTorch's names, sizes and characters in the
// metadata.

#include <filesystem>

#include "char_gpt/options.h"
#include "gradus/kit/data/text_data.h"

namespace gradus::char_gpt {

void save_model(const std::filesystem::path& file, const nn::GPT& model, const kit::Vocabulary& vocabulary);

/// The name, or with a number the first that no file or link has, so that earlier models are not replaced.
/// `free_name("model.safetensors")` may be model-2.safetensors
std::filesystem::path free_name(const std::filesystem::path& name);
/// Saves under a free name, reserved before anything is written: no other program can take it, too.
std::filesystem::path save_beside(const std::filesystem::path& name, const nn::GPT& model,
                                  const kit::Vocabulary& vocabulary);

struct LoadedModel {
  nn::GPT model;
  kit::Vocabulary vocabulary;
};
/// Throws, naming the file, if save_model did not write it. Its metadata are checked against its weights
/// before a model is built, so memory is bounded by the file's size. Dropout and checkpoint, which are not
/// saved, are those of `training`.
LoadedModel load_model(const std::filesystem::path& file, const Options& training = {});

}  // namespace gradus::char_gpt
