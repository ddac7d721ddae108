#pragma once
// Part of body.h. Dropout, with Philox4x32-10 random numbers (Salmon et al. 2011) made on the spot, many
// blocks at once.
//
// A block is four 32-bit words, a function of a key and a counter. The layout is that of
// core/random/random.cpp:
//   key     = {low word, high word} of the seed
//   counter = {block low, block high, stream low, stream high}
//   uniform = (word >> 8) * 2^-24, in [0, 1)

namespace gradus::kernels {
namespace {

inline std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
inline std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

constexpr I words_per_batch = 4 * VecU32::lanes;

/// The words of blocks block, block + 1, ... block + VecU32::lanes - 1, in order. `block` is a multiple of
/// VecU32::lanes, so that only the lowest word of the counter differs between them.
inline void philox_batch(std::uint64_t key, std::uint64_t stream, std::uint64_t block, std::uint32_t* words) {
  VecU32 c0 = VecU32::counting_from(low_word(block)), c1(high_word(block)), c2(low_word(stream)),
         c3(high_word(stream));
  VecU32 k0(low_word(key)), k1(high_word(key));
  for (int round = 0; round < 10; ++round) {
    const WideProduct p0 = multiply(c0, VecU32(0xD2511F53)), p1 = multiply(c2, VecU32(0xCD9E8D57));
    c0 = p1.high ^ c1 ^ k0;
    c2 = p0.high ^ c3 ^ k1;
    c1 = p1.low;
    c3 = p0.low;
    k0 = k0 + VecU32(0x9E3779B9);
    k1 = k1 + VecU32(0xBB67AE85);
  }
  store_interleaved(words, c0, c1, c2, c3);
}

/// The whole number t with: (word >> 8) * 2^-24 >= p exactly when (word >> 8) >= t.
inline double threshold_24(double p) {
  const double scaled = p * 16777216.0;
  const double down = static_cast<double>(static_cast<std::int64_t>(scaled));
  return down < scaled ? down + 1 : down;
}

template <class V>
void dropout(I n, double p, std::uint64_t key, std::uint64_t stream, std::uint64_t block, std::uint64_t first,
             const ScalarOf<V>* x, ScalarOf<V>* y) {
  const V threshold = threshold_24(p), keep_scale = 1 / (1 - p);  // y_i = x_i keep_scale where u_i >= p
  // With room for a last vector that reads past the words.
  alignas(64) std::uint32_t words[words_per_batch + V::lanes];
  constexpr std::uint64_t blocks_per_batch = VecU32::lanes;
  block += first / 4;
  I skip = static_cast<I>(4 * (block % blocks_per_batch) + first % 4);
  block -= block % blocks_per_batch;
  for (I i = 0; i < n; block += blocks_per_batch, skip = 0) {
    philox_batch(key, stream, block, words);
    const I count = n - i < words_per_batch - skip ? n - i : words_per_batch - skip;
    for_each<V>(count, [=, &words](auto at) {
      const V uniform = V::from_words(words + skip + at.i);
      at.store(y + i, select(uniform >= threshold, at.load(x + i) * keep_scale, V(0)));
    });
    i += count;
  }
}

}  // namespace
}  // namespace gradus::kernels
