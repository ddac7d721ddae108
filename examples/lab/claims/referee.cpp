#include "lab/claims/referee.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/outcomes.h"

namespace gradus::lab {

std::optional<Objection> end_of_search(bool at_edge, const std::string& arm) {
  if (!at_edge) return std::nullopt;
  return Objection{Judgement::not_decided, "the search ends at its edge: " + arm};
}

std::optional<Objection> trains_nowhere(std::span<const double> losses, double learned_loss,
                                        const std::string& arm) {
  const auto trains = [&](double loss) { return loss < learned_loss; };
  if (losses.empty() || std::any_of(losses.begin(), losses.end(), trains)) return std::nullopt;
  return Objection{Judgement::not_measured, arm + " trains nowhere"};
}

std::optional<Objection> failed_runs(std::size_t left, std::size_t seeds) {
  if (left == seeds || left >= kLeastSeeds) return std::nullopt;
  return Objection{left == 0 ? Judgement::not_measured : Judgement::not_decided,
                   fmt::format("failed runs on {} of {} seeds", seeds - left, seeds)};
}

std::optional<Objection> no_control(std::int64_t works, std::int64_t seeds, const std::string& control) {
  if (2 * works > seeds) return std::nullopt;
  return Objection{Judgement::not_measured,
                   fmt::format("no working control: {}, {} of {} seeds", control, works, seeds)};
}

std::optional<Objection> never_reached(std::span<const double> a, std::span<const double> b) {
  if (reached_of(a).reached + reached_of(b).reached > 0) return std::nullopt;
  return Objection{Judgement::not_measured, "neither reaches the target"};
}

std::optional<Objection> not_reached(std::span<const double> steps, const std::string& arm) {
  const Reached all = reached_of(steps);
  if (all.reached == all.runs) return std::nullopt;
  return Objection{all.reached == 0 ? Judgement::not_measured : Judgement::not_decided,
                   fmt::format("{} reaches the target on {} of {} seeds", arm, all.reached, all.runs)};
}

std::optional<Objection> no_difference(std::span<const double> differences, std::int64_t runs, double least) {
  if (differences.empty() ||
      std::any_of(differences.begin(), differences.end(), [](double d) { return d != 0; }))
    return std::nullopt;
  const std::int64_t pairs = static_cast<std::int64_t>(differences.size()) * runs;
  const double most = share_interval(0, pairs, 0.95).high;
  if (most < least) return std::nullopt;
  return Objection{Judgement::not_decided,
                   fmt::format("no difference in {} pairs of runs leaves up to {} (95%)", pairs,
                               kit::number_text(most, 2))};
}

std::optional<Objection> baselines_differ(double a, double b, double share) {
  if (std::isnan(a) || std::isnan(b) || std::min(a, b) >= (1 - share) * std::max(a, b)) return std::nullopt;
  return Objection{Judgement::not_decided, fmt::format("the baselines differ: {} and {}",
                                                       kit::number_text(a, 3), kit::number_text(b, 3))};
}

}  // namespace gradus::lab
