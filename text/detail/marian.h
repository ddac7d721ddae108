#pragma once
// The tokenizer of Marian's folders (opus-mt): source.spm, target.spm and vocab.json.

#include <filesystem>
#include <memory>

#include "gradus/text/tokenizer.h"

namespace gradus::text::detail {

/// SentencePiece cuts a text, as source.spm says, and joins one, as target.spm says; vocab.json has the ids
/// of their pieces. ">>de<<", by which some models are told their language, is a token where the vocabulary
/// has it. Throws, naming the file, where one is missing or wrong, and at vocabularies of their own
/// (target_vocab.json).
std::shared_ptr<const Tokenizer> load_marian(const std::filesystem::path& folder);

}  // namespace gradus::text::detail
