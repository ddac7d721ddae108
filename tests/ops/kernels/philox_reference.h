#pragma once
// The random numbers of dropout, by the published algorithm.

#include <array>

#include "kernel_test.h"

namespace gradus::test {

using Words = std::array<std::uint32_t, 4>;

/// Philox4x32-10 as published, one block at a time.
inline Words philox_block(std::uint64_t key, std::uint64_t stream, std::uint64_t block) {
  Words c{std::uint32_t(block), std::uint32_t(block >> 32), std::uint32_t(stream),
          std::uint32_t(stream >> 32)};
  std::uint32_t k0 = std::uint32_t(key), k1 = std::uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    c = {std::uint32_t(p1 >> 32) ^ c[1] ^ k0, std::uint32_t(p1), std::uint32_t(p0 >> 32) ^ c[3] ^ k1,
         std::uint32_t(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// Does dropout keep this element?
inline bool kept(double p, std::uint64_t key, std::uint64_t stream, std::uint64_t block,
                 std::uint64_t element) {
  const std::uint32_t word = philox_block(key, stream, block + element / 4)[element % 4];
  return std::ldexp(double(word >> 8), -24) >= p;
}

}  // namespace gradus::test
