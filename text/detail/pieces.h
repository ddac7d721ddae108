#pragma once
// Loads a SentencePiece model; the library reports errors by a status or an exception.

#include <sentencepiece_processor.h>

#include <string>

namespace gradus::text::detail {

/// Reads a model's bytes; throws "`where`: this is not a SentencePiece model, ..." for any error in them.
void load_pieces(sentencepiece::SentencePieceProcessor& processor, const std::string& bytes,
                 const std::string& where);

}  // namespace gradus::text::detail
