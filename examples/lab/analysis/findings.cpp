// What the verdict rests on, one sentence or two for each question.

#include <fmt/format.h>
#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/analysis/verdict.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

struct Count {
  std::int64_t learned = 0, runs = 0;
  std::string words() const { return fmt::format("{} of {}", learned, runs); }
};

template <class Condition>
Count count_if(const Analysis& analysis, const Condition& condition) {
  Count count;
  for (const Cell& cell : analysis.grid)
    if (condition(cell.setting))
      count.learned += cell.learned_count(), count.runs += static_cast<std::int64_t>(cell.runs.size());
  return count;
}

/// "Pre-LN 3, Post-LN 4", of what words(placement) says.
template <class Words>
std::string for_both(const LabOptions& options, const Words& words) {
  const auto& [first, second] = options.placements;
  return fmt::format("{} {}, {} {}", title_of(first), words(first), title_of(second), words(second));
}

/// "Post − Pre +0.1 (+0.05 to +0.2)"
std::string change_words(const Placements& placements, const Difference& difference) {
  return fmt::format("{} − {} {}", short_title_of(placements[1]), short_title_of(placements[0]),
                     with_range(difference));
}

std::string depth_finding(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const std::int64_t layers : analysis.options.depths) {
    const auto count = [&](const Placement& placement) {
      return count_if(
                 analysis,
                 [&](const RunOptions& run) { return run.placement == placement && run.layers == layers; })
          .words();
    };
    parts.push_back(fmt::format("with {} {}", counted(layers, "layer"), for_both(analysis.options, count)));
  }
  std::string text = fmt::format("**Depth.** Runs that ended below {}: ", analysis.baseline.words());
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "; " : "") + parts[i];
  return text + ".";
}

/// The sensitivity says little of a model that trains at no rate at all: then every rate is as good.
std::string caveat(const Analysis& analysis, std::int64_t layers, std::int64_t warmup) {
  std::vector<std::string> never;
  for (const Placement& placement : analysis.options.placements) {
    const Count count = count_if(analysis, [&](const RunOptions& run) {
      return run.placement == placement && run.layers == layers && run.warmup == warmup;
    });
    if (count.runs > 0 && count.learned == 0) never.push_back(title_of(placement));
  }
  if (never.empty()) return "";
  return fmt::format(" {} came below the baseline at no rate there, so a small number is no merit.",
                     listed(never));
}

std::string sensitivity_finding(const Analysis& analysis, const Comparisons& comparisons) {
  const LabOptions& options = analysis.options;
  const std::int64_t first = options.depths.front(), last = options.depths.back();
  const std::int64_t warmup = options.warmups.front();
  if (comparisons.deepest.empty()) return "";
  std::string text = fmt::format("**Learning rate.** What a rate costs on average against the best one, {}: ",
                                 warmup_words(warmup));
  for (const std::int64_t layers : first == last ? std::vector{last} : std::vector{first, last}) {
    const auto cost = [&](const Placement& placement) {
      return nats(analysis.sensitivity(placement, layers, warmup).spread.mean);
    };
    text += fmt::format("{}with {} {}", layers == first ? "" : "; ", counted(layers, "layer"),
                        for_both(options, cost));
  }
  text += " nats per character.";
  const Comparison& deepest = comparisons.deepest.front();
  const std::string note = caveat(analysis, last, warmup);
  if (!note.empty() || deepest.difference.count < 2) return text + note;
  if (deepest.difference.side() == 0)
    return text + fmt::format(" With {} neither depends on it more ({}).", counted(last, "layer"),
                              change_words(options.placements, deepest.difference));
  return text + fmt::format(" With {} {} {}depends on it more, in {} ({}).", counted(last, "layer"),
                            title_of(options.placements[deepest.difference.side() > 0 ? 1 : 0]),
                            deepest.clear() ? "clearly " : "", agreement(deepest.difference),
                            change_words(options.placements, deepest.difference));
}

std::string best_rates_finding(const LabOptions& options, const Comparisons& comparisons) {
  if (comparisons.best.empty()) return "";
  if (options.lrs.size() < 3)
    return fmt::format("**Best rates.** Only {} {} tried; better ones may lie elsewhere.",
                       listed(options.lrs), options.lrs.size() == 1 ? "was" : "were");
  const std::vector<std::string> edges = best_rates_at_the_edge(options, comparisons);
  if (edges.empty()) return "";
  return fmt::format(
      "**Best rates.** Some lie at the edge of the grid, beyond which better ones may lie: {}.",
      listed(edges));
}

std::string warmup_finding(const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  if (options.warmups.size() < 2) return "";
  std::vector<std::string> parts;
  for (const Placement& placement : options.placements) {
    std::int64_t failed = 0, rescued = 0, spoiled = 0, pairs = 0;
    for (const std::int64_t layers : options.depths)
      for (const double lr : options.lrs) {
        const Cell &without = analysis.cell(placement, layers, lr, options.warmups.front()),
                   &with = analysis.cell(placement, layers, lr, options.warmups.back());
        for (std::size_t a = 0; a < without.runs.size(); ++a) {
          const auto b = with.run_of(without.runs[a].options.seed);
          if (!b) continue;
          const bool before = without.learned[a], after = with.learned[*b];
          ++pairs, failed += !before, rescued += !before && after, spoiled += before && !after;
        }
      }
    if (pairs == 0) return "";
    std::string part = failed == 0 ? fmt::format("no {} run had failed", title_of(placement))
                                   : fmt::format("{} of {} {} runs that had failed came below the baseline",
                                                 rescued, failed, title_of(placement));
    if (spoiled > 0) part += fmt::format(", {} no longer did", spoiled);
    parts.push_back(part);
  }
  const std::int64_t least = options.warmups.front();
  return fmt::format("**Warm-up.** With {} steps of it instead of {}: {}; {}.", options.warmups.back(),
                     least == 0 ? "none" : std::to_string(least), parts[0], parts[1]);
}

/// "up in 5 of 6 seeds".
std::string direction_words(const Comparison& comparison) {
  const Difference& difference = comparison.difference;
  if (difference.side() == 0) return fmt::format("up in as many seeds as down, {}", difference.up);
  return fmt::format("{}{} in {}", comparison.clear() ? "clearly " : "",
                     difference.side() > 0 ? "up" : "down", agreement(difference));
}

std::string ablation_finding(const Analysis& analysis, const Comparisons& comparisons) {
  std::vector<std::string> parts;
  for (const AblationChange& change : comparisons.ablations) {
    std::string part = fmt::format("{} {} {}", title_of(change.setting.placement),
                                   ablation_words(change.setting), with_range(change.comparison.difference));
    if (change.comparison.difference.count >= 2) part += ", " + direction_words(change.comparison);
    parts.push_back(part);
  }
  if (parts.empty()) return "";
  const RunOptions run = ablation_setting(analysis.options);
  std::string text =
      fmt::format("**Ablations.** Change of the final loss ({}, rate {}, {}): ", counted(run.layers, "layer"),
                  kit::number_text(run.lr), warmup_words(run.warmup));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "; " : "") + parts[i];
  return text + ".";
}

std::string seeds_finding(const Analysis& analysis, const Comparisons& comparisons) {
  const std::int64_t seeds = analysis.options.seeds;
  if (seeds < 2) return "**One seed** a setting: chance cannot be told from effect. Use at least 6.";
  std::string text = fmt::format(
      "**{0} seeds** a setting. Runs of one seed share data and, where equally deep, weights, so seeds are "
      "counted, not runs: all {0} on one side happen by chance with p = {1} (exact sign test), the least "
      "that {0} seeds can show. The first question, which placement learns on more settings, stands alone.",
      seeds, kit::number_text(sign_test(seeds, 0, seeds), 2));
  const std::size_t others = comparisons.others();
  text += fmt::format(
      " The {} others are called clear only if p < 0.05 is left after Holm's correction for so many, which "
      "takes {} "
      "seeds that agree. In brackets: the range over seeds.",
      others, seeds_needed(others));
  return text;
}

}  // namespace

std::vector<std::string> best_rates_at_the_edge(const LabOptions& options, const Comparisons& comparisons) {
  std::vector<std::string> edges;
  if (options.lrs.size() < 3) return edges;
  for (const BestOfDepth& best : comparisons.best)
    for (const std::size_t i : {0, 1})
      for (const double edge : {options.lrs.front(), options.lrs.back()}) {
        const std::vector<double>& rates = best.rates[i];
        const auto there = std::count(rates.begin(), rates.end(), edge);
        if (there == 0) continue;
        edges.push_back(fmt::format(
            "with {} {}'s is the {}, {}, in {} of {}", counted(best.layers, "layer"),
            title_of(options.placements[i]), edge == options.lrs.front() ? "lowest" : "highest",
            kit::number_text(edge), there, counted(static_cast<std::int64_t>(rates.size()), "seed")));
      }
  return edges;
}

std::vector<std::string> findings_of(const Analysis& analysis, const Comparisons& comparisons,
                                     const std::optional<Initialisation>& initialisation) {
  std::vector<std::string> findings;
  if (initialisation)
    findings.push_back("**Start.** " + start_sentence(initialisation->states, analysis.options.placements));
  if (analysis.finished > 0) {
    findings.push_back(depth_finding(analysis));
    findings.push_back(sensitivity_finding(analysis, comparisons));
    findings.push_back(best_rates_finding(analysis.options, comparisons));
    findings.push_back(warmup_finding(analysis));
    findings.push_back(ablation_finding(analysis, comparisons));
  }
  if (analysis.finished < analysis.planned)
    findings.push_back(fmt::format("**Unfinished.** {} of {} are in; the rest may change any of this.",
                                   analysis.finished,
                                   counted(static_cast<std::int64_t>(analysis.planned), "run")));
  if (analysis.finished > 0) findings.push_back(seeds_finding(analysis, comparisons));
  std::erase(findings, "");
  return findings;
}

}  // namespace gradus::lab
