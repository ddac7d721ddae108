#include "gradus/text/detail/basic_tokenizer.h"

#include <algorithm>

#include "gradus/text/detail/unicode.h"

namespace gradus::text::detail {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Range {
  char32_t first, last;
};
/// BERT's definition of Chinese characters: without Korean and Japanese kana.
constexpr Range kChinese[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                              {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};

bool is_chinese(char32_t character) {
  return std::any_of(std::begin(kChinese), std::end(kChinese),
                     [&](const Range& range) { return character >= range.first && character <= range.last; });
}

bool is_ascii_mark(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}

}  // namespace

BasicTokenizer::BasicTokenizer(const WordPieceOptions& options)
    : lowercase_(options.lowercase),
      strip_accents_(options.strip_accents.value_or(options.lowercase)),
      clean_(options.clean),
      space_cjk_(options.space_cjk) {
  for (std::size_t c = 0; c < ascii_.size(); ++c) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool control = c < 0x20 || c == 0x7F, blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    ascii_[c] = {kind_of(static_cast<char32_t>(c)), static_cast<char>(upper && lowercase_ ? c + 32 : c)};
    if (clean_ && control && !blank) ascii_[c].kind = Kind::dropped;
  }
}

BasicTokenizer::Kind BasicTokenizer::kind_of(char32_t c) const {
  if (is_white_space(c)) return Kind::space;
  return is_ascii_mark(c) || (c >= 0x80 && is_punctuation(c)) ? Kind::mark : Kind::letter;
}

void BasicTokenizer::add(char32_t character) {
  if (character < 0x80)
    word_ += static_cast<char>(character);
  else
    append(word_, character);
}

std::size_t BasicTokenizer::read(std::string_view text) {
  const Start start = first_character(text);
  const char32_t character = start.valid ? start.character : kReplacement;
  read_.clear();
  if (clean_ && (character == kReplacement || is_control(character))) return start.bytes;
  const bool alone = space_cjk_ && is_chinese(character);
  if (alone) read_ += U' ';
  if (strip_accents_) {
    decompose(character, read_);
    std::erase_if(read_, is_nonspacing_mark);
  } else {
    read_ += character;
  }
  if (lowercase_) lower(read_);
  if (alone) read_ += U' ';
  return start.bytes;
}

void BasicTokenizer::lower(std::u32string& characters) const {
  if (characters == U"\u0130") {  // the only character whose lower case has two characters
    characters = U"i\u0307";
    return;
  }
  for (char32_t& character : characters) character = to_lower(character);
}

}  // namespace gradus::text::detail
