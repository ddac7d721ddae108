#pragma once
// The families of published decoder-only models. Each has its own config.json keys for nn::GPT's options and
// its own names for its parameters. Options that a family cannot express are written under the names of
// GPTOptions' fields.

#include <span>
#include <string>
#include <utility>

#include "gradus/nn/models/gpt.h"
#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/detail/entries.h"
#include "gradus/nn/pretrained/detail/name_map.h"

namespace gradus::nn::pretrained {

struct GptFamily {
  const char* model_type;    // in config.json
  const char* architecture;  // Hugging Face's class with the head
  const char* layers_key;    // "n_layer"
  const char* prefix;        // "transformer.", which files may leave out
  const char* layers;        // "h."
  GPTOptions (*read)(const Config& config, const PretrainedOptions& given);
  Json (*write)(const GPTOptions& options);  // all entries that the family has
  NameMap (*names)(const GPTOptions& options);
  // Of the published models: for a config.json without ids of the tokens that begin and end a text, Hugging
  // Face uses theirs. 0: it uses none.
  std::int64_t vocab = 0;
};

std::span<const GptFamily* const> gpt_families();

/// The config.json to write for a model.
struct GptConfig {
  const GptFamily* family;
  Json text;  // of config.json
};

/// Reads the family and options from a config.json.
std::pair<const GptFamily*, GPTOptions> gpt_options(const Config& config, const PretrainedOptions& given);
/// Chooses the family that can express most of the options and adds gradus' own entries for the rest. Throws
/// if an option cannot be saved.
GptConfig gpt_config(const char* caller, const std::string& folder, const GPTOptions& options);

// gpt_entries.cpp
/// Entries under gradus' names for every option of a model that changes its results, with defaults filled in.
/// Throws, naming `caller`, for a norm without a name and for a placement that has the name of another.
Json gradus_entries(const std::string& caller, const GPTOptions& options);
/// Sets the options from the config's entries under gradus' names.
void read_gradus_entries(const Config& config, GPTOptions& options);

// Shared by the families.

/// The sizes of a block, with defaults filled in.
struct Sizes {
  std::int64_t d, ff, heads, kv_heads, head_dim;
  std::int64_t q() const { return heads * head_dim; }
  std::int64_t kv() const { return kv_heads * head_dim; }
};
Sizes sizes_of(const BlockOptions& block);

/// Names both norms of a block ("layers.0."), and the final one: required for Pre-LN and Post-LN, for other
/// placements optional.
void name_norms(NameMap& names, const GPTOptions& options, const std::string& block, const std::string& norm1,
                const std::string& norm2);
void name_final_norm(NameMap& names, const GPTOptions& options, const std::string& norm);
/// Names the head: a separate weight, or the embedding's copy.
void name_head(NameMap& names, const GPTOptions& options, const std::string& tokens);

// gpt2_family.cpp, gpt_neo_family.cpp, llama_family.cpp
extern const GptFamily kGpt2, kOpenAiGpt, kGptNeo, kLlama, kMistral, kQwen2;

}  // namespace gradus::nn::pretrained
