#include "gradus/core/io/printable.h"

#include <algorithm>

namespace gradus::io {

namespace {

/// The character at the front of a text, or a byte that is not UTF-8.
struct Front {
  std::size_t bytes = 1;
  bool shown = false;  // harmless in a terminal
};

Front front_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first >= ' ' && first != 0x7f};
  const std::size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || count > text.size()) return {};
  for (std::size_t i = 1; i < count; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return {};
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  if (overlong || no_character) return {};
  const std::string_view character = text.substr(0, count);
  const bool control = first == 0xc2 && second < 0xa0;
  const bool turns = (character >= "\u202a" && character <= "\u202e") ||  // the direction of what follows
                     (character >= "\u2066" && character <= "\u2069");
  return {count, !control && !turns};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [bytes, shown] = front_of(text);
    shown ? result += text.substr(0, bytes) : result.append(bytes, '?');
    text.remove_prefix(bytes);
  }
  return result;
}

std::string printable_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [bytes, shown] = front_of(text);
    const bool layout = text[0] == '\n' || text[0] == '\t' || text.starts_with("\r\n");
    result += shown || layout ? text.substr(0, bytes) : "\uFFFD";
    text.remove_prefix(bytes);
  }
  return result;
}

std::string quote(const std::string& text) {
  std::size_t size = std::min<std::size_t>(text.size(), 80);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return "'" + printable(std::string_view(text).substr(0, size)) + (size < text.size() ? "...'" : "'");
}

}  // namespace gradus::io
