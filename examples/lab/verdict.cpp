#include "lab/verdict.h"

#include <cmath>

#include "gradus/core/format.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

using nn::Placement;

/// Pre-LN against Post-LN over all settings and seeds for which both have finished.
struct Duel {
  std::int64_t pairs = 0, pre_learned = 0, post_learned = 0;
  std::int64_t only_pre = 0, only_post = 0;  // pairs of which one learned
  Difference loss;                           // Post - Pre, the mean over settings; one difference a seed
  bool clear_in_counts() const { return mcnemar(only_pre, only_post) < 0.05; }
};

Duel duel_of(const Analysis& analysis) {
  Duel duel;
  std::vector<double> by_seed;
  for (std::int64_t i = 0; i < analysis.options.seeds; ++i) {
    const std::uint64_t seed = analysis.options.seed + static_cast<std::uint64_t>(i);
    std::vector<double> differences;
    for (const Cell& pre : analysis.grid) {
      const RunOptions& setting = pre.setting;
      if (setting.placement == Placement::post) continue;
      const Cell& post = analysis.cell(Placement::post, setting.layers, setting.lr, setting.warmup);
      const auto a = pre.run_of(seed), b = post.run_of(seed);
      if (!a || !b) continue;
      differences.push_back(post.losses[*b] - pre.losses[*a]);
      ++duel.pairs;
      duel.pre_learned += pre.learned[*a], duel.only_pre += pre.learned[*a] && !post.learned[*b];
      duel.post_learned += post.learned[*b], duel.only_post += post.learned[*b] && !pre.learned[*a];
    }
    if (!differences.empty()) by_seed.push_back(mean(differences));
  }
  duel.loss = difference_of(by_seed);
  return duel;
}

/// Who got more runs to learn; if that is not clear, who ended lower; if that is not clear either, so it
/// says.
std::string robustness_clause(const Duel& duel, const Baseline& baseline) {
  const std::string counts = fmt::format("Pre-LN ended below {} in {} of {} runs, Post-LN in {}",
                                         baseline.words(), duel.pre_learned, duel.pairs, duel.post_learned);
  if (duel.loss.count < 2) return "One seed shows no spread to judge by: " + counts;
  const bool lower_is_pre = duel.loss.mean > 0;
  const std::string lower =
      fmt::format("by {} nats per character on average over all settings", nats(std::abs(duel.loss.mean)));
  if (duel.clear_in_counts()) {
    const bool pre = duel.only_pre > duel.only_post;
    std::string text = fmt::format(
        "{} trained more reliably: {} of {} runs ended below {}, against {} for {}",
        title_of(pre ? Placement::pre : Placement::post), pre ? duel.pre_learned : duel.post_learned,
        duel.pairs, baseline.words(), pre ? duel.post_learned : duel.pre_learned,
        title_of(pre ? Placement::post : Placement::pre));
    if (duel.loss.clear() && lower_is_pre != pre)
      text +=
          fmt::format(", though {} ended lower {}", title_of(pre ? Placement::post : Placement::pre), lower);
    return text;
  }
  if (duel.loss.clear())
    return fmt::format("{} reached the lower loss, {} ({})",
                       title_of(lower_is_pre ? Placement::pre : Placement::post), lower, counts);
  return fmt::format(
      "No clear difference over all settings: {}, and the mean loss differs by {} nats per character (95% "
      "interval)",
      counts, with_interval(duel.loss));
}

/// What is left of the difference when each placement has its best rate and warm-up.
std::string best_clause(const Analysis& analysis) {
  std::vector<std::int64_t> unclear;
  std::vector<std::string> pre_lower, post_lower, parts;
  for (const std::int64_t layers : analysis.options.depths) {
    const Cell *pre = analysis.best(Placement::pre, layers), *post = analysis.best(Placement::post, layers);
    if (!pre || !post) continue;
    const Difference difference = difference_of(paired(*pre, *post));
    if (difference.count < 2) continue;
    if (!difference.clear()) {
      unclear.push_back(layers);
      continue;
    }
    const bool pre_ahead = difference.mean > 0;
    (pre_ahead ? pre_lower : post_lower)
        .push_back(fmt::format("{} ({} against {})", counted(layers, "layer"),
                               nats(std::min(pre->loss.mean, post->loss.mean)),
                               nats(std::max(pre->loss.mean, post->loss.mean))));
  }
  if (!unclear.empty())
    parts.push_back(fmt::format("there is no clear difference at {} layers", listed(unclear)));
  if (!pre_lower.empty()) parts.push_back("Pre-LN ends lower at " + listed(pre_lower));
  if (!post_lower.empty()) parts.push_back("Post-LN ends lower at " + listed(post_lower));
  return parts.empty() ? "" : "; each at its best rate and warm-up, " + listed(parts);
}

}  // namespace

Verdict verdict_of(const Analysis& analysis, const std::optional<Initialisation>& initialisation) {
  const Duel duel = duel_of(analysis);
  Verdict verdict{{}, findings_of(analysis, initialisation)};
  verdict.sentence =
      duel.pairs == 0
          ? "No setting has finished with both placements, so nothing can be said about training yet."
          : robustness_clause(duel, analysis.baseline) + best_clause(analysis) + ".";
  return verdict;
}

}  // namespace gradus::lab
