#pragma once
// Vocabularies made from texts of one's own.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "gradus/text/byte_level_bpe.h"
#include "gradus/text/word_piece.h"

namespace gradus::text {

struct TrainBPEOptions {
  std::int64_t vocab = 8000;                           // tokens in all, at most
  std::vector<std::string> special_tokens = {};        // get the first ids
  std::int64_t min_frequency = 2;                      // pairs that are rarer are not merged
  std::vector<std::string> patterns = {gpt2_pattern};  // by which a text is cut into words
};

/// A byte-level BPE (Sennrich et al. 2016): begins with the 256 bytes and merges, again and again, the two
/// tokens that stand side by side most often within words; of pairs that are equally frequent, the one of
/// smaller ids. The texts decide everything: the same ones give the same vocabulary. It has fewer than
/// `vocab` tokens when no pair is left.
///
///   const auto bpe = text::train_byte_level_bpe(texts, {.vocab = 8000, .special_tokens = {"<pad>", "<s>",
///   "</s>"}}); bpe.save("bpe");
///
/// Throws when `vocab` has no room for the bytes and the special tokens.
ByteLevelBPE train_byte_level_bpe(std::span<const std::string> texts, const TrainBPEOptions& options = {});
/// Of texts one by one: `train_byte_level_bpe({book}, {.vocab = 1000})`
ByteLevelBPE train_byte_level_bpe(std::initializer_list<std::string> texts,
                                  const TrainBPEOptions& options = {});

struct TrainWordPieceOptions {
  std::int64_t vocab = 8000;       // tokens in all, at most
  std::int64_t min_frequency = 2;  // pairs that are rarer are not merged
  std::int64_t alphabet = 1000;    // so many characters at most, the most frequent ones
  WordPieceOptions options = {};   // its special tokens get the first ids
};

/// A WordPiece vocabulary, made of characters by the same merges, as Hugging Face's BertWordPieceTrainer
/// does: first special tokens, then characters and, with "##", those inside of words. Words with a character
/// outside of the alphabet do not count. `text::train_word_piece(texts, {.vocab = 8000}).save("bert");`
WordPiece train_word_piece(std::span<const std::string> texts, const TrainWordPieceOptions& options = {});
/// Of texts one by one: `train_word_piece({book}, {.vocab = 1000})`
WordPiece train_word_piece(std::initializer_list<std::string> texts,
                           const TrainWordPieceOptions& options = {});

}  // namespace gradus::text
