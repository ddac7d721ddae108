#pragma once
// The families of published models with an encoder and a decoder: their config.json and their parameters'
// names.

#include <string>

#include "gradus/nn/models/t5.h"
#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/detail/entries.h"
#include "gradus/nn/pretrained/detail/name_map.h"

namespace gradus::nn::pretrained {

// marian_family.cpp: the original Transformer, with gradus' own entries for options that Marian does not
// have.
Seq2SeqOptions marian_options(const Config& config, const PretrainedOptions& given);
Json marian_config(const char* caller, const std::string& folder, const Seq2SeqOptions& options);
NameMap marian_names(const Seq2SeqOptions& options);

// seq2seq_entries.cpp
/// Entries under gradus' names for every option of a model that changes its results.
Json gradus_entries(const std::string& caller, const Seq2SeqOptions& options);
/// Sets the options from the config's entries under gradus' names.
void read_gradus_entries(const Config& config, Seq2SeqOptions& options);

// t5_family.cpp
T5Options t5_options(const Config& config, const PretrainedOptions& given);
/// `type` is "t5" or "mt5".
Json t5_config(const char* caller, const Seq2SeqOptions& options, const std::string& type);
NameMap t5_names(const Seq2SeqOptions& options);

}  // namespace gradus::nn::pretrained
