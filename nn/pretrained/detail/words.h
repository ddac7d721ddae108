#pragma once
// Words in config.json that models of all kinds share.

#include <initializer_list>
#include <optional>
#include <string>

#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/pretrained.h"
#include "gradus/ops/ops.h"

namespace gradus::nn::pretrained {

/// Starts a model_type that only gradus knows: options are used for which Hugging Face has no words.
inline constexpr std::string_view kOwnType = "gradus-";

/// False where the head has a weight of its own.
inline constexpr const char* kTiedFlag = "tie_word_embeddings";

/// Hugging Face's word for an activation, and back.
const char* word_of(Activation activation);
Activation read_activation(const Config& config, const char* key, Activation otherwise);

/// The dropout that is given, or one probability from keys that Hugging Face has for several places. Throws
/// unless they are equal.
double read_dropout(const Config& config, const PretrainedOptions& given,
                    std::initializer_list<const char*> keys, double otherwise);

/// Throws where heads do not divide the channels they share, and no "head_dim" says more.
void expect_heads_divide(const Config& config);

/// Throws at a table of waves that would take too much memory: it is in no file that it could be held
/// against.
void expect_few_waves(const Config& config, std::int64_t context);

/// Throws where a context is given to a model with an encoder and a decoder.
void expect_no_context(const Config& config, const PretrainedOptions& given);

/// Throws at a placement of one's own that has the name of one of gradus', as which it would be read again.
void expect_own_name(const std::string& caller, const Placement& placement);

/// The placement of key "placement", gradus' own or one that is given.
std::optional<Placement> read_placement(const Config& config, const PretrainedOptions& given);

}  // namespace gradus::nn::pretrained
