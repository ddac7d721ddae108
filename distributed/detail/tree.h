#pragma once
// The sum of an array over all ranks, in a fixed binary tree:
//
//   8 ranks     ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
//
// for every element, however the work is divided. Reduce-scatter by recursive halving: at level l = 0, 1, ...
// a rank exchanges half of what it still owns with rank ^ 2^l and adds what it receives, so that it owns half
// as much at the next level. All-gather by doubling goes back through the same levels with finished sums.
// Each rank sends 2 (n - 1) / n of the array, as in a ring, in 2 log2 n halves (Thakur, Rabenseifner & Gropp
// 2005, "Optimization of collective communication operations in MPICH", section 4). A half travels in pieces
// of 1 MiB, each of which is added while it is in the cache.

#include <array>
#include <functional>
#include <memory>

#include "gradus/core/array/array.h"
#include "gradus/distributed/detail/slices.h"
#include "gradus/distributed/detail/traffic.h"

namespace gradus::distributed::detail {

/// Throws unless ranks is a power of two: others have no such tree.
void expect_power_of_two(const char* op, int ranks);

/// For tests: the longest piece, at least 8.
void set_piece_of_sums(std::int64_t bytes);

/// An array's bytes [begin, end) in elements.
Bytes bytes_of(const Array& array, const Range& range);
Bytes bytes_of(const Array& array);

class TreeOperation final : public Operation {
 public:
  enum Parts { sum_and_share, sum, share };  // all-reduce; reduce-scatter; all-gather of the slices
  /// Called with the finished sum of this rank's slice, a view, before it is shared; again later if it
  /// returns false.
  using Summed = std::function<bool(const Array& slice)>;

  /// `array` [n] is contiguous; the operation works in its memory and keeps it alive. `slices` must outlive
  /// it.
  TreeOperation(Traffic& traffic, const Call& call, Array array, const Slices& slices, Parts parts,
                Summed summed = {});
  /// Unfinished only where an error ends the program.
  ~TreeOperation() override;

  bool poll() override;

 private:
  // Pieces of a level that are under way at once: a network goes on without being polled.
  static constexpr std::int64_t kInFlight = 64;
  enum class Stage { summing, summed, sharing, done };
  bool exchange_halves();
  bool peer_agrees();
  void begin(std::int64_t piece, const Range& own, const Range& others);
  Array arriving(std::int64_t piece, const Range& half) const;

  Traffic& traffic_;
  Array array_, arriving_;  // arriving_: pieces of the partner's half
  const Slices& slices_;
  Parts parts_;
  Summed summed_;
  Stage stage_;
  int level_;
  std::int64_t piece_;                  // elements
  std::int64_t begun_ = 0, ended_ = 0;  // pieces of this level
  std::array<Exchange, kInFlight> in_flight_;
  // Number and dtype of the elements: the first message to each partner, since halves of other sizes could
  // look like pieces of these.
  std::array<std::int64_t, 2> own_, peers_ = {};
  Exchange compared_;
  bool agrees_ = false;  // the partner of this level
};

}  // namespace gradus::distributed::detail
