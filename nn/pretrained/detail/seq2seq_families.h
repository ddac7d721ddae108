#pragma once
// Models with an encoder and a decoder in files of the world: how their options are written and their
// parameters called.

#include <string>

#include "gradus/nn/models/t5.h"
#include "gradus/nn/pretrained/detail/config.h"
#include "gradus/nn/pretrained/detail/name_map.h"
#include "gradus/nn/pretrained/detail/words.h"

namespace gradus::nn::pretrained {

// marian_family.cpp: the original Transformer, with gradus' own words for what Marian does not have.
Seq2SeqOptions marian_options(const Config& config, const PretrainedOptions& given);
Json marian_config(const char* caller, const std::string& folder, const Seq2SeqOptions& options);
NameMap marian_names(const Seq2SeqOptions& options);

// seq2seq_words.cpp
/// Every option that changes what the model computes, under gradus' names.
Json seq2seq_words(const std::string& caller, const Seq2SeqOptions& options);
/// Takes over those of the config's keys that are gradus' names.
void read_seq2seq_words(const Config& config, Seq2SeqOptions& options);

// t5_family.cpp
T5Options t5_options(const Config& config, const PretrainedOptions& given);
/// `type` is "t5" or "mt5".
Json t5_config(const char* caller, const Seq2SeqOptions& options, const std::string& type);
NameMap t5_names(const Seq2SeqOptions& options);

}  // namespace gradus::nn::pretrained
