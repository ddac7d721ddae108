#pragma once
// The parts of the study `depth-48`: a search over warm-up and rate for 48 layers, for each placement.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/search.h"

namespace gradus::lab::depth_48 {

inline const std::array<std::string, 2> kPlacements = {"Pre-LN", "Post-LN"};
inline const std::array<std::string, 2> kWords = {"pre", "post"};  // in names of runs

/// A candidate of the search: a linear warm-up of so many steps to a constant rate.
struct Design {
  std::int64_t warmup = 0;
  double lr = 0;
  bool operator==(const Design&) const = default;
};

struct Grid {
  std::int64_t layers = 48, steps = 0;
  std::vector<std::int64_t> warmups;  // rising, 0 first
  std::vector<double> lrs;            // rising
  std::vector<std::uint64_t> seeds;
  std::vector<Design> designs() const;
  /// The rates of one warm-up.
  Search search(std::size_t placement, std::int64_t warmup) const;
};
Grid grid_of(const StudyOptions& options);
std::string run_name(std::size_t placement, const Design& design, std::uint64_t seed);

/// The designs among which a search chooses: all, or those without or with warm-up.
enum class Among { all, cold, warm };
/// For each seed the design that is best on average over the other seeds, and its loss there.
Found chosen(const StudyResults& results, std::size_t placement, Among among);
/// For each seed its own best design; nothing where none of them trained, since the lowest loss then means
/// nothing. Seeds are independent.
std::vector<std::optional<Design>> own_best(const StudyResults& results, std::size_t placement);
/// The choice of all seeds together: the answer on the page. Nothing before all runs have finished.
std::optional<Design> answer(const StudyResults& results, std::size_t placement);

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::depth_48
