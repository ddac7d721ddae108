#pragma once
// A search that is fixed before its first run: the settings tried on each seed, the settings kept, and the
// growth of grids. It judges nothing: the chosen setting is run again on other seeds.
//
//   round 1   every family of settings, such as one kind of initial weights, at every rate of the grid, on
//             seed 1
//   round k   the kept[k - 1] settings with the lowest mean over the seeds so far, on seed k, too (successive
//             halving: Jamieson and Talwalkar 2016, arXiv:1502.07943, with seeds instead of steps)
//   edges     in each round, if the best rate of a family is the first or last of its grid, the grid grows by
//             a rung of the ladder, until the best is inside or the ladder ends

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gradus::lab {

struct Halving {
  std::size_t families = 1;
  std::vector<double> ladder;          // all rates the search may reach, rising
  std::size_t first = 0, last = 0;     // indices in the ladder: the first grid, both included
  std::vector<std::uint64_t> seeds;    // none of which judges
  std::vector<std::size_t> kept = {};  // of round 2, 3, ...; more rounds than numbers keep the last of them
};

struct Setting {
  std::size_t family = 0;
  std::size_t rate = 0;  // its index in the ladder
  bool operator==(const Setting&) const = default;
};

struct Searched {
  struct Run {
    Setting setting;
    std::uint64_t seed;
  };
  std::vector<Run> runs;          // that the search has asked for so far
  std::optional<Setting> chosen;  // when it has ended
  double mean = 0;                // of the chosen setting over the seeds of the search
  bool at_edge = false;    // its rate is the first or last of its grid, and the ladder has no further rung
  std::size_t rounds = 0;  // that have ended
};

/// Searches as far as `loss` allows, which returns nothing for a run that has not finished.
Searched search(const Halving& plan,
                const std::function<std::optional<double>(const Setting&, std::uint64_t seed)>& loss);

/// The number of its runs if no grid grows: of this many settings on `seeds` seeds.
std::size_t runs_without_growth(std::size_t settings, std::size_t seeds,
                                const std::vector<std::size_t>& kept);

/// Throws if a seed both searches and judges.
void check_apart(const std::vector<std::uint64_t>& searching, const std::vector<std::uint64_t>& judging);

}  // namespace gradus::lab
