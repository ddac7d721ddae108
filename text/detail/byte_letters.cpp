#include "gradus/text/detail/byte_letters.h"

#include "gradus/text/detail/unicode.h"

// Tables without a constructor: threads that tokenize share them, also while another one forks.

namespace gradus::text::detail {
namespace {

constexpr bool is_itself(unsigned byte) {  // never run: the compiler computes it
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::size_t kCharacters = 0x144;  // all letters are below

constexpr std::array<char32_t, 256> characters = [] {
  std::array<char32_t, 256> made{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) made[byte] = is_itself(byte) ? byte : next++;
  return made;
}();

struct Utf8 {
  char bytes[2];
  unsigned char count;
};
constexpr std::array<Utf8, 256> letters = [] {
  std::array<Utf8, 256> made{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char32_t c = characters[byte];
    made[byte] = c < 0x80
                     ? Utf8{{static_cast<char>(c)}, 1}
                     : Utf8{{static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))}, 2};
  }
  return made;
}();

constexpr std::array<unsigned char, 256> in_order = [] {
  std::array<unsigned char, 256> made{};
  std::size_t at = 0;
  for (const bool itself : {true, false})
    for (unsigned byte = 0; byte < 256; ++byte)
      if (is_itself(byte) == itself) made[at++] = static_cast<unsigned char>(byte);
  return made;
}();

constexpr std::array<int, kCharacters> byte_of = [] {
  std::array<int, kCharacters> made{};
  for (int& byte : made) byte = -1;
  for (std::size_t byte = 0; byte < 256; ++byte) made[characters[byte]] = static_cast<int>(byte);
  return made;
}();

}  // namespace

std::string_view byte_letter(unsigned char byte) { return {letters[byte].bytes, letters[byte].count}; }

const std::array<unsigned char, 256>& bytes_in_order() { return in_order; }

std::optional<std::string> bytes_of_letters(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    const Start start = first_character(text.substr(at));
    if (!start.valid || start.character >= byte_of.size() || byte_of[start.character] < 0) return {};
    bytes += static_cast<char>(byte_of[start.character]);
    at += start.bytes;
  }
  return bytes;
}

}  // namespace gradus::text::detail
