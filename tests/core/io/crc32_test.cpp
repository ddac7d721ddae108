#include "gradus/core/io/crc32.h"

#include <doctest/doctest.h>

#include <string>

using gradus::io::crc32;

namespace {

/// Bit by bit, as in the standard.
std::uint32_t by_bits(const std::string& text) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

}  // namespace

TEST_CASE("crc32: its check value, and all lengths and alignments, against the bitwise version") {
  CHECK(crc32("", 0) == 0);
  CHECK(crc32("123456789", 9) == 0xCBF43926);
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * i * 37 + i);
  for (std::size_t first = 0; first < 8; ++first)
    for (std::size_t n = 0; n <= 40; ++n)
      CHECK(crc32(text.data() + first, n) == by_bits(text.substr(first, n)));
  CHECK(crc32(text.data(), text.size()) == by_bits(text));
  CHECK(crc32(text.data() + 41, 59, crc32(text.data(), 41)) == by_bits(text));  // in parts
}
