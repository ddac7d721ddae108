#include "gradus/kit/data/utf8.h"
#include "gradus/core/check.h"

namespace gradus::kit {
namespace {

constexpr char32_t escape_base = 0xDC00;  // + the byte: 0xDC80..0xDCFF

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

struct Decoded {
  char32_t character;
  std::size_t bytes;
};

// The number of bytes of a sequence, given its first byte, and the smallest character that needs that many; 0
// for an invalid first byte.
struct Form {
  std::size_t bytes;
  char32_t smallest;
};
Form form_of(unsigned char first) {
  if (first < 0x80) return {1, 0};
  if (first >= 0xC2 && first < 0xE0) return {2, 0x80};
  if (first >= 0xE0 && first < 0xF0) return {3, 0x800};
  if (first >= 0xF0 && first < 0xF5) return {4, 0x10000};
  return {0, 0};
}

Decoded decode_first(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  const Decoded escaped{escape_base + first, 1};
  const Form form = form_of(first);
  if (form.bytes == 0 || form.bytes > bytes.size()) return escaped;
  char32_t character = form.bytes == 1 ? first : first & (0x7Fu >> form.bytes);
  for (std::size_t i = 1; i < form.bytes; ++i) {
    if (!is_continuation(bytes[i])) return escaped;
    character = (character << 6) | (static_cast<unsigned char>(bytes[i]) & 0x3Fu);
  }
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  if (character < form.smallest || surrogate || character > 0x10FFFF) return escaped;
  return {character, form.bytes};
}

void append(std::string& bytes, char32_t character) {
  const auto tail = [&](int shift) { bytes += static_cast<char>(0x80 | ((character >> shift) & 0x3F)); };
  if (character < 0x80) {
    bytes += static_cast<char>(character);
  } else if (character < 0x800) {
    bytes += static_cast<char>(0xC0 | (character >> 6));
    tail(0);
  } else if (character < 0x10000) {
    bytes += static_cast<char>(0xE0 | (character >> 12));
    tail(6), tail(0);
  } else {
    bytes += static_cast<char>(0xF0 | (character >> 18));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

std::u32string code_points(std::string_view bytes) {
  std::u32string characters;
  characters.reserve(bytes.size());
  while (!bytes.empty()) {
    const Decoded next = decode_first(bytes);
    characters += next.character;
    bytes.remove_prefix(next.bytes);
  }
  return characters;
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Decoded next = decode_first(bytes);
    if (next.character >= escape_base && next.character <= escape_base + 0xFF) return false;
    bytes.remove_prefix(next.bytes);
  }
  return true;
}

std::string to_utf8(std::u32string_view characters) {
  std::string bytes;
  bytes.reserve(characters.size());
  for (const char32_t character : characters) {
    if (character >= escape_base + 0x80 && character <= escape_base + 0xFF) {
      bytes += static_cast<char>(character - escape_base);
    } else if ((character >= 0xD800 && character < 0xE000) || character > 0x10FFFF) {
      fail_with("to_utf8: U+{:04X} is not a character", static_cast<std::uint32_t>(character));
    } else {
      append(bytes, character);
    }
  }
  return bytes;
}

}  // namespace gradus::kit
