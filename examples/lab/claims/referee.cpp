#include "lab/claims/referee.h"

#include <fmt/format.h>

#include "lab/statistics/outcomes.h"

namespace gradus::lab {

std::optional<Objection> end_of_search(bool at_edge, const std::string& arm) {
  if (!at_edge) return std::nullopt;
  return Objection{Judgement::not_decided, "the search ends at its edge: " + arm};
}

std::optional<Objection> trains_nowhere(std::span<const double> losses, double context_free_loss,
                                        const std::string& arm) {
  if (!survival_of(losses, context_free_loss).surviving.empty()) return std::nullopt;
  return Objection{Judgement::not_measured, arm + " trains nowhere"};
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

}  // namespace gradus::lab
