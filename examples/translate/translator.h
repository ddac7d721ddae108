#pragma once
// A model with its tokenizer: translates text.

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gradus/nn/models/seq2seq_transformer.h"
#include "gradus/text/tokenizer.h"

namespace gradus::translate {

// The first tokens of a vocabulary.
inline constexpr std::int64_t kPad = 0, kStart = 1, kEnd = 2;

/// How a translation is searched for.
struct Search {
  std::int64_t beams = 5;  // 1: always the likeliest token
  double length_penalty = 1;
};

struct Translator {
  nn::Seq2SeqTransformer model;
  std::shared_ptr<const text::Tokenizer> tokenizer;
};

/// A vocabulary of both languages, learned from their texts.
std::shared_ptr<const text::Tokenizer> learn_vocabulary(std::span<const std::string> source,
                                                        std::span<const std::string> target,
                                                        std::int64_t tokens);

/// The tokens of a text, ended by the end token.
text::Ids tokens_of(const text::Tokenizer& tokenizer, const std::string& text);

/// Throws, naming `who`, if a text has more tokens than the model reads.
void expect_readable(const Translator& translator, const std::string& text, const std::string& who);

/// The translation's tokens [T] of a text, without the end token.
text::Ids search_one(const Translator& translator, const std::string& text, const Search& search);

/// A translation of each text, in order. Texts of similar length are translated together; `done` is told the
/// number so far.
std::vector<std::string> translate(const Translator& translator, std::span<const std::string> texts,
                                   const Search& search, const std::function<void(std::size_t)>& done = {});

/// One text, which may be empty; throws, naming `who`, if it is too long.
std::string translate_line(const Translator& translator, const std::string& text, const Search& search,
                           const std::string& who);

/// The names of the files that save() writes.
const std::vector<std::string>& saved_files();
/// Writes the model, its configuration and its tokenizer into a folder, which is created.
void save(const Translator& translator, const std::filesystem::path& folder);
/// Throws, naming file and remedy, if save() did not write the folder.
Translator load(const std::filesystem::path& folder);

}  // namespace gradus::translate
