#include "lab/verdict.h"

#include <cmath>

#include "gradus/core/format.h"
#include "kit/axis.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

using nn::Placement;

std::string nats(double value) { return kit::fixed_text(value, 3); }

/// "0.012 +- 0.004", with a sign where it is a change.
std::string with_interval(const Difference& difference) {
  const std::string mean = (difference.mean > 0 ? "+" : "") + nats(difference.mean);
  return std::isfinite(difference.half_width) ? mean + " ± " + nats(difference.half_width) : mean;
}

bool learned(const RunRecord& run, const TaskFacts& task) {
  return run.result.final_loss && *run.result.final_loss < task.ngram.loss;
}

/// Pre-LN against Post-LN over all settings and seeds for which both have finished.
struct Duel {
  std::int64_t pairs = 0, pre_learned = 0, post_learned = 0;
  Difference loss;  // Post - Pre, the mean over settings; one difference a seed
};

Duel duel_of(const Analysis& analysis) {
  Duel duel;
  std::vector<double> by_seed;
  for (std::int64_t i = 0; i < analysis.options.seeds; ++i) {
    const std::uint64_t seed = analysis.options.seed + static_cast<std::uint64_t>(i);
    std::vector<double> differences;
    for (const Cell& pre : analysis.grid) {
      if (pre.setting.placement == Placement::post) continue;
      const Cell& post =
          analysis.cell(Placement::post, pre.setting.layers, pre.setting.lr, pre.setting.warmup);
      for (std::size_t a = 0; a < pre.runs.size(); ++a)
        for (std::size_t b = 0; b < post.runs.size(); ++b) {
          if (pre.runs[a].options.seed != seed || post.runs[b].options.seed != seed) continue;
          differences.push_back(post.losses[b] - pre.losses[a]);
          ++duel.pairs;
          duel.pre_learned += learned(pre.runs[a], analysis.task);
          duel.post_learned += learned(post.runs[b], analysis.task);
        }
    }
    if (!differences.empty()) by_seed.push_back(mean(differences));
  }
  duel.loss = difference_of(by_seed);
  return duel;
}

std::string baseline(const TaskFacts& task) { return fmt::format("the {}-gram baseline", task.ngram.n); }

std::string robustness_clause(const Duel& duel, const TaskFacts& task) {
  const std::string counts = fmt::format("Pre-LN ended below {} in {} of {} runs, Post-LN in {}",
                                         baseline(task), duel.pre_learned, duel.pairs, duel.post_learned);
  if (duel.loss.count < 2) return "One seed shows no spread to judge by: " + counts;
  if (!duel.loss.clear())
    return fmt::format(
        "No clear difference over all settings: {}, and the mean loss differs by {} (95% "
        "interval) nats per character",
        counts, with_interval(duel.loss));
  const bool pre_ahead = duel.loss.mean > 0;
  const char *winner = title_of(pre_ahead ? Placement::pre : Placement::post),
             *loser = title_of(pre_ahead ? Placement::post : Placement::pre);
  const std::int64_t won = pre_ahead ? duel.pre_learned : duel.post_learned,
                     lost = pre_ahead ? duel.post_learned : duel.pre_learned;
  if (won > lost)
    return fmt::format("{} trained more reliably: {} of {} runs ended below {}, against {} for {}", winner,
                       won, duel.pairs, baseline(task), lost, loser);
  return fmt::format("{} reached the lower loss, on average by {} nats per character over all settings ({})",
                     winner, nats(std::abs(duel.loss.mean)), counts);
}

/// What is left of the difference when each placement has its best rate and warm-up.
std::string best_clause(const Analysis& analysis) {
  std::vector<std::int64_t> alike;
  std::vector<std::string> parts;
  for (const std::int64_t layers : analysis.options.depths) {
    const Cell *pre = analysis.best(Placement::pre, layers), *post = analysis.best(Placement::post, layers);
    if (!pre || !post) continue;
    const Difference difference = difference_of(paired(*pre, *post));
    if (difference.count < 2) continue;
    if (!difference.clear()) {
      alike.push_back(layers);
      continue;
    }
    const bool pre_ahead = difference.mean > 0;
    parts.push_back(fmt::format("{} ends lower at {} layers ({} against {})",
                                title_of(pre_ahead ? Placement::pre : Placement::post), layers,
                                nats(std::min(pre->loss.mean, post->loss.mean)),
                                nats(std::max(pre->loss.mean, post->loss.mean))));
  }
  if (!alike.empty())
    parts.insert(parts.begin(), fmt::format("the two end alike at {} layers", listed(alike)));
  return parts.empty() ? "" : "each at its best rate and warm-up, " + listed(parts);
}

std::string depth_finding(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const Placement placement : {Placement::pre, Placement::post}) {
    std::vector<std::string> counts;
    for (const std::int64_t layers : analysis.options.depths) {
      std::int64_t won = 0, runs = 0;
      for (const Cell& cell : analysis.grid)
        if (cell.setting.placement == placement && cell.setting.layers == layers)
          won += cell.learned, runs += static_cast<std::int64_t>(cell.runs.size());
      counts.push_back(fmt::format("{} of {}", won, runs));
    }
    parts.push_back(fmt::format("{} {}", title_of(placement), listed(counts)));
  }
  return fmt::format("**Depth.** Runs that ended below {} with {} layers: {}.", baseline(analysis.task),
                     listed(analysis.options.depths), parts[0] + "; " + parts[1]);
}

std::string warmup_words(std::int64_t warmup) {
  return warmup == 0 ? "without warm-up" : fmt::format("with {} steps of warm-up", warmup);
}

std::string sensitivity_finding(const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  const std::int64_t first = options.depths.front(), last = options.depths.back();
  const std::int64_t warmup = options.warmups.front();
  const Sensitivity &pre = analysis.sensitivity(Placement::pre, last, warmup),
                    &post = analysis.sensitivity(Placement::post, last, warmup);
  if (options.lrs.size() < 2 || pre.values.empty() || post.values.empty()) return "";
  std::vector<double> differences;
  for (std::size_t i = 0; i < pre.seeds.size(); ++i)
    for (std::size_t j = 0; j < post.seeds.size(); ++j)
      if (pre.seeds[i] == post.seeds[j]) differences.push_back(post.values[j] - pre.values[i]);
  const Difference difference = difference_of(differences);
  std::string text =
      fmt::format("**Learning rate.** {} the loss lost to the choice of rate", warmup_words(warmup));
  text[std::string("**Learning rate.** ").size()] = 'W';
  const auto from_to = [&](Placement placement) {
    const Sensitivity &a = analysis.sensitivity(placement, first, warmup),
                      &b = analysis.sensitivity(placement, last, warmup);
    return first == last ? fmt::format("{} for {}", nats(b.spread.mean), title_of(placement))
                         : fmt::format("goes from {} to {} for {}", nats(a.spread.mean), nats(b.spread.mean),
                                       title_of(placement));
  };
  text += first == last ? fmt::format(" at {} layers is ", last)
                        : fmt::format(", from {} to {} layers, ", first, last);
  text += from_to(Placement::pre) + " and " + from_to(Placement::post);
  if (difference.count >= 2)
    text += difference.clear()
                ? fmt::format("; at {} layers {} is clearly the more sensitive (Post − Pre: {})", last,
                              title_of(difference.mean > 0 ? Placement::post : Placement::pre),
                              with_interval(difference))
                : fmt::format("; at {} layers the difference is unclear (Post − Pre: {})", last,
                              with_interval(difference));
  return text + " nats per character.";
}

std::string warmup_finding(const Analysis& analysis) {
  const LabOptions& options = analysis.options;
  if (options.warmups.size() < 2) return "";
  std::vector<std::string> parts;
  for (const Placement placement : {Placement::pre, Placement::post}) {
    std::int64_t failed = 0, rescued = 0, spoiled = 0;
    for (const std::int64_t layers : options.depths)
      for (const double lr : options.lrs) {
        const Cell &without = analysis.cell(placement, layers, lr, options.warmups.front()),
                   &with = analysis.cell(placement, layers, lr, options.warmups.back());
        for (const RunRecord& a : without.runs)
          for (const RunRecord& b : with.runs) {
            if (a.options.seed != b.options.seed) continue;
            const bool before = learned(a, analysis.task), after = learned(b, analysis.task);
            failed += !before, rescued += !before && after, spoiled += before && !after;
          }
      }
    std::string part = failed == 0 ? fmt::format("{} had no run to rescue", title_of(placement))
                                   : fmt::format("{} of {} {} runs that had failed came below the baseline",
                                                 rescued, failed, title_of(placement));
    if (spoiled > 0) part += fmt::format(" ({} no longer did)", spoiled);
    parts.push_back(part);
  }
  return fmt::format("**Warm-up.** With {} steps instead of {}, {}.", options.warmups.back(),
                     options.warmups.front(), listed(parts));
}

std::string ablation_finding(const Analysis& analysis) {
  std::vector<std::string> parts;
  for (const Cell& cell : analysis.ablations) {
    const RunOptions& run = cell.setting;
    const Cell& base = analysis.cell(run.placement, run.layers, run.lr, run.warmup);
    const Difference difference = difference_of(paired(base, cell));
    if (difference.count == 0) continue;
    parts.push_back(fmt::format("{} {}: {} instead of {} ({}{})", title_of(run.placement),
                                ablation_words(run), nats(cell.loss.mean), nats(base.loss.mean),
                                with_interval(difference),
                                difference.count < 2 ? ""
                                : difference.clear() ? ", clear"
                                                     : ", not clear"));
  }
  if (parts.empty()) return "";
  const RunOptions run = ablation_setting(analysis.options);
  std::string text = fmt::format("**Ablations** ({} layers, rate {}, {}). ", run.layers,
                                 kit::number_text(run.lr), warmup_words(run.warmup));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? "; " : "") + parts[i];
  return text + ".";
}

}  // namespace

std::string theorem_sentence(const Theorem1& theorem) {
  const bool post_flat =
      theorem.post_ratio_L32_L2 >= kPostRatioLow && theorem.post_ratio_L32_L2 <= kPostRatioHigh;
  const bool pre_falls =
      theorem.pre_ratio_L8_L32 >= kPreRatioLow && theorem.pre_ratio_L8_L32 <= kPreRatioHigh;
  return fmt::format(
      "At initialisation the gradient of the last block's W₂ {} depth for Post-LN (32 layers over 2: {}) and "
      "{} for "
      "Pre-LN (8 layers over 32: {}; 1/√L would give 2), {} Theorem 1 of Xiong et al.; Pre-LN's activations "
      "{} the "
      "bounds of their Lemma 2.",
      post_flat ? "does not depend on" : "changes with", kit::fixed_text(theorem.post_ratio_L32_L2, 2),
      pre_falls ? "shrinks with depth" : "does not shrink like 1/√L",
      kit::fixed_text(theorem.pre_ratio_L8_L32, 2), post_flat && pre_falls ? "as in" : "unlike in",
      theorem.pre_norm_inside_lemma2 ? "stay within" : "leave");
}

Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation) {
  Verdict verdict;
  const auto add = [&](const std::string& finding) {
    if (!finding.empty()) verdict.findings.push_back(finding);
  };
  if (initialisation) add("**Start.** " + theorem_sentence(check_theorem1(initialisation->states)));
  const Duel duel = duel_of(analysis);
  if (duel.pairs == 0) {
    verdict.sentence = "No pair of training runs has finished, so nothing can be said about training yet.";
    return verdict;
  }
  const std::string best = best_clause(analysis);
  verdict.sentence = robustness_clause(duel, analysis.task) + (best.empty() ? "" : "; " + best) + ".";
  add(depth_finding(analysis));
  add(sensitivity_finding(analysis));
  add(warmup_finding(analysis));
  add(ablation_finding(analysis));
  if (analysis.finished < analysis.planned)
    add(fmt::format("**Unfinished.** {} of {} runs are in; the rest may change any of this.",
                    analysis.finished, analysis.planned));
  add(analysis.options.seeds < 2
          ? "**One seed** a setting: chance cannot be told from effect; use at least 3."
          : fmt::format("**{} seeds** a setting. ± is Student's 95% interval over seeds, and a difference is "
                        "called clear only when that interval leaves out zero.",
                        analysis.options.seeds));
  return verdict;
}

}  // namespace gradus::lab
