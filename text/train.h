#pragma once
// Trains tokenizers on texts.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "gradus/text/byte_level_bpe.h"
#include "gradus/text/word_piece.h"

namespace gradus::text {

struct TrainBPEOptions {
  std::int64_t vocab = 8000;                           // the maximum number of tokens
  std::vector<std::string> special_tokens = {};        // get the first ids
  std::int64_t min_frequency = 2;                      // rarer pairs are not merged
  std::vector<std::string> patterns = {gpt2_pattern};  // split a text into words
};

/// Trains a byte-level BPE (Sennrich et al. 2016): starts with the 256 bytes and repeatedly merges the most
/// frequent pair of adjacent tokens within words; of equally frequent pairs, that with the smaller ids. The
/// same texts give the same vocabulary. It has fewer than `vocab` tokens if no pair is left.
///
///   const auto bpe = text::train_byte_level_bpe(texts, {.vocab = 8000, .special_tokens = {"<pad>", "<s>",
///   "</s>"}}); bpe.save("bpe");
///
/// Throws when `vocab` has no room for the bytes and the special tokens.
ByteLevelBPE train_byte_level_bpe(std::span<const std::string> texts, const TrainBPEOptions& options = {});
/// For a list of texts: `train_byte_level_bpe({book}, {.vocab = 1000})`
ByteLevelBPE train_byte_level_bpe(std::initializer_list<std::string> texts,
                                  const TrainBPEOptions& options = {});

struct TrainWordPieceOptions {
  std::int64_t vocab = 8000;       // the maximum number of tokens
  std::int64_t min_frequency = 2;  // rarer pairs are not merged
  std::int64_t alphabet = 1000;    // the maximum number of characters; keeps the most frequent ones
  WordPieceOptions options = {};   // its special tokens get the first ids
};

/// Trains a WordPiece vocabulary from characters by the same merges, like Hugging Face's
/// BertWordPieceTrainer: first come special tokens, then characters and, with "##", those inside words. Words
/// with a character outside the alphabet are ignored. `text::train_word_piece(texts, {.vocab =
/// 8000}).save("bert");`
WordPiece train_word_piece(std::span<const std::string> texts, const TrainWordPieceOptions& options = {});
/// For a list of texts: `train_word_piece({book}, {.vocab = 1000})`
WordPiece train_word_piece(std::initializer_list<std::string> texts,
                           const TrainWordPieceOptions& options = {});

}  // namespace gradus::text
