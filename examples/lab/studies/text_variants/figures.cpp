// One number per judging seed for each question, and the referee's objections.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/blocks/mutants.h"
#include "lab/studies/charts.h"
#include "lab/studies/search.h"
#include "lab/studies/text_variants/variants.h"
#include "lab/training/weights.h"

namespace gradus::lab::text_variants {

namespace {

using Values = std::vector<double>;

/// A stack at a kind of initial weights.
struct Arm {
  const Found* found = nullptr;
  std::size_t scheme = 0;
  std::string title;
  Values losses() const { return found->losses(scheme); }
};
using Arms = std::vector<Arm>;

/// On how many of the finished seeds a control's difference is at least the margin.
std::int64_t seen_on(const Values& differences, double margin) {
  return std::count_if(differences.begin(), differences.end(),
                       [&](double difference) { return difference >= margin; });
}

class Judging {
 public:
  Judging(Figures& all, const StudyResults& results, const Grid& grid, const Baselines& baselines)
      : all_(all), grid_(grid), baselines_(baselines), found_(all_found(results, grid)) {
    const Found& pre = found("pre");
    if (!pre.best()) return;
    floor_ = finite(pre.losses_of(kLonger, grid.floor));
    shorter_ = finite(minus(pre.losses_of(kShorter, grid.judging), pre.losses(*pre.best())));
  }

  void add_all() {
    add_spreads();
    add_removed();
    add_difference("rms.pre", "rms-pre", "pre");
    add_difference("rms.post", "rms-post", "post");
    for (const blocks::Mistake& mistake : blocks::mistakes())
      add_difference(mistake.measure, mistake.made, mistake.meant);
  }

 private:
  const Found& found(const std::string& stack) const {
    return *std::find_if(found_.begin(), found_.end(),
                         [&](const Found& one) { return one.stack().name == stack; });
  }

  /// Nothing before the searches have ended.
  std::optional<Arm> best(const std::string& stack) const {
    const Found& one = found(stack);
    if (!one.best()) return std::nullopt;
    return Arm{&one, *one.best(), one.stack().title};
  }

  Arms at_each_scheme(const Found& one) const {
    Arms arms;
    for (std::size_t scheme = 0; scheme < grid_.schemes.size(); ++scheme)
      arms.push_back({&one, scheme,
                      fmt::format("{}, {}", one.stack().title, weight_scheme(grid_.schemes[scheme]).title)});
    return arms;
  }

  Values surviving(const Arm& arm) const { return without_failed(arm.losses(), baselines_.context_free); }

  /// Adds the figure of the seeds on which no run has failed, out of so many that have finished, with the
  /// objections of all its arms: of several the first counts.
  void add(const std::string& id, const Values& values, std::size_t finished, const Arms& arms) {
    for (const Arm& arm : arms)
      all_.object(id, trains_nowhere(finite(arm.losses()), baselines_.bigram, arm.title));
    const Values kept = finite(values);
    for (const double value : kept) all_[id].push_back(value);
    all_.object(id, failed_runs(kept.size(), finished));
    for (const Arm& arm : arms)
      all_.object(id, end_of_search(arm.found->searched(arm.scheme).at_edge, arm.title));
    limit_by_headroom(id, arms);
  }

  /// The distance of the best arm's surviving runs to a loss that is possible.
  void limit_by_headroom(const std::string& id, const Arms& arms) {
    for (const Arm& arm : arms) {
      const Values losses = finite(surviving(arm));
      if (losses.empty() || floor_.empty()) continue;
      const double above = mean(losses) - mean(floor_);
      const auto [known, is_new] = all_.headroom.emplace(id, above);
      if (!is_new) known->second = std::min(known->second, above);
    }
  }

  /// A difference as large as the margin must be visible where there is one.
  void expect_control(const std::string& id, const Values& differences, double margin,
                      const std::string& control) {
    if (differences.empty()) return;
    all_.object(id, no_control(seen_on(differences, margin), std::ssize(differences), control));
  }

  /// One stack minus another, each at its best.
  void add_difference(const std::string& id, const std::string& one, const std::string& other) {
    const std::optional<Arm> a = best(one), b = best(other);
    if (!a || !b) return;
    add(id, minus(surviving(*a), surviving(*b)), finite(minus(a->losses(), b->losses())).size(), {*a, *b});
    expect_control(id, shorter_, kMargin, "Pre-LN in four fifths of the steps");
  }

  void add_removed() {
    const std::optional<Arm> pre = best("pre");
    if (!pre) return;
    const Values removed = pre->found->numbers(pre->scheme, "removed");
    add("removed", minus(removed, surviving(*pre)), finite(pre->losses()).size(), {*pre});
  }

  void add_spreads() {
    const Found &pre = found("pre"), &post = found("post"), &none = found("none");
    const auto spread = [&](const Found& one, bool with_failed) {
      return spread_of_schemes(one, grid_.schemes.size(),
                               with_failed ? std::nullopt : std::optional(baselines_.context_free));
    };
    if (!pre.best()) return;
    Arms arms = at_each_scheme(pre);
    add("spread.pre", spread(pre, false), finite(spread(pre, true)).size(), arms);
    // Without norms a run that fails at one kind of weights and not at another has seen the difference.
    if (none.best())
      expect_control("spread.pre", finite(spread(none, true)), kSpreadMargin,
                     "initial weights without norms");
    if (!post.best()) return;
    for (Arm& arm : at_each_scheme(post)) arms.push_back(std::move(arm));
    add("spread.difference", minus(spread(post, false), spread(pre, false)),
        finite(minus(spread(post, true), spread(pre, true))).size(), arms);
  }

  Figures& all_;
  const Grid& grid_;
  Baselines baselines_;
  std::vector<Found> found_;
  Values floor_, shorter_;
};

}  // namespace

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  if (const std::optional<Baselines> baselines = baselines_of(results))
    Judging(all, results, grid, *baselines).add_all();
  return all;
}

}  // namespace gradus::lab::text_variants
