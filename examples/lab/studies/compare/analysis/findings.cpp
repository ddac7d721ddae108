// The findings behind the verdict, one or two sentences for each question.

#include <fmt/format.h>
#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/analysis/start_sentence.h"
#include "lab/studies/compare/analysis/verdict.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

struct Count {
  std::int64_t learned = 0, runs = 0;
  std::string text() const { return fmt::format("{} of {}", learned, runs); }
};

template <class Condition>
Count count_if(const Analysis& analysis, const Condition& condition) {
  Count count;
  for (const Cell& cell : analysis.grid)
    if (condition(cell.setting))
      count.learned += cell.learned_count(), count.runs += static_cast<std::int64_t>(cell.runs.size());
  return count;
}

/// "Pre-LN 3, Post-LN 4", with the text that describe(placement) gives.
template <class Describe>
std::string for_both(const Settings& settings, const Describe& describe) {
  const auto& [first, second] = settings.placements;
  return fmt::format("{} {}, {} {}", first.name, describe(first), second.name, describe(second));
}

/// "Post − Pre +0.1 (+0.05 to +0.2)"
std::string format_change(const Placements& placements, const Difference& difference) {
  return fmt::format("{} − {} {}", short_title_of(placements[1]), short_title_of(placements[0]),
                     with_range(difference));
}

std::string depth_finding(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const std::int64_t layers : analysis.settings.depths) {
    const auto count = [&](const nn::Placement& placement) {
      return count_if(
                 analysis,
                 [&](const RunOptions& run) { return run.placement == placement && run.layers == layers; })
          .text();
    };
    parts.push_back(fmt::format("with {} {}", counted(layers, "layer"), for_both(analysis.settings, count)));
  }
  std::string text = fmt::format("**Depth.** Runs that ended below {}: ", analysis.baseline.label());
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "; " : "") + parts[i];
  return text + ".";
}

/// The sensitivity says little about a model that trains at no rate: all rates are then equally good.
std::string caveat(const Analysis& analysis, std::int64_t layers, std::int64_t warmup) {
  std::vector<std::string> never;
  for (const nn::Placement& placement : analysis.settings.placements) {
    const Count count = count_if(analysis, [&](const RunOptions& run) {
      return run.placement == placement && run.layers == layers && run.warmup == warmup;
    });
    if (count.runs > 0 && count.learned == 0) never.push_back(placement.name);
  }
  if (never.empty()) return "";
  return fmt::format(
      " {} did not come below the baseline at any rate there, so a small number is no advantage.",
      listed(never));
}

std::string sensitivity_finding(const Analysis& analysis, const Comparisons& comparisons) {
  const Settings& settings = analysis.settings;
  const std::int64_t first = settings.depths.front(), last = settings.depths.back();
  const std::int64_t warmup = settings.warmups.front();
  if (comparisons.deepest.empty()) return "";
  std::string text = fmt::format("**Learning rate.** Average cost of a rate compared with the best one, {}: ",
                                 describe_warmup(warmup));
  for (const std::int64_t layers : first == last ? std::vector{last} : std::vector{first, last}) {
    const auto cost = [&](const nn::Placement& placement) {
      return nats(analysis.sensitivity(placement, layers, warmup).spread.mean);
    };
    text += fmt::format("{}with {} {}", layers == first ? "" : "; ", counted(layers, "layer"),
                        for_both(settings, cost));
  }
  text += " nats per character.";
  const Comparison& deepest = comparisons.deepest.front();
  const std::string note = caveat(analysis, last, warmup);
  if (!note.empty() || deepest.difference.count < 2) return text + note;
  if (deepest.difference.side() == 0)
    return text + fmt::format(" With {} neither depends on it more ({}).", counted(last, "layer"),
                              format_change(settings.placements, deepest.difference));
  return text + fmt::format(" With {} {} {}depends on it more, in {} ({}).", counted(last, "layer"),
                            settings.placements[deepest.difference.side() > 0 ? 1 : 0].name,
                            deepest.clear() ? "clearly " : "", agreement(deepest.difference),
                            format_change(settings.placements, deepest.difference));
}

std::string best_rates_finding(const Settings& settings, const Comparisons& comparisons) {
  if (comparisons.best.empty()) return "";
  if (settings.lrs.size() < 3)
    return fmt::format("**Best rates.** Only {} {} tried; better ones may lie elsewhere.",
                       listed(settings.lrs), settings.lrs.size() == 1 ? "was" : "were");
  const std::vector<std::string> edges = best_rates_at_the_edge(settings, comparisons);
  if (edges.empty()) return "";
  return fmt::format(
      "**Best rates.** Some are at the edge of the grid, and better ones may lie outside it: {}.",
      listed(edges));
}

std::string warmup_finding(const Analysis& analysis) {
  const Settings& settings = analysis.settings;
  if (settings.warmups.size() < 2) return "";
  std::vector<std::string> parts;
  for (const nn::Placement& placement : settings.placements) {
    std::int64_t failed = 0, rescued = 0, spoiled = 0, pairs = 0;
    for (const std::int64_t layers : settings.depths)
      for (const double lr : settings.lrs) {
        const Cell &without = analysis.cell(placement, layers, lr, settings.warmups.front()),
                   &with = analysis.cell(placement, layers, lr, settings.warmups.back());
        for (std::size_t a = 0; a < without.runs.size(); ++a) {
          const auto b = with.run_of(without.runs[a].options.seed);
          if (!b) continue;
          const bool before = without.learned[a], after = with.learned[*b];
          ++pairs, failed += !before, rescued += !before && after, spoiled += before && !after;
        }
      }
    if (pairs == 0) return "";
    std::string part = failed == 0 ? fmt::format("no {} run had failed", placement.name)
                                   : fmt::format("{} of {} {} runs that had failed came below the baseline",
                                                 rescued, failed, placement.name);
    if (spoiled > 0) part += fmt::format(", {} no longer did", spoiled);
    parts.push_back(part);
  }
  const std::int64_t least = settings.warmups.front();
  return fmt::format("**Warm-up.** With {} steps of it instead of {}: {}; {}.", settings.warmups.back(),
                     least == 0 ? "none" : std::to_string(least), parts[0], parts[1]);
}

/// "up in 5 of 6 seeds".
std::string describe_direction(const Comparison& comparison) {
  const Difference& difference = comparison.difference;
  if (difference.side() == 0) return fmt::format("up in as many seeds as down, {}", difference.up);
  return fmt::format("{}{} in {}", comparison.clear() ? "clearly " : "",
                     difference.side() > 0 ? "up" : "down", agreement(difference));
}

std::string ablation_finding(const Analysis& analysis, const Comparisons& comparisons) {
  std::vector<std::string> parts;
  for (const AblationChange& change : comparisons.ablations) {
    std::string part =
        fmt::format("{} {} {}", change.setting.placement.name, describe_ablation(change.setting),
                    with_range(change.comparison.difference));
    if (change.comparison.difference.count >= 2) part += ", " + describe_direction(change.comparison);
    parts.push_back(part);
  }
  if (parts.empty()) return "";
  const RunOptions run = ablation_setting(analysis.settings);
  std::string text =
      fmt::format("**Ablations.** Change of the final loss ({}, rate {}, {}): ", counted(run.layers, "layer"),
                  kit::number_text(run.lr), describe_warmup(run.warmup));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "; " : "") + parts[i];
  return text + ".";
}

std::string seeds_finding(const Analysis& analysis, const Comparisons& comparisons) {
  const std::int64_t seeds = analysis.settings.seeds;
  if (seeds < 2)
    return "**One seed** per setting: an effect cannot be distinguished from chance. Use at least 6.";
  std::string text = fmt::format(
      "**{0} seeds** per setting. Runs of one seed share data and, at equal depth, weights, so seeds are "
      "counted, not runs: all {0} fall on one side by chance with p = {1} (exact sign test), the smallest p "
      "that {0} seeds can show. The first question, which placement learns on more settings, is tested "
      "alone.",
      seeds, kit::number_text(sign_test(seeds, 0, seeds), 2));
  const std::size_t others = comparisons.others();
  text += fmt::format(
      " The other {} are called clear only if p < 0.05 after Holm's correction for that many, which takes {} "
      "seeds that agree. In brackets: the range over seeds.",
      others, seeds_needed(others));
  return text;
}

}  // namespace

std::vector<std::string> best_rates_at_the_edge(const Settings& settings, const Comparisons& comparisons) {
  std::vector<std::string> edges;
  if (settings.lrs.size() < 3) return edges;
  for (const BestOfDepth& best : comparisons.best)
    for (const std::size_t i : {0, 1})
      for (const double edge : {settings.lrs.front(), settings.lrs.back()}) {
        const std::vector<double>& rates = best.rates[i];
        const auto there = std::count(rates.begin(), rates.end(), edge);
        if (there == 0) continue;
        edges.push_back(fmt::format(
            "with {} {}'s is the {}, {}, in {} of {}", counted(best.layers, "layer"),
            settings.placements[i].name, edge == settings.lrs.front() ? "lowest" : "highest",
            kit::number_text(edge), there, counted(static_cast<std::int64_t>(rates.size()), "seed")));
      }
  return edges;
}

std::vector<std::string> findings_of(const Analysis& analysis, const Comparisons& comparisons,
                                     const std::optional<Initialisation>& initialisation) {
  std::vector<std::string> findings;
  if (initialisation)
    findings.push_back("**Start.** " + start_sentence(initialisation->states, analysis.settings.placements));
  if (analysis.finished > 0) {
    findings.push_back(depth_finding(analysis));
    findings.push_back(sensitivity_finding(analysis, comparisons));
    findings.push_back(best_rates_finding(analysis.settings, comparisons));
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

}  // namespace gradus::lab::compare
