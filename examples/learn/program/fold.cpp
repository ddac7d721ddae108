#include "learn/program/fold.h"

#include <algorithm>

namespace gradus::learn {

namespace {

constexpr std::size_t kColumns = 100;

/// The number of UTF-8 characters: bytes that do not continue one.
std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string folded(std::string_view paragraph, std::size_t indent) {
  std::string text, line;
  while (!paragraph.empty()) {
    const std::size_t end = std::min(paragraph.find(' ', 1), paragraph.size());  // the blank stays in front
    const std::string_view word = paragraph.substr(0, end);
    paragraph.remove_prefix(end);
    if (!line.empty() && characters(line) + characters(word) > kColumns) {
      text += line + '\n';
      line = std::string(indent, ' ') + std::string(word.substr(1));
    } else {
      line += word;
    }
  }
  return text + line;
}

}  // namespace gradus::learn
