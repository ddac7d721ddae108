#include "gradus/text/detail/unicode.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "gradus/core/check.h"

namespace gradus::text::detail {
namespace {

using Byte = unsigned char;

/// The number of bytes of a character and the range of its second byte, given the first (Unicode, table 3-7).
struct Form {
  std::size_t bytes;
  Byte low, high;
};
Form form_of(Byte first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

utf8proc_category_t category(char32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

}  // namespace

Start first_character(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<Byte>(text[i]); };
  const Form form = form_of(at(0));
  if (form.bytes == 0) return {.bytes = 1};
  if (form.bytes == 1) return {.character = at(0), .bytes = 1, .valid = true};
  char32_t character = at(0) & (0x7Fu >> form.bytes);
  for (std::size_t i = 1; i < form.bytes; ++i) {
    if (i == text.size()) return {.bytes = i, .unfinished = true};
    const Byte low = i == 1 ? form.low : Byte{0x80}, high = i == 1 ? form.high : Byte{0xBF};
    if (at(i) < low || at(i) > high) return {.bytes = i};
    character = (character << 6) | (at(i) & 0x3Fu);
  }
  return {.character = character, .bytes = form.bytes, .valid = true};
}

void append(std::string& text, char32_t character) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::size_t valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<Byte>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Start start = first_character(text.substr(at));
    if (!start.valid) break;
    at += start.bytes;
  }
  return at;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += (static_cast<Byte>(byte) & 0xC0) != 0x80;
  return count;
}

std::string compose(std::string_view text) {
  utf8proc_uint8_t* bytes = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();  // never run: only without memory
  check(size >= 0, "compose: {}", utf8proc_errmsg(size));
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void decompose(char32_t character, std::u32string& out) {
  utf8proc_int32_t parts[32];  // no character has more than 4
  int last_class = UTF8PROC_BOUNDCLASS_START;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character), parts, 32,
                                             UTF8PROC_DECOMPOSE, &last_class);
  check(count >= 0, "decompose: U+{:04X}: {}", static_cast<std::uint32_t>(character), utf8proc_errmsg(count));
  for (utf8proc_ssize_t i = 0; i < count; ++i) out += static_cast<char32_t>(parts[i]);
}

char32_t to_lower(char32_t character) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character)));
}

bool is_white_space(char32_t character) {
  if (character <= 0x20) return character == 0x20 || (character >= 9 && character <= 13);
  if (character == 0x85) return true;
  const utf8proc_category_t kind = category(character);
  return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

bool is_punctuation(char32_t character) {
  const utf8proc_category_t kind = category(character);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_control(char32_t character) {
  const utf8proc_category_t kind = category(character);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO;
}

bool is_nonspacing_mark(char32_t character) { return category(character) == UTF8PROC_CATEGORY_MN; }

}  // namespace gradus::text::detail
