#include "gradus/core/io/crc32.h"

#include <array>

namespace gradus::io {
namespace {

constexpr std::uint32_t kPolynomial = 0xEDB88320;
constexpr std::size_t kAtOnce = 8;
using Table = std::array<std::uint32_t, 256>;

/// tables[k][b]: what byte b becomes when k more bytes follow it. With eight of them eight bytes are looked
/// up at once, and their remainders, which are independent, xored.
constexpr std::array<Table, kAtOnce> make_tables() {  // never run: the compiler computes them
  std::array<Table, kAtOnce> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? kPolynomial : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < kAtOnce; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t rest = tables[k - 1][byte];
      tables[k][byte] = (rest >> 8) ^ tables[0][rest & 0xFF];
    }
  return tables;
}
constexpr std::array<Table, kAtOnce> kTables = make_tables();

}  // namespace

std::uint32_t crc32(const void* data, std::size_t bytes, std::uint32_t before) {
  const auto* next = static_cast<const unsigned char*>(data);
  std::uint32_t crc = ~before;
  for (; bytes >= kAtOnce; bytes -= kAtOnce, next += kAtOnce) {
    std::uint32_t after = 0;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const std::uint32_t rest = i < 4 ? crc >> (8 * i) : 0;
      after ^= kTables[kAtOnce - 1 - i][(rest ^ next[i]) & 0xFF];
    }
    crc = after;
  }
  for (; bytes > 0; --bytes, ++next) crc = (crc >> 8) ^ kTables[0][(crc ^ *next) & 0xFF];
  return ~crc;
}

}  // namespace gradus::io
