#include "lab/studies/compare/analysis/verdict.h"

#include <fmt/format.h>
#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

/// Which placement learned in more runs, and whether the seeds exclude chance.
std::string reliability_clause(const Comparisons& all, const Settings& settings, const Baseline& baseline) {
  const Placements& placements = settings.placements;
  const Difference& seeds = all.learned.difference;
  const ForEach<std::int64_t>& learned = all.runs_learned;
  const ForEach<std::string> title = {placements[0].name, placements[1].name};
  const std::string plain = fmt::format("{} ended below {} in {} of {} runs, {} in {}", title[0],
                                        baseline.label(), learned[0], all.pairs, title[1], learned[1]);
  if (settings.seeds < 2) return "One seed shows no spread to judge by: " + plain;
  if (seeds.count < 2)
    return fmt::format(
        "Only one of {} seeds has runs of both placements so far, which shows no spread to judge by: {}",
        settings.seeds, plain);

  const std::size_t best = seeds.side() > 0 ? 0 : 1, other = 1 - best;
  const std::string counts = fmt::format("{} of {} runs ended below {}, against {} for {}", learned[best],
                                         all.pairs, baseline.label(), learned[other], title[other]);
  const std::string p = "p = " + kit::number_text(all.learned.p, 2);
  if (all.learned.clear())
    return fmt::format("{} trained more reliably: {}, ahead in {} ({})", title[best], counts,
                       agreement(seeds), p);
  if (seeds.agreeing() == seeds.count)
    return fmt::format(
        "{} was ahead in each of {}, which are too few to exclude chance ({}; from {} on they could be "
        "enough): {}",
        title[best], counted(seeds.count, "seed"), p, seeds_needed(1), counts);
  return fmt::format("No clear difference in reliability: {} ({} ahead in {} of {}, {} in {})", plain,
                     title[0], seeds.up, counted(seeds.count, "seed"), title[1], seeds.down);
}

/// For whom the loss is lower, where the difference is second - first: "for Pre-LN in 5 of 6 seeds".
std::string lower_for(const Comparison& comparison, const Placements& placements) {
  const Difference& difference = comparison.difference;
  if (difference.side() == 0)
    return difference.up == 0 ? "for neither in any seed" : "for each in " + agreement(difference);
  return fmt::format("for {} in {}{}", placements[difference.side() > 0 ? 0 : 1].name, agreement(difference),
                     comparison.clear() ? " (clear)" : "");
}

std::string loss_clause(const Comparisons& all, const Placements& placements) {
  if (all.loss.difference.count < 2) return "";
  return fmt::format("; the mean loss over all settings is lower {}, {} − {} {}",
                     lower_for(all.loss, placements), short_title_of(placements[1]),
                     short_title_of(placements[0]), with_range(all.loss.difference));
}

/// ", Post-LN's at the lowest rate tried": where the best rates of most seeds are at an edge of the grid.
std::string describe_edges(const BestOfDepth& best, const Settings& settings) {
  const std::vector<double>& lrs = settings.lrs;
  std::string text;
  if (lrs.size() < 3) return text;
  for (const std::size_t i : {0, 1})
    for (const double edge : {lrs.front(), lrs.back()}) {
      const std::vector<double>& rates = best.rates[i];
      if (2 * static_cast<std::size_t>(std::count(rates.begin(), rates.end(), edge)) > rates.size())
        text += fmt::format(", {}'s at the {} rate tried", settings.placements[i].name,
                            edge == lrs.front() ? "lowest" : "highest");
    }
  return text;
}

/// The difference when each placement has its best rate and warm-up. For a single setting this would repeat
/// the loss clause.
std::string best_clause(const Comparisons& all, const Settings& settings) {
  if (settings.depths.size() * settings.lrs.size() * settings.warmups.size() == 1) return "";
  std::vector<std::string> parts;
  for (const BestOfDepth& best : all.best) {
    if (best.comparison.difference.count < 2) continue;
    const std::size_t lower = best.comparison.difference.side() >= 0 ? 0 : 1;
    parts.push_back(fmt::format("{} with {} ({} against {}{})",
                                lower_for(best.comparison, settings.placements),
                                counted(best.layers, "layer"), nats(best.loss[lower]),
                                nats(best.loss[1 - lower]), describe_edges(best, settings)));
  }
  return parts.empty() ? "" : "; that at the best rate and warm-up of each seed is lower " + listed(parts);
}

}  // namespace

Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation) {
  Verdict verdict;
  verdict.comparisons = comparisons_of(analysis);
  const Comparisons& all = verdict.comparisons;
  verdict.findings = findings_of(analysis, all, initialisation);
  verdict.sentence =
      all.pairs == 0
          ? "No setting has finished with both placements, so nothing can be said about training yet."
          : reliability_clause(all, analysis.settings, analysis.baseline) +
                loss_clause(all, analysis.settings.placements) + best_clause(all, analysis.settings) + ".";
  return verdict;
}

}  // namespace gradus::lab::compare
