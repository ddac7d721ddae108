#pragma once
// The largest stable rate of an arm, for claims about why training fails: they compare runs that survive with
// runs that fail at a nearby rate. All searching seeds try each rate of a ladder from the lowest up, until
// more than half of them fail. The seeds that judge are others (check_apart in halving.h).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gradus::lab {

struct Climbed {
  struct Run {
    std::size_t rate = 0;  // its index in the ladder
    std::uint64_t seed = 0;
  };
  std::vector<Run> runs;  // asked for so far
  bool ended = false;
  // Indices in the ladder, when it has ended: the last rate before the first at which a run failed (nothing
  // if one failed at the lowest), and the first at which more than half fail (nothing if the ladder ended).
  std::optional<std::size_t> stable = {}, failing = {};
  /// The largest stable rate is above or below the ladder.
  bool at_edge() const { return ended && (!stable || !failing); }
};

/// Climbs `rates` rates as far as `survives` allows, which returns nothing for a run that has not finished.
Climbed climb(std::size_t rates, const std::vector<std::uint64_t>& seeds,
              const std::function<std::optional<bool>(std::size_t rate, std::uint64_t seed)>& survives);

}  // namespace gradus::lab
