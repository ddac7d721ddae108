// Random arrays from Philox blocks (see philox.h for the layout).

#include "gradus/core/random/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/random/detail/box_muller.h"
#include "gradus/core/random/detail/philox.h"
#include "gradus/core/threads/parallel.h"

namespace gradus {
namespace {

constexpr std::int64_t kChunkBlocks = 2048;  // of parallel work

/// A new array whose elements are made from blocks of the generator: make(words, n, values) turns n blocks'
/// words into kPerBlock<T> values each, values[p][i] being element p of block i.
template <class T, class Make>
Array generate(const Shape& shape, Generator& generator, Make make) {
  Array result = Array::empty(shape, dtype_of<T>);
  const std::int64_t count = result.numel(), blocks = (count + kPerBlock<T> - 1) / kPerBlock<T>;
  const Generator::State state = generator.reserve(static_cast<std::uint64_t>(blocks));
  T* const out = result.mutable_data<T>();
  parallel_for(blocks, kChunkBlocks, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += kBatch) {
      const std::int64_t n = std::min(kBatch, end - first);
      const ElementWords<T> words(state, static_cast<std::uint64_t>(first), n);
      T values[kPerBlock<T>][kBatch];
      make(words, n, values);
      T* const to = out + first * kPerBlock<T>;
      const std::int64_t left = count - first * kPerBlock<T>, whole = std::min(n, left / kPerBlock<T>);
      for (std::int64_t i = 0; i < whole; ++i)
        for (int p = 0; p < kPerBlock<T>; ++p) to[i * kPerBlock<T> + p] = values[p][i];
      for (std::int64_t i = whole * kPerBlock<T>, p = 0; whole < n && i < left; ++i, ++p)
        to[i] = values[p][whole];
    }
  });
  return result;
}

template <class T>
Array uniform_array(const Shape& shape, T low, T high, Generator& generator) {
  const T largest = std::nextafter(high, low);  // rounding must not reach `high`
  return generate<T>(shape, generator, [=](const ElementWords<T>& words, std::int64_t n, T(*values)[kBatch]) {
    for (int p = 0; p < kPerBlock<T>; ++p)
      for (std::int64_t i = 0; i < n; ++i)
        values[p][i] = std::min(low + (high - low) * unit_interval<T>(words.word[p][i]), largest);
  });
}

template <class T>
Array normal_array(const Shape& shape, T mean, T std, Generator& generator) {
  return generate<T>(shape, generator, [=](const ElementWords<T>& words, std::int64_t n, T(*values)[kBatch]) {
    for (int p = 0; p < kPerBlock<T>; p += 2)
      for (std::int64_t i = 0; i < n; ++i) {
        T first, second;
        box_muller(words.word[p][i], words.word[p + 1][i], first, second);
        values[p][i] = mean + std * first;
        values[p + 1][i] = mean + std * second;
      }
  });
}

/// floor(word range / 2^64): 0 .. range - 1. Probabilities differ by at most range / 2^64.
std::uint64_t scale_to(std::uint64_t word, std::uint64_t range) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(word) * range) >> 64);
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                    std::uint64_t counter_high) {
  const ElementWords<float> words({.seed = key, .stream = counter_high, .offset = counter_low}, 0, 1);
  return {words.word[0][0], words.word[1][0], words.word[2][0], words.word[3][0]};
}

Array Generator::get_state() const {
  const auto bits = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const std::int64_t values[] = {bits(state_.seed), bits(state_.stream), bits(state_.offset)};
  return Array::from_span(std::span<const std::int64_t>(values), {3});
}

void Generator::set_state(const Array& state) {
  check(state.defined() && state.dtype() == i64 && state.shape() == Shape{3},
        "Generator: expects a state i64 [3], got {}",
        state.defined() ? fmt::format("{} {}", name(state.dtype()), to_string(state.shape())) : "nothing");
  const Array dense = state.contiguous();
  const auto* const values = dense.data<std::int64_t>();
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  state_ = {bits(values[0]), bits(values[1]), bits(values[2])};
}

Generator::State Generator::reserve(std::uint64_t blocks) {
  const State before = state_;
  state_.offset += blocks;
  return before;
}

std::uint64_t Generator::next() { return ElementWords<double>(reserve(1), 0, 1).word[0][0]; }

double Generator::uniform() { return unit_interval<double>(next()); }

double Generator::normal() {
  const ElementWords<double> words(reserve(1), 0, 1);
  double first, second;
  box_muller(words.word[0][0], words.word[1][0], first, second);
  return first;
}

std::int64_t Generator::below(std::int64_t bound) {
  check(bound >= 1, "Generator::below: expects a bound of at least 1, got {}", bound);
  const auto range = static_cast<std::uint64_t>(bound);
  // Words from the last, incomplete run of `range` values would bias the result: draw again.
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
  return dispatch_floating(dtype, [&]<class T>() {
    return uniform_array(shape, static_cast<T>(low), static_cast<T>(high), generator);
  });
}

Array random_normal(const Shape& shape, double mean, double std, DType dtype, Generator& generator) {
  check_floating("random_normal", dtype);
  check(std::isfinite(mean) && std::isfinite(std) && std >= 0,
        "random_normal: expects a finite mean and standard deviation >= 0, got {} and {}", mean, std);
  return dispatch_floating(dtype, [&]<class T>() {
    return normal_array(shape, static_cast<T>(mean), static_cast<T>(std), generator);
  });
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
