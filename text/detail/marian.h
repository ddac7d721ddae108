#pragma once
// The tokenizer of Marian's folders (opus-mt): source.spm, target.spm and vocab.json.

#include <filesystem>
#include <memory>

#include "gradus/text/tokenizer.h"

namespace gradus::text::detail {

/// SentencePiece encodes with source.spm and decodes with target.spm; vocab.json has the ids of their pieces.
/// ">>de<<", which selects the target language of some models, is a token if the vocabulary has it. Throws,
/// naming the file, if one is missing or invalid, and for two vocabularies (target_vocab.json).
std::shared_ptr<const Tokenizer> load_marian(const std::filesystem::path& folder);

}  // namespace gradus::text::detail
