// The figures of runs that survive, one number per judging seed.

#include <fmt/format.h>

#include <cmath>

#include "lab/claims/referee.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/optimizers/stable.h"

namespace gradus::lab::optimizers {

namespace {

/// The figures of one arm.
class ArmFigures {
 public:
  ArmFigures(Figures& all, const StableGrid& grid, const Stable& stable)
      : all_(all), grid_(grid), stable_(stable) {}

  /// The sharpness over the one below which momentum SGD is stable, in doublings.
  void add_start(const StableDesign& design) { add_limited("start", design, 0); }
  void add_settles(const StableDesign& design) { add_limited("settles", design, grid_.end_of_warmup()); }

  /// Whether a run fails without warm-up where it survives with it. "It does not train" needs runs that do.
  void add_raises(double lr) {
    const std::vector<double> warm = stable_.losses({true, lr}), cold = stable_.losses({false, lr});
    std::int64_t works = 0, finished = 0;
    for (std::size_t s = 0; s < warm.size(); ++s) {
      if (std::isnan(warm[s]) || std::isnan(cold[s])) continue;
      ++finished;
      if (survives(warm[s])) ++works;
      all_[id("raises")].push_back(survives(warm[s]) && !survives(cold[s]) ? 1 : 0);
    }
    if (finished > 0) all_.object(id("raises"), no_control(works, finished, stable_.arm().described(true)));
  }

  /// Whether the curvature after the steps of warm-up is higher without it, where both survive.
  void add_sharper(double lr) {
    const std::size_t end = grid_.end_of_warmup();
    const std::vector<double> warm = stable_.sharpness({true, lr}, end),
                              cold = stable_.sharpness({false, lr}, end);
    std::size_t left = 0;
    for (std::size_t s = 0; s < warm.size(); ++s) {
      if (std::isnan(warm[s]) || std::isnan(cold[s])) continue;
      ++left;
      all_[id("sharper")].push_back(cold[s] > warm[s] ? 1 : 0);
    }
    all_.object(
        id("sharper"),
        failed_runs(left, paired_difference(stable_.losses({true, lr}), stable_.losses({false, lr})).size()));
  }

  /// No climb may have ended at an edge of the ladder.
  void expect_inside(const char* what, bool warm) {
    all_.object(id(what), end_of_search(stable_.climbed(warm).at_edge(), stable_.arm().described(warm)));
  }

 private:
  std::string id(const char* what) const { return fmt::format("stable.{}.{}", what, stable_.arm().word); }

  void add_limited(const char* what, const StableDesign& design, std::size_t place) {
    const std::vector<double> sharpness = finite(stable_.sharpness(design, place));
    for (const double one : sharpness) all_[id(what)].push_back(std::log2(one / stable_below(design.lr)));
    all_.object(id(what), failed_runs(sharpness.size(), finite(stable_.losses(design)).size()));
  }

  Figures& all_;
  const StableGrid& grid_;
  const Stable& stable_;
};

}  // namespace

void add_stable_figures(Figures& figures, const StudyResults& results) {
  const StableGrid grid = stable_grid_of(results.options);
  for (const StableArm& arm : grid.arms) {
    const Stable stable(results, grid, arm);
    ArmFigures of_arm(figures, grid, stable);
    const std::optional<double> warm = stable.rate(true), cold = stable.rate(false);
    if (arm.control) {
      if (cold) of_arm.add_start({false, *cold});
      of_arm.expect_inside("start", false);
      continue;
    }
    if (warm) {
      of_arm.add_raises(*warm);
      of_arm.add_start({true, *warm});
      of_arm.add_settles({true, *warm});
    }
    for (const char* what : {"raises", "start", "settles"}) of_arm.expect_inside(what, true);
    if (cold) of_arm.add_sharper(*cold);
    of_arm.expect_inside("sharper", false);
  }
}

}  // namespace gradus::lab::optimizers
