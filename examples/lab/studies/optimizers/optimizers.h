#pragma once
// The parts of the study `optimizers`: the effect of warm-up with other optimizers, other averages of squared
// gradients and other batches; and the curvature along training.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/studies/search.h"
#include "lab/training/trial.h"

namespace gradus::lab::optimizers {

inline const std::array<std::string, 2> kPlacements = {"Pre-LN", "Post-LN"};
inline const char* word_of(std::size_t placement) { return placement == 0 ? "pre" : "post"; }

/// An optimizer, or Adam with another beta2 or batch; each has as many rates to choose from as the others.
struct Variant {
  std::string name;   // in names of runs and measures: "momentum"
  std::string title;  // "SGD, momentum 0.9"
  std::string group;  // the setting it varies: one of kGroups, or "cause", or "described"
  double lowest = 0;  // of its rates
  MakeOptimizer make;
  std::int64_t batch = 8;
  std::int64_t frozen = 0;  // steps at rate 0 before the first update: gradients are averaged, weights stay
  bool in_quick = false;
  std::size_t most_seeds = 1000;  // fewer for variants that are only described
};
std::span<const Variant> variants();
inline const std::array<std::string, 3> kGroups = {"optimizer", "beta2", "batch"};

struct Grid {
  std::int64_t steps = 0, warmup = 0, layers = 6;
  // The ladder of each variant, in half decades: its first rate and their number.
  std::size_t first_rate = 0, rates = 0;
  std::vector<const Variant*> variants = {};
  std::vector<std::string> curve_optimizers = {};  // whose sharpness is measured,
  std::vector<std::size_t> curve_placements = {};  // in which placements,
  std::vector<std::int64_t> curve_steps = {};      // before which steps
  std::vector<std::uint64_t> seeds = {};

  std::vector<double> lrs(const Variant& variant) const;
  /// The index in curve_steps of the last step of warm-up.
  std::size_t end_of_warmup() const;
  std::vector<const Variant*> members(const std::string& group) const;  // Adam, batch 8, is in every group
};
Grid grid_of(const StudyOptions& options);
std::string run_name(const Variant& variant, std::size_t placement, bool warm, double lr, std::uint64_t seed);

/// Training at one rate with the sharpness along it.
struct Curve {
  std::string optimizer;  // a variant's name
  std::size_t placement = 0;
  bool warm = false;
  std::uint64_t seed = 0;
  std::string name() const;
};
/// Products with the Hessian for each sharpness.
inline constexpr int kProducts = 20;
/// The rate of the curves of an optimizer, fixed beforehand.
double curve_rate(const std::string& optimizer);
/// Momentum SGD is stable on a quadratic whose curvature is below 2 (1 + momentum) / rate.
constexpr double stable_below(double rate) { return 2 * 1.9 / rate; }
inline constexpr double kStable = stable_below(0.03);
/// The value for a diverged run, which has no curvature, in log2 of a ratio: only its sign counts.
inline constexpr double kDivergedDoublings = 10;
const Variant& variant_named(const std::string& name);
/// The record of outcome_of, and the series "sharpness", one for each of the steps before which it is
/// measured; it ends where the run diverged. The text "products" says that products with the Hessian are
/// exact; records of gradus 0.1.0, whose products were central differences of gradients, lack it.
Measured measure_sharpness(const TrialOptions& options, const std::vector<std::int64_t>& steps);
Measured measure_curve(const Curve& curve, const Grid& grid);

/// The runs of a variant without or with warm-up, by their final loss.
Search losses_of(const Grid& grid, const Variant& variant, std::size_t placement, bool warm);
/// The same without and with.
std::vector<Search> all_losses_of(const Grid& grid, const Variant& variant, std::size_t placement);

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

/// One number per seed of a variant: the gain of warm-up at the best rate, and the number of additional rates
/// that train with it.
std::vector<double> gains(const StudyResults& results, const Variant& variant, std::size_t placement);
std::vector<double> more_rates(const StudyResults& results, const Variant& variant, std::size_t placement);

kit::BarChart gain_chart(const StudyResults& results);
kit::BarChart more_rates_chart(const StudyResults& results);
/// A row for each of the group, without warm-up on the left, with it on the right.
kit::Panels loss_by_rate(const StudyResults& results, const std::string& group);
kit::Panels sharpness_chart(const StudyResults& results);

}  // namespace gradus::lab::optimizers
