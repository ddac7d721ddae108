// What the verdict rests on, one sentence or two for each question.

#include <algorithm>

#include "gradus/core/format.h"
#include "kit/axis.h"
#include "lab/names.h"
#include "lab/verdict.h"

namespace gradus::lab {

namespace {

using nn::Placement;

constexpr Placement kPlacements[] = {Placement::pre, Placement::post};

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

std::string depth_finding(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const std::int64_t layers : analysis.options.depths) {
    const auto count = [&](Placement placement) {
      return count_if(
                 analysis,
                 [&](const RunOptions& run) { return run.placement == placement && run.layers == layers; })
          .words();
    };
    parts.push_back(fmt::format("with {} Pre-LN {}, Post-LN {}", counted(layers, "layer"),
                                count(Placement::pre), count(Placement::post)));
  }
  std::string text = fmt::format("**Depth.** Runs that ended below {}: ", analysis.baseline.words());
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "; " : "") + parts[i];
  return text + ".";
}

/// The sensitivity says little of a model that trains at no rate at all: then every rate is as good.
std::string caveat(const Analysis& analysis, std::int64_t layers, std::int64_t warmup) {
  std::vector<std::string> never;
  for (const Placement placement : kPlacements) {
    const Count count = count_if(analysis, [&](const RunOptions& run) {
      return run.placement == placement && run.layers == layers && run.warmup == warmup;
    });
    if (count.runs > 0 && count.learned == 0) never.push_back(title_of(placement));
  }
  if (never.empty()) return "";
  return fmt::format(" {} came below the baseline at no rate there, so a small number is no merit.",
                     listed(never));
}

std::string sensitivity_finding(const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  const std::int64_t first = options.depths.front(), last = options.depths.back();
  const std::int64_t warmup = options.warmups.front();
  const Sensitivity &pre = analysis.sensitivity(Placement::pre, last, warmup),
                    &post = analysis.sensitivity(Placement::post, last, warmup);
  if (options.lrs.size() < 2 || pre.values.empty() || post.values.empty()) return "";
  std::string text = fmt::format("**Learning rate.** What a rate costs on average against the best one, {}: ",
                                 warmup_words(warmup));
  for (const std::int64_t layers : first == last ? std::vector{last} : std::vector{first, last}) {
    const auto cost = [&](Placement placement) {
      return nats(analysis.sensitivity(placement, layers, warmup).spread.mean);
    };
    text += fmt::format("{}with {} Pre-LN {}, Post-LN {}", layers == first ? "" : "; ",
                        counted(layers, "layer"), cost(Placement::pre), cost(Placement::post));
  }
  text += " nats per character";
  const Difference difference = difference_of(paired(pre, post));
  const std::string note = caveat(analysis, last, warmup);
  if (!note.empty() || difference.count < 2) return text + "." + note;
  if (!difference.clear())
    return text + fmt::format(". With {} the two do not clearly differ (Post − Pre {}).",
                              counted(last, "layer"), with_interval(difference));
  return text + fmt::format(". With {} {} clearly depends more on it (Post − Pre {}).",
                            counted(last, "layer"),
                            title_of(difference.mean > 0 ? Placement::post : Placement::pre),
                            with_interval(difference));
}

std::string warmup_finding(const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  if (options.warmups.size() < 2) return "";
  std::vector<std::string> parts;
  for (const Placement placement : kPlacements) {
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

std::string ablation_finding(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const Cell& cell : analysis.ablations) {
    const RunOptions& run = cell.setting;
    const Difference difference =
        difference_of(paired(analysis.cell(run.placement, run.layers, run.lr, run.warmup), cell));
    if (difference.count == 0) continue;
    parts.push_back(fmt::format("{} {} {}{}", title_of(run.placement), ablation_words(run),
                                with_interval(difference),
                                difference.count >= 2 && !difference.clear() ? " (unclear)" : ""));
  }
  if (parts.empty()) return "";
  const RunOptions run = ablation_setting(analysis.options);
  std::string text =
      fmt::format("**Ablations.** Change of the final loss ({}, rate {}, {}): ", counted(run.layers, "layer"),
                  kit::number_text(run.lr), warmup_words(run.warmup));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "; " : "") + parts[i];
  return text + ".";
}

std::string seeds_finding(const Analysis& analysis) {
  if (analysis.options.seeds < 2)
    return "**One seed** a setting: chance cannot be told from effect. Use at least 3.";
  return fmt::format(
      "**{} seeds** a setting. ± is Student's 95% interval over seeds. A difference of losses is called "
      "clear only when that interval leaves out zero, one of counts of runs only when McNemar's exact test "
      "gives p < 0.05.",
      analysis.options.seeds);
}

}  // namespace

std::string theorem_sentence(const Theorem1& theorem) {
  const double post = theorem.post_ratio_L32_L2, pre = theorem.pre_ratio_L8_L32;
  const bool post_flat = post >= kPostRatioLow && post <= kPostRatioHigh;
  const bool pre_falls = pre >= kPreRatioLow && pre <= kPreRatioHigh;
  return fmt::format(
      "Before the first step the gradient of the last block {} in Post-LN (32 layers over 2: {}) and {} in "
      "Pre-LN (8 layers over 32: {}; 1/√L gives 2), {} Theorem 1 of Xiong et al.; Pre-LN's activations {} "
      "the bounds of their Lemma 2.",
      post_flat ? "does not depend on depth" : "changes with depth", kit::fixed_text(post, 2),
      pre_falls ? "shrinks with it" : "does not shrink like 1/√L", kit::fixed_text(pre, 2),
      post_flat && pre_falls ? "in line with" : "not in line with",
      theorem.pre_norm_inside_lemma2 ? "stay within" : "leave");
}

std::vector<std::string> findings_of(const Analysis& analysis,
                                     const std::optional<Initialisation>& initialisation) {
  std::vector<std::string> findings;
  if (initialisation)
    findings.push_back("**Start.** " + theorem_sentence(check_theorem1(initialisation->states)));
  if (analysis.finished > 0) {
    findings.push_back(depth_finding(analysis));
    findings.push_back(sensitivity_finding(analysis));
    findings.push_back(warmup_finding(analysis));
    findings.push_back(ablation_finding(analysis));
  }
  if (analysis.finished < analysis.planned)
    findings.push_back(fmt::format("**Unfinished.** {} of {} are in; the rest may change any of this.",
                                   analysis.finished,
                                   counted(static_cast<std::int64_t>(analysis.planned), "run")));
  if (analysis.finished > 0) findings.push_back(seeds_finding(analysis));
  std::erase(findings, "");
  return findings;
}

}  // namespace gradus::lab
