#pragma once
// SentencePiece's own reading of a model, which is not always a status.

#include <sentencepiece_processor.h>

#include <string>

namespace gradus::text::detail {

/// Reads a model's bytes; throws "`where`: this is no SentencePiece model, ..." whatever is wrong with them.
void load_pieces(sentencepiece::SentencePieceProcessor& processor, const std::string& bytes,
                 const std::string& where);

}  // namespace gradus::text::detail
