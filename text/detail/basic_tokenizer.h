#pragma once
// Splits text into words like BERT's BasicTokenizer.

#include <array>
#include <string>
#include <string_view>

#include "gradus/text/word_piece.h"

namespace gradus::text::detail {

class BasicTokenizer {
 public:
  explicit BasicTokenizer(const WordPieceOptions& options);

  /// Calls each(word) for every word; a punctuation mark is a word.
  template <class F>
  void split(std::string_view text, const F& each) {
    word_.clear();
    for (std::size_t at = 0; at < text.size();) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte < 0x80) {
        take(ascii_[byte].kind, ascii_[byte].letter, each);
        ++at;
        continue;
      }
      at += read(text.substr(at));
      for (const char32_t character : read_) take(kind_of(character), character, each);
    }
    end_word(each);
  }

 private:
  enum class Kind { dropped, space, mark, letter };

  template <class F>
  void take(Kind kind, char32_t character, const F& each) {
    if (kind == Kind::letter) return add(character);
    if (kind == Kind::dropped) return;
    end_word(each);
    if (kind == Kind::space) return;
    add(character);
    end_word(each);
  }
  template <class F>
  void end_word(const F& each) {
    if (!word_.empty()) each(std::string_view(word_));
    word_.clear();
  }
  void add(char32_t character);
  /// Reads a character that is not ASCII into read_, after cleaning, spacing, stripping accents and lowering,
  /// as the options say. Returns its number of bytes.
  std::size_t read(std::string_view text);
  void lower(std::u32string& characters) const;
  Kind kind_of(char32_t character) const;

  struct Ascii {
    Kind kind;
    char letter;
  };
  bool lowercase_, strip_accents_, clean_, space_cjk_;
  std::array<Ascii, 128> ascii_{};
  std::string word_;
  std::u32string read_;
};

}  // namespace gradus::text::detail
