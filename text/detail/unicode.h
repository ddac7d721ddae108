#pragma once
// UTF-8 and Unicode's properties of characters (utf8proc).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::text::detail {

/// The beginning of a text.
struct Start {
  char32_t character = 0;  // if valid
  std::size_t bytes = 0;   // of the character; if invalid, of the longest part of one, at least 1
  bool valid = false;
  bool unfinished = false;  // the text ends within a character
};

/// The first character of a text that is not empty.
Start first_character(std::string_view text);
void append(std::string& text, char32_t character);

/// The length of the longest prefix that is valid UTF-8.
std::size_t valid_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return valid_prefix(text) == text.size(); }
/// The number of characters in valid UTF-8.
std::size_t count_characters(std::string_view text);

/// Canonical composition (NFC) of valid UTF-8.
std::string compose(std::string_view text);
/// Appends the canonical decomposition (NFD) of one character.
void decompose(char32_t character, std::u32string& out);
char32_t to_lower(char32_t character);

bool is_white_space(char32_t character);  // Unicode's White_Space
bool is_punctuation(char32_t character);  // any category P
bool is_control(char32_t character);      // categories Cc, Cf and Co
bool is_nonspacing_mark(char32_t character);

}  // namespace gradus::text::detail
