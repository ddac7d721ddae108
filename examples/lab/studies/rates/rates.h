#pragma once
// The parts of the study `rates`: rate x warm-up x depth for Pre-LN and Post-LN.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/search.h"

namespace gradus::lab::rates {

/// In the order of all tables and charts; the index is the style of a line.
inline const std::array<std::string, 2> kPlacements = {"Pre-LN", "Post-LN"};

/// The models that are trained: every depth with every rate and every warm-up.
struct Grid {
  std::int64_t steps = 0;
  std::vector<std::int64_t> depths;
  std::vector<double> lrs;  // rising, each about three times the one before
  std::vector<std::int64_t>
      warmups;  // 0 first; the second, a quarter of the steps, is "with warm-up" in the measures
  std::vector<std::uint64_t> seeds;

  std::int64_t warmup() const { return warmups[1]; }
  /// Rates x warm-ups: the number of tries of each placement.
  std::size_t tries() const { return lrs.size() * warmups.size(); }
};
Grid grid_of(const StudyOptions& options);

/// Points of the training loss that a run keeps.
inline constexpr std::size_t kSlices = 12;

/// All rates of one model.
struct Sweep {
  std::string placement;
  std::int64_t layers = 0;
  std::int64_t warmup = 0;
};
std::string run_name(const Sweep& sweep, double lr, std::uint64_t seed);

/// The runs of a sweep, by their final loss.
Search losses_of(const Grid& grid, const Sweep& sweep);
/// The runs of a model with each of these warm-ups, by their final loss.
std::vector<Search> losses_of(const Grid& grid, const std::string& placement, std::int64_t layers,
                              const std::vector<std::int64_t>& warmups);
/// Steps to the target loss by seed: NaN where it was not reached, nothing where a run of that seed has not
/// finished.
using Steps = std::vector<std::optional<double>>;
/// At the rate and warm-up where the *other* seeds reach it soonest; in this choice a run that never reaches
/// it counts with all its steps.
Steps soonest(const StudyResults& results, const std::string& placement, std::int64_t layers);
/// For each seed the largest rate that trains; one step below the lowest rate where none does.
std::vector<double> largest(const StudyResults& results, const Sweep& sweep);

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

// Charts. Those by depth have a panel for each.
kit::Panels loss_by_rate(const StudyResults& results, std::int64_t warmup);
kit::HeatMap learned_map(const StudyResults& results, std::int64_t warmup);
kit::Panels sensitivity_by_depth(const StudyResults& results);
kit::Panels largest_by_depth(const StudyResults& results);
kit::Panels loss_by_warmup(const StudyResults& results);
kit::Panels curves_of_best(const StudyResults& results);

}  // namespace gradus::lab::rates
