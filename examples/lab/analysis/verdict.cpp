#include "lab/analysis/verdict.h"

#include <fmt/format.h>
#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

/// Which placement got more runs to learn, and whether the seeds can tell that from chance.
std::string reliability_clause(const Comparisons& all, const Baseline& baseline) {
  const Difference& seeds = all.learned.difference;
  const std::string plain = fmt::format("Pre-LN ended below {} in {} of {} runs, Post-LN in {}",
                                        baseline.words(), all.pre_learned, all.pairs, all.post_learned);
  if (seeds.count < 2) return "One seed shows no spread to judge by: " + plain;

  const bool pre = seeds.side() > 0;
  const char *ahead = title_of(pre ? Placement::pre : Placement::post),
             *behind = title_of(pre ? Placement::post : Placement::pre);
  const std::string counts =
      fmt::format("{} of {} runs ended below {}, against {} for {}", pre ? all.pre_learned : all.post_learned,
                  all.pairs, baseline.words(), pre ? all.post_learned : all.pre_learned, behind);
  const std::string p = "p = " + kit::number_text(all.learned.p, 2);
  if (all.learned.clear())
    return fmt::format("{} trained more reliably: {}, ahead in {} ({})", ahead, counts, agreement(seeds), p);
  if (seeds.agreeing() == seeds.count)
    return fmt::format(
        "{} was ahead in each of {}, which are too few to exclude chance ({}; from {} on they could "
        "be enough): {}",
        ahead, counted(seeds.count, "seed"), p, seeds_needed(1), counts);
  return fmt::format("No clear difference in reliability: {} (Pre-LN ahead in {} of {}, Post-LN in {})",
                     plain, seeds.up, counted(seeds.count, "seed"), seeds.down);
}

/// For whom the loss is lower, where the difference is Post-LN - Pre-LN: "for Pre-LN in 5 of 6 seeds".
std::string lower_for(const Comparison& comparison) {
  const Difference& difference = comparison.difference;
  if (difference.side() == 0)
    return difference.up == 0 ? "for neither in any seed" : "for each in " + agreement(difference);
  return fmt::format("for {} in {}{}", title_of(difference.side() > 0 ? Placement::pre : Placement::post),
                     agreement(difference), comparison.clear() ? " (clear)" : "");
}

std::string loss_clause(const Comparisons& all) {
  if (all.loss.difference.count < 2) return "";
  return fmt::format("; the mean loss over all settings is lower {}, Post − Pre {}", lower_for(all.loss),
                     with_range(all.loss.difference));
}

/// ", Post-LN's at the lowest rate tried": where the best rates of most seeds are at an edge of the grid.
std::string edge_words(const BestOfDepth& best, const std::vector<double>& lrs) {
  std::string text;
  if (lrs.size() < 3) return text;
  for (const Placement placement : {Placement::pre, Placement::post})
    for (const double edge : {lrs.front(), lrs.back()}) {
      const std::vector<double>& rates = best.rates(placement);
      if (2 * static_cast<std::size_t>(std::count(rates.begin(), rates.end(), edge)) > rates.size())
        text += fmt::format(", {}'s at the {} rate tried", title_of(placement),
                            edge == lrs.front() ? "lowest" : "highest");
    }
  return text;
}

/// What is left of the difference when each placement has its best rate and warm-up.
std::string best_clause(const Comparisons& all, const std::vector<double>& lrs) {
  std::vector<std::string> parts;
  for (const BestOfDepth& best : all.best) {
    if (best.comparison.difference.count < 2) continue;
    const bool pre = best.comparison.difference.side() >= 0;
    parts.push_back(fmt::format("{} with {} ({} against {}{})", lower_for(best.comparison),
                                counted(best.layers, "layer"), nats(pre ? best.pre : best.post),
                                nats(pre ? best.post : best.pre), edge_words(best, lrs)));
  }
  return parts.empty() ? "" : "; that at the best rate and warm-up of each seed is lower " + listed(parts);
}

}  // namespace

Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation) {
  Verdict verdict;
  verdict.comparisons = compare(analysis);
  const Comparisons& all = verdict.comparisons;
  verdict.findings = findings_of(analysis, all, initialisation);
  verdict.sentence =
      all.pairs == 0
          ? "No setting has finished with both placements, so nothing can be said about training yet."
          : reliability_clause(all, analysis.baseline) + loss_clause(all) +
                best_clause(all, analysis.options.lrs) + ".";
  return verdict;
}

}  // namespace gradus::lab
