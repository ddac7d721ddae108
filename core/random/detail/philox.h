#pragma once
// Philox4x32-10, many blocks at once, and how elements use their words.
//
// Which words an element uses is fixed: f32 takes one 32-bit word (element i: word i % 4 of block i / 4), f64
// and i64 take one 64-bit word (element i: half i % 2 of block i / 2).

#include <cstdint>
#include <limits>
#include <type_traits>

#include "gradus/core/random/random.h"

namespace gradus {

/// Blocks computed together, so the compiler can vectorize.
inline constexpr std::int64_t kBatch = 64;

/// Ten rounds over `n` counters at once: words w[0][i] .. w[3][i] are block i's.
inline void philox_rounds(std::int64_t n, std::uint64_t key, std::uint32_t (*w)[kBatch]) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    std::uint32_t w0 = w[0][i], w1 = w[1][i], w2 = w[2][i], w3 = w[3][i];
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53} * w0, p1 = std::uint64_t{0xCD9E8D57} * w2;
      w0 = static_cast<std::uint32_t>(p1 >> 32) ^ w1 ^ k0;
      w1 = static_cast<std::uint32_t>(p1);
      w2 = static_cast<std::uint32_t>(p0 >> 32) ^ w3 ^ k1;
      w3 = static_cast<std::uint32_t>(p0);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    w[0][i] = w0, w[1][i] = w1, w[2][i] = w2, w[3][i] = w3;
  }
}

/// The random bits of one element.
template <class T>
using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
inline constexpr std::int64_t kPerBlock = 16 / sizeof(T);

/// Elements' words for `n` blocks from `first` on: word[p][i] is that of element p of block i.
template <class T>
struct ElementWords {
  Word<T> word[kPerBlock<T>][kBatch];

  ElementWords(const Generator::State& state, std::uint64_t first, std::int64_t n) {
    std::uint32_t w[4][kBatch];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t block = state.offset + first + static_cast<std::uint64_t>(i);
      w[0][i] = static_cast<std::uint32_t>(block);
      w[1][i] = static_cast<std::uint32_t>(block >> 32);
      w[2][i] = static_cast<std::uint32_t>(state.stream);
      w[3][i] = static_cast<std::uint32_t>(state.stream >> 32);
    }
    philox_rounds(n, state.seed, w);
    for (int p = 0; p < kPerBlock<T>; ++p)
      for (std::int64_t i = 0; i < n; ++i)
        if constexpr (sizeof(T) == 4)
          word[p][i] = w[p][i];
        else
          word[p][i] = w[2 * p][i] | std::uint64_t{w[2 * p + 1][i]} << 32;
  }
};

/// The upper 24 or 53 bits as a number in [0, 1).
template <class T>
T unit_interval(Word<T> word) {
  constexpr int bits = std::numeric_limits<T>::digits, spare = 8 * sizeof(T) - bits;
  return static_cast<T>(static_cast<std::make_signed_t<Word<T>>>(word >> spare)) /
         static_cast<T>(Word<T>{1} << bits);
}

}  // namespace gradus
