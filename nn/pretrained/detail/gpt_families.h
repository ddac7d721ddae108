#pragma once
// The families of decoder-only models that files in the world belong to, each a way to write nn::GPT's
// options and to call its parameters. What a family has no words for is written under the names of
// GPTOptions' fields.

#include <span>
#include <string>
#include <utility>

#include "gradus/nn/models/gpt.h"
#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/detail/name_map.h"
#include "gradus/nn/pretrained/detail/words.h"

namespace gradus::nn::pretrained {

struct GptFamily {
  const char* model_type;    // in config.json
  const char* architecture;  // the class of Hugging Face's that has the head
  const char* layers_key;    // "n_layer"
  const char* prefix;        // "transformer.", which files may leave out
  const char* layers;        // "h."
  GPTOptions (*read)(const Config& config, const PretrainedOptions& given);
  Json (*write)(const GPTOptions& options);  // all the words it has
  NameMap (*names)(const GPTOptions& options);
  // Of the published models: where a config.json has no ids of tokens that begin and end a text, Hugging Face
  // takes theirs. 0: it takes none.
  std::int64_t vocab = 0;
};

std::span<const GptFamily* const> gpt_families();

/// How a model is written.
struct GptConfig {
  const GptFamily* family;
  Json text;  // of config.json
};

/// The family and options that a config.json tells of.
std::pair<const GptFamily*, GPTOptions> gpt_options(const Config& config, const PretrainedOptions& given);
/// The family that has words for most of the options, with gradus' own words for the rest. Throws where there
/// are none.
GptConfig gpt_config(const char* caller, const std::string& folder, const GPTOptions& options);

// gpt_words.cpp
/// Every option that changes what the model computes, with defaults filled in, under gradus' names. Throws,
/// with `caller` in front, at a norm that has no name and at a placement that has another's.
Json words_of(const std::string& caller, const GPTOptions& options);
/// Takes over those of the config's keys that are gradus' names.
void read_words(const Config& config, GPTOptions& options);

// What the families share.

/// The sizes of a block, with defaults filled in.
struct Sizes {
  std::int64_t d, ff, heads, kv_heads, head_dim;
  std::int64_t q() const { return heads * head_dim; }
  std::int64_t kv() const { return kv_heads * head_dim; }
};
Sizes sizes_of(const BlockOptions& block);

/// Both norms of a block ("layers.0."), and the final one: of usual placements as they must be, of others as
/// far as they have norms of these names.
void name_norms(NameMap& names, const GPTOptions& options, const std::string& block, const std::string& norm1,
                const std::string& norm2);
void name_final_norm(NameMap& names, const GPTOptions& options, const std::string& norm);
/// The head of its own, or the embedding's copy.
void name_head(NameMap& names, const GPTOptions& options, const std::string& tokens);

// gpt2_family.cpp, gpt_neo_family.cpp, llama_family.cpp
extern const GptFamily kGpt2, kOpenAiGpt, kGptNeo, kLlama, kMistral, kQwen2;

}  // namespace gradus::nn::pretrained
