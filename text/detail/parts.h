#pragma once
// The contents of tokenizers' files.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gradus/text/byte_level_bpe.h"
#include "gradus/text/detail/tokenizer_files.h"
#include "gradus/text/detail/tokens.h"
#include "gradus/text/word_piece.h"

namespace gradus::text::detail {

struct BPEParts {
  Tokens tokens;
  std::vector<Merge> merges;
  BPEOptions options;  // `tokens` contains its special tokens
};
struct WordPieceParts {
  Tokens tokens;
  WordPieceOptions options;
};

/// Read a folder's tokenizer.json or other files.
BPEParts read_bpe(const std::filesystem::path& folder);
BPEParts read_bpe(const std::filesystem::path& vocab, const std::filesystem::path& merges,
                  const BPEOptions& options);
WordPieceParts read_word_piece(const std::filesystem::path& folder);
WordPieceParts read_word_piece(const std::filesystem::path& vocab, const WordPieceOptions& options);

// tokenizer.json
std::string model_type(const Json& json, const std::string& who);
BPEParts bpe_from_json(const Json& json, const std::string& who);
WordPieceParts word_piece_from_json(const Json& json, const std::string& who);
std::string bpe_to_json(const Tokens& tokens, const std::vector<std::string>& merges,
                        const BPEOptions& options);
std::string word_piece_to_json(const Tokens& tokens, const WordPieceOptions& options);
std::string word_piece_config(const WordPieceOptions& options);  // tokenizer_config.json

/// {"token": id, ...}, sorted by id.
std::string vocabulary_json(const Tokens& tokens);
void add_vocabulary(Tokens& tokens, const Json& vocabulary);

/// Reads special_tokens_map.json, tokenizer_config.json and added_tokens.json of a folder: names bos, eos,
/// ... and marks the special tokens.
void read_special_files(Tokens& tokens, const std::filesystem::path& folder);
std::string special_tokens_map(const Tokens& tokens);

}  // namespace gradus::text::detail
