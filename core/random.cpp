// Random arrays from Philox blocks.
//
// Which words an element uses is fixed: f32 takes one 32-bit word (element i: word i % 4 of block i / 4), f64
// and i64 take one 64-bit word (element i: half i % 2 of block i / 2). Normal numbers come in pairs by
// Box-Muller, from the words of elements 2j and 2j + 1. Only + - * / sqrt and integers are used, no math
// library: the same numbers on every machine.

#include "gradus/core/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "gradus/core/format.h"
#include "gradus/core/parallel.h"

namespace gradus {
namespace {

constexpr std::int64_t kBatch =
    64;  // blocks computed together, so that the compiler can use vector instructions
constexpr std::int64_t kGrain = 8192;  // blocks in one chunk of parallel work

/// Ten rounds over `n` counters at once: words w[0][i] .. w[3][i] are block i's.
void philox_rounds(std::int64_t n, std::uint64_t key, std::uint32_t (*w)[kBatch]) {
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

// The bits one element is made from.
template <class T>
using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
constexpr std::int64_t kPerBlock = 16 / sizeof(T);

/// Elements' words for `n` blocks from `first` on: word[p][i] is that of element p of block i.
template <class T>
struct Words {
  Word<T> word[kPerBlock<T>][kBatch];

  Words(const Generator::State& state, std::uint64_t first, std::int64_t n) {
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

/// A new array whose elements are made from blocks of the generator: make(words, n, values) turns n blocks'
/// words into kPerBlock<T> values each, values[p][i] being element p of block i.
template <class T, class Make>
Array generate(const Shape& shape, Generator& generator, Make make) {
  Array result = Array::empty(shape, dtype_of<T>);
  const std::int64_t count = result.numel(), blocks = (count + kPerBlock<T> - 1) / kPerBlock<T>;
  const Generator::State state = generator.reserve(static_cast<std::uint64_t>(blocks));
  T* const out = result.mutable_data<T>();
  parallel_for(blocks, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += kBatch) {
      const std::int64_t n = std::min(kBatch, end - first);
      const Words<T> words(state, static_cast<std::uint64_t>(first), n);
      T values[kPerBlock<T>][kBatch];
      make(words, n, values);
      const std::int64_t start = first * kPerBlock<T>, stop = std::min(count, start + n * kPerBlock<T>);
      for (std::int64_t i = start; i < stop; ++i)
        out[i] = values[(i - start) % kPerBlock<T>][(i - start) / kPerBlock<T>];
    }
  });
  return result;
}

/// The upper 24 or 53 bits as a number in [0, 1).
template <class T>
T unit_interval(Word<T> word) {
  constexpr int bits = std::numeric_limits<T>::digits, spare = 8 * sizeof(T) - bits;
  return static_cast<T>(static_cast<std::make_signed_t<Word<T>>>(word >> spare)) /
         static_cast<T>(Word<T>{1} << bits);
}

/// log u for normal u in (0, 1]: u = 2^e m with m in [sqrt 1/2, sqrt 2), and log m = 2 artanh((m - 1) / (m +
/// 1)).
template <class T>
T log_unit(T u) {
  using Signed = std::make_signed_t<Word<T>>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  const auto bits = std::bit_cast<Signed>(u);
  const Signed e = (bits - std::bit_cast<Signed>(static_cast<T>(1 / std::numbers::sqrt2))) >> mantissa;
  const T m = std::bit_cast<T>(static_cast<Signed>(bits - e * (Signed{1} << mantissa)));
  const T s = (m - 1) / (m + 1), s2 = s * s;  // s2 < 0.0295
  constexpr int terms = sizeof(T) == 4 ? 5 : 11;
  T series = 0;
  for (int k = terms - 1; k >= 0; --k) series = series * s2 + static_cast<T>(2.0 / (2 * k + 1));
  return static_cast<T>(e) * std::numbers::ln2_v<T> + series * s;
}

/// sin and cos of 2 pi word / 2^bits. The quadrant is taken off in integers, exactly; the rest is a Taylor
/// series on [-pi/4, pi/4].
template <class T>
void sin_cos_turn(Word<T> word, T& sin, T& cos) {
  using Signed = std::make_signed_t<Word<T>>;
  constexpr int quarter = 8 * sizeof(T) - 2;
  const Word<T> quadrant = (word + (Word<T>{1} << (quarter - 1))) >> quarter;  // 0 .. 3
  const auto rest = static_cast<Signed>(word - (quadrant << quarter));
  const T x = static_cast<T>(rest) *
              static_cast<T>(std::numbers::pi / 2 / static_cast<double>(Word<T>{1} << quarter));
  const T x2 = x * x;
  constexpr int terms = sizeof(T) == 4 ? 5 : 8;
  T s = 1, c = 1;  // s = 1 - x2/(2 3) (1 - x2/(4 5) (1 - ...)), c = 1 - x2/(1 2) (1 - x2/(3 4) (1 - ...))
  for (int k = terms; k > 0; --k) {
    s = 1 - x2 * static_cast<T>(1.0 / (2 * k * (2 * k + 1))) * s;
    c = 1 - x2 * static_cast<T>(1.0 / ((2 * k - 1) * 2 * k)) * c;
  }
  s *= x;
  const bool swap = quadrant & 1;
  const T sin_size = swap ? c : s, cos_size = swap ? s : c;
  sin = quadrant & 2 ? -sin_size : sin_size;
  cos = (quadrant + 1) & 2 ? -cos_size : cos_size;
}

/// Two independent standard normal numbers (Box and Muller 1958): sqrt(-2 log u) times the cosine and the
/// sine of a random angle, u in (0, 1].
template <class T>
void box_muller(Word<T> a, Word<T> b, T& first, T& second) {
  constexpr int bits = 8 * sizeof(T) - 1;
  constexpr T scale = 1 / static_cast<T>(Word<T>{1} << bits);
  const T u = (static_cast<T>(static_cast<std::make_signed_t<Word<T>>>(a >> 1)) + 1) * scale;
  const T radius = std::sqrt(-2 * log_unit(u));
  T sin, cos;
  sin_cos_turn<T>(b, sin, cos);
  first = radius * cos;
  second = radius * sin;
}

template <class T>
Array uniform_array(const Shape& shape, T low, T high, Generator& generator) {
  const T largest = std::nextafter(high, low);  // rounding must not reach `high`
  return generate<T>(shape, generator, [=](const Words<T>& words, std::int64_t n, T(*values)[kBatch]) {
    for (int p = 0; p < kPerBlock<T>; ++p)
      for (std::int64_t i = 0; i < n; ++i)
        values[p][i] = std::min(low + (high - low) * unit_interval<T>(words.word[p][i]), largest);
  });
}

template <class T>
Array normal_array(const Shape& shape, T mean, T std, Generator& generator) {
  return generate<T>(shape, generator, [=](const Words<T>& words, std::int64_t n, T(*values)[kBatch]) {
    for (int p = 0; p < kPerBlock<T>; p += 2)
      for (std::int64_t i = 0; i < n; ++i) {
        T first, second;
        box_muller(words.word[p][i], words.word[p + 1][i], first, second);
        values[p][i] = mean + std * first;
        values[p + 1][i] = mean + std * second;
      }
  });
}

/// floor(word range / 2^64): 0 .. range - 1. No number is more likely than another by more than range / 2^64.
std::uint64_t scale_to(std::uint64_t word, std::uint64_t range) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(word) * range) >> 64);
}

void check_floating(const char* op, DType dtype) {
  check(is_floating(dtype), "{}: expects f32 or f64, got {}", op, dtype);
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                    std::uint64_t counter_high) {
  const Words<float> words({.seed = key, .stream = counter_high, .offset = counter_low}, 0, 1);
  return {words.word[0][0], words.word[1][0], words.word[2][0], words.word[3][0]};
}

Generator::State Generator::reserve(std::uint64_t blocks) {
  const State before = state_;
  state_.offset += blocks;
  return before;
}

std::uint64_t Generator::next() { return Words<double>(reserve(1), 0, 1).word[0][0]; }

double Generator::uniform() { return unit_interval<double>(next()); }

double Generator::normal() {
  const Words<double> words(reserve(1), 0, 1);
  double first, second;
  box_muller(words.word[0][0], words.word[1][0], first, second);
  return first;
}

std::int64_t Generator::below(std::int64_t bound) {
  check(bound >= 1, "Generator::below: expects a bound of at least 1, got {}", bound);
  const auto range = static_cast<std::uint64_t>(bound);
  // Words from the last, incomplete run of `range` numbers would favour some: draw again.
  const std::uint64_t last = ~std::uint64_t{0} - (~std::uint64_t{0} % range + 1) % range;
  std::uint64_t word = next();
  while (word > last) word = next();
  return static_cast<std::int64_t>(word % range);
}

Generator& default_generator() {
  thread_local Generator generator;
  return generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

Array random_uniform(const Shape& shape, double low, double high, DType dtype, Generator& generator) {
  check_floating("random_uniform", dtype);
  const double most =
      dtype == f64 ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
  check(low <= high && low >= -most && high <= most && high - low <= most,
        "random_uniform: expects finite low <= high, got {} and {}", low, high);
  if (dtype == f64) return uniform_array(shape, low, high, generator);
  return uniform_array(shape, static_cast<float>(low), static_cast<float>(high), generator);
}

Array random_normal(const Shape& shape, double mean, double std, DType dtype, Generator& generator) {
  check_floating("random_normal", dtype);
  check(std::isfinite(mean) && std::isfinite(std) && std >= 0,
        "random_normal: expects a finite mean and standard deviation >= 0, got {} and {}", mean, std);
  if (dtype == f64) return normal_array(shape, mean, std, generator);
  return normal_array(shape, static_cast<float>(mean), static_cast<float>(std), generator);
}

Array random_integers(const Shape& shape, std::int64_t low, std::int64_t high, Generator& generator) {
  check(low < high, "random_integers: expects low < high, got {} and {}", low, high);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return generate<std::int64_t>(shape, generator, [=](const auto& words, std::int64_t n, auto* values) {
    for (int p = 0; p < 2; ++p)
      for (std::int64_t i = 0; i < n; ++i)
        values[p][i] =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + scale_to(words.word[p][i], range));
  });
}

Array random_permutation(std::int64_t n, Generator& generator) {
  check(n >= 0, "random_permutation: expects n >= 0, got {}", n);
  const Array words =
      generate<std::int64_t>({n}, generator, [](const auto& w, std::int64_t blocks, auto* values) {
        for (int p = 0; p < 2; ++p) std::copy_n(w.word[p], blocks, values[p]);
      });
  Array order = Array::empty({n}, i64);
  std::int64_t* const out = order.mutable_data<std::int64_t>();
  const std::int64_t* const word = words.data<std::int64_t>();
  // Fisher and Yates, from the front: element i goes to a random place among the first i + 1.
  for (std::int64_t i = 0; i < n; ++i) {
    const auto j = scale_to(static_cast<std::uint64_t>(word[i]), static_cast<std::uint64_t>(i) + 1);
    out[i] = out[j];
    out[j] = i;
  }
  return order;
}

}  // namespace gradus
