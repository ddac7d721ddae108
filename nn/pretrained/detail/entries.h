#pragma once
// Entries of config.json that all model types share.

#include <initializer_list>
#include <optional>
#include <string>

#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/pretrained.h"
#include "gradus/ops/ops.h"

namespace gradus::nn::pretrained {

/// The prefix of a model_type that only gradus knows, for options that Hugging Face's config cannot express.
inline constexpr std::string_view kOwnType = "gradus-";

/// False if the head has a separate weight.
inline constexpr const char* kTiedFlag = "tie_word_embeddings";

/// Hugging Face's name of an activation, and the activation with a name.
const char* activation_name(Activation activation);
Activation read_activation(const Config& config, const char* key, Activation otherwise);

/// A number of a config that will be written: null for infinity and NaN, as JSON has neither.
Json number_or_null(double number);

/// The given dropout, or one probability from the keys that Hugging Face has for several places. Throws
/// unless they are equal.
double read_dropout(const Config& config, const PretrainedOptions& given,
                    std::initializer_list<const char*> keys, double otherwise);

/// Throws if heads do not divide the channels and there is no "head_dim".
void expect_heads_divide(const Config& config);

/// Throws if the table of sinusoidal positions would need too much memory: no file contains it, so its size
/// cannot be checked otherwise.
void expect_few_waves(const Config& config, std::int64_t context);

/// Throws if a context is given: for a model with an encoder and a decoder.
void expect_no_context(const Config& config, const PretrainedOptions& given);

/// Throws for a user's placement that has the name of one of gradus' placements, which loading would return,
/// or a name that cannot be printed, which loading would not find.
void expect_own_name(const std::string& caller, const Placement& placement);

/// The placement named by key "placement": one of gradus' or a given one.
std::optional<Placement> read_placement(const Config& config, const PretrainedOptions& given);

}  // namespace gradus::nn::pretrained
