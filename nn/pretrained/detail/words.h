#pragma once
// Words in config.json that models of all kinds share.

#include <initializer_list>
#include <optional>

#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/pretrained.h"
#include "gradus/ops/ops.h"

namespace gradus::nn::pretrained {

/// Starts a model_type that only gradus knows: options are used for which Hugging Face has no words.
inline constexpr std::string_view kOwnType = "gradus-";

/// Hugging Face's word for an activation, and back.
const char* word_of(Activation activation);
Activation read_activation(const Config& config, const char* key, Activation otherwise);

/// The dropout that is given, or one probability from keys that Hugging Face has for several places. Throws
/// unless they are equal.
double read_dropout(const Config& config, const PretrainedOptions& given,
                    std::initializer_list<const char*> keys, double otherwise);

/// The placement of key "placement", gradus' own or one that is given.
std::optional<Placement> read_placement(const Config& config, const PretrainedOptions& given);

}  // namespace gradus::nn::pretrained
