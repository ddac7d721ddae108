// The results of the searches of the study `text-variants`.

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/statistics/outcomes.h"
#include "lab/studies/text_variants/variants.h"

namespace gradus::lab::text_variants {

Found::Found(const StudyResults& results, const Grid& grid, const Stack& stack)
    : results_(results), grid_(grid), stack_(stack) {
  const Halving halving{.families = 1,
                        .ladder = grid.ladder,
                        .first = grid.first,
                        .last = grid.last,
                        .seeds = grid.searching,
                        .kept = grid.kept};
  for (const std::string& scheme : grid.schemes)
    searched_.push_back(
        search(halving, [&](const Setting& setting, std::uint64_t seed) -> std::optional<double> {
          const std::string run = run_name(stack.name, scheme, grid.ladder[setting.rate], seed);
          return results.has(run) ? std::optional(results.number(run, "loss")) : std::nullopt;
        }));
}

std::optional<std::size_t> Found::best() const {
  std::size_t best = 0;
  for (std::size_t scheme = 0; scheme < searched_.size(); ++scheme) {
    if (!searched_[scheme].chosen) return std::nullopt;
    if (searched_[scheme].mean < searched_[best].mean) best = scheme;
  }
  return best;
}

std::vector<std::size_t> Found::judged() const {
  const std::optional<std::size_t> chosen = best();
  if (!chosen) return {};
  if (!stack_.each_scheme) return {*chosen};
  std::vector<std::size_t> all;
  for (std::size_t scheme = 0; scheme < searched_.size(); ++scheme) all.push_back(scheme);
  return all;
}

std::vector<double> Found::numbers_of(const std::string& stack, std::size_t scheme,
                                      const std::vector<std::uint64_t>& seeds,
                                      const std::string& name) const {
  std::vector<double> all;
  for (const std::uint64_t seed : seeds)
    all.push_back(results_.number(run_name(stack, grid_.schemes[scheme], rate(scheme), seed), name));
  return all;
}

std::vector<double> Found::numbers(std::size_t scheme, const std::string& name) const {
  return numbers_of(stack_.name, scheme, grid_.judging, name);
}

std::vector<double> Found::losses_of(const char* length, const std::vector<std::uint64_t>& seeds) const {
  return numbers_of(length, *best(), seeds, "loss");
}

std::vector<Found> all_found(const StudyResults& results, const Grid& grid) {
  std::vector<Found> found;
  for (const Stack& stack : stacks()) found.emplace_back(results, grid, stack);
  return found;
}

std::optional<Baselines> baselines_of(const StudyResults& results) {
  if (results.records.empty()) return std::nullopt;
  const std::string& any = results.records.begin()->first;
  return Baselines{results.number(any, "context-free"), results.number(any, "bigram")};
}

std::vector<double> spread_of_schemes(const Found& found, std::size_t schemes,
                                      std::optional<double> context_free) {
  std::vector<double> low, high;
  for (std::size_t scheme = 0; scheme < schemes; ++scheme) {
    std::vector<double> losses = found.losses(scheme);
    if (context_free) losses = without_failed(losses, *context_free);
    if (scheme == 0) low = high = losses;
    for (std::size_t s = 0; s < losses.size(); ++s) {
      // std::min would drop a NaN on one side.
      const bool open = std::isnan(losses[s]) || std::isnan(low[s]);
      low[s] = open ? std::numeric_limits<double>::quiet_NaN() : std::min(low[s], losses[s]);
      high[s] = open ? std::numeric_limits<double>::quiet_NaN() : std::max(high[s], losses[s]);
    }
  }
  for (std::size_t s = 0; s < low.size(); ++s) high[s] -= low[s];
  return high;
}

}  // namespace gradus::lab::text_variants
