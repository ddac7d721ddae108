#include "gradus/text/detail/byte_letters.h"

#include "gradus/text/detail/unicode.h"

namespace gradus::text::detail {
namespace {

bool is_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

}  // namespace

const std::array<std::string, 256>& byte_letters() {
  static const std::array<std::string, 256> letters = [] {
    std::array<std::string, 256> made;
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) append(made[byte], is_itself(byte) ? byte : next++);
    return made;
  }();
  return letters;
}

const std::array<unsigned char, 256>& bytes_in_order() {
  static const std::array<unsigned char, 256> bytes = [] {
    std::array<unsigned char, 256> made{};
    std::size_t at = 0;
    for (const bool itself : {true, false})
      for (unsigned byte = 0; byte < 256; ++byte)
        if (is_itself(byte) == itself) made[at++] = static_cast<unsigned char>(byte);
    return made;
  }();
  return bytes;
}

std::optional<std::string> bytes_of_letters(std::string_view letters) {
  static const std::array<int, 0x144> byte_of = [] {
    std::array<int, 0x144> made{};
    made.fill(-1);
    for (int byte = 0; byte < 256; ++byte)
      made[first_character(byte_letters()[static_cast<std::size_t>(byte)]).character] = byte;
    return made;
  }();
  std::string bytes;
  for (std::size_t at = 0; at < letters.size();) {
    const Start start = first_character(letters.substr(at));
    if (!start.valid || start.character >= byte_of.size() || byte_of[start.character] < 0) return {};
    bytes += static_cast<char>(byte_of[start.character]);
    at += start.bytes;
  }
  return bytes;
}

std::string letters_of_bytes(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) letters += byte_letters()[static_cast<unsigned char>(byte)];
  return letters;
}

}  // namespace gradus::text::detail
