#pragma once
// Counter-based random numbers (Philox4x32-10; Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2,
// 3").
//
// Number i of a stream is a pure function of (seed, stream, i): any thread can compute any part of it, so
// results are the same for any number of threads, and a generator's entire state is three integers.

#include <array>
#include <cstdint>

#include "gradus/core/array/array.h"

namespace gradus {

/// One Philox block: four 32-bit words for a key and a 128-bit counter.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high);

/// A stream of random numbers. Copying it copies its state.
///
/// It has no lock: drawing from one Generator on two threads at once is a data race, and so is reading its
/// state or copying it while another thread draws. Give each thread its own, with a different stream:
/// `Generator mine(seed, /*stream=*/worker);` A single op or random_*() may draw on all threads of the pool.
class Generator {
 public:
  struct State {               // position in a stream of random numbers
    std::uint64_t seed = 0;    // determines the numbers
    std::uint64_t stream = 0;  // different streams of one seed are independent
    std::uint64_t offset = 0;  // Philox blocks used so far
    bool operator==(const State&) const = default;
  };

  explicit Generator(std::uint64_t seed = 0, std::uint64_t stream = 0) : state_{seed, stream, 0} {}

  State state() const { return state_; }  // to restore later with set_state()
  void set_state(const State& state) { state_ = state; }
  /// The state as i64 [3] (seed, stream, offset), for a checkpoint:
  /// `dict.set("data", Tensor(data.get_state()));`
  Array get_state() const;
  /// Restores it: `data.set_state(dict.at("data").array());` throws on anything but i64 [3].
  void set_state(const Array& state);
  void manual_seed(std::uint64_t seed) { state_.seed = seed, state_.offset = 0; }

  /// Moves `blocks` Philox blocks on and returns the state before: those blocks belong to the caller.
  State reserve(std::uint64_t blocks);

  std::uint64_t next();                    // 64 random bits
  double uniform();                        // [0, 1)
  double normal();                         // mean 0, standard deviation 1
  std::int64_t below(std::int64_t bound);  // 0 .. bound-1, unbiased; throws when bound < 1

 private:
  State state_;
};

/// This thread's default generator, used wherever none is given. Each thread has its own, starting at seed 0,
/// so programs that run jobs on their own threads stay reproducible: give each job its own seed. Use a
/// reference to it on this thread only.
Generator& default_generator();

/// Seeds this thread's default generator, and no other thread's: `manual_seed(0);`
void manual_seed(std::uint64_t seed);

// New arrays of random numbers. Element i is made from fixed words of fixed blocks: in f32 word i % 4 of
// block i / 4, in f64 and i64 half i % 2 of block i / 2. Only integers, + - * / and sqrt are used: the same
// bits on every machine.

/// Uniform over [low, high), in f32 or f64. Throws unless low <= high, and both and high - low are finite in
/// that dtype.
Array random_uniform(const Shape& shape, double low, double high, DType dtype, Generator& generator);
/// Normal, in f32 or f64, by the Box-Muller method, elements 2j and 2j + 1 together. Throws when std < 0, and
/// when mean or std is not finite.
Array random_normal(const Shape& shape, double mean, double std, DType dtype, Generator& generator);
/// low .. high-1, as i64; no number is more likely than another by more than (high - low) / 2^64. Throws when
/// low >= high.
Array random_integers(const Shape& shape, std::int64_t low, std::int64_t high, Generator& generator);
/// A random order of 0..n-1, as i64. Throws when n < 0.
Array random_permutation(std::int64_t n, Generator& generator);

}  // namespace gradus
