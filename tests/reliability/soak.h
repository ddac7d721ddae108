#pragma once
// A soak: the same work again and again, which must need no more at the end than after its first rounds.
//
//   Soak soak("training");
//   while (soak.more()) work();
//
// Without GRADUS_SOAK_MINUTES it is a few rounds; with it, as many as take so long.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace gradus::test {

/// What a process holds. No thread may allocate meanwhile.
struct Taken {
  double resident = 0,
         heap = 0;  // bytes: pages in memory; of malloc, in use (0 where the system does not say)
  std::int64_t files = 0, threads = 0;  // open
  std::int64_t tensors = 0, nodes = 0;  // bytes of arrays; nodes of tapes

  static Taken now();
};

class Soak {
 public:
  explicit Soak(std::string name, int rounds = 4, int warm_up = 2);
  /// Prints what was measured.
  ~Soak();
  Soak(const Soak&) = delete;
  Soak& operator=(const Soak&) = delete;

  /// Measures after each round but those of the warm-up: files, threads, tensors and nodes as after the
  /// warm-up, and at most 1% more memory, with 2 MB (a few rounds: 8 MB) for pages and 256 KiB for the heap
  /// of malloc that come and go. True if another round follows.
  bool more();
  int rounds() const { return rounds_; }
  /// Whether it runs for GRADUS_SOAK_MINUTES.
  bool is_long() const { return seconds_ > 0; }

 private:
  double passed() const;
  void measure();
  std::string measured() const;

  const std::string name_;
  const int least_, warm_up_;
  const double seconds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int rounds_ = 0, warm_rounds_ = 0;
  double said_ = 0;  // seconds
  std::optional<Taken> first_;
  Taken most_;
};

}  // namespace gradus::test
