// One number per judging seed for each measure of the claims, and the referee's objections.

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lab/claims/referee.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/pruning/parts.h"
#include "lab/studies/search.h"
#include "lab/studies/text/comparison.h"
#include "lab/studies/text/text.h"

namespace gradus::lab::real_text {

namespace {

using Values = std::vector<double>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLessTime = 0.9;  // of the steps

/// An arm at one of its chosen designs.
struct Side {
  const Choice* choice;
  std::size_t warmup;
};

class Measures {
 public:
  Measures(Figures& all, const StudyResults& results) : all_(all), results_(results) {}

  Values losses(const Side& side) const { return survivors(results_, *side.choice, side.warmup); }

  /// A figure of the seeds on which no run of the compared arms failed: values are NaN on the others, and
  /// where a run has not finished. Text has no known entropy, least of all within short windows, so there is
  /// no headroom to compare a band with.
  void add(const std::string& id, const std::vector<Side>& sides, const Values& values) {
    Values finished(values.size());  // NaN where a run has not
    for (const auto& [choice, warmup] : sides) {
      const Values all_losses = choice->losses(warmup);
      for (std::size_t s = 0; s < finished.size(); ++s) finished[s] += all_losses.at(s);
      all_.object(id, trains_nowhere(finite(all_losses), trained_loss(results_), choice->arm().title()));
    }
    const Values kept = finite(values);
    all_[id] = kept;
    all_.object(id, failed_runs(kept.size(), finite(finished).size()));
    for (const auto& [choice, warmup] : sides)
      all_.object(id, end_of_search(choice->searched(warmup).at_edge, choice->arm().title()));
  }

 private:
  Figures& all_;
  const StudyResults& results_;
};

/// 1 where one arm reaches the other's final training loss within kLessTime of the steps, else 0.
Values reaches_sooner(const Measures& measures, const Side& one, const Side& other) {
  Values values = minus(measures.losses(one), measures.losses(other));
  const std::vector<Values> curves = one.choice->series(one.warmup, "losses"),
                            targets = other.choice->series(other.warmup, "losses");
  for (std::size_t s = 0; s < values.size(); ++s)
    if (!std::isnan(values[s])) values[s] = share_to(curves.at(s), targets.at(s).back()) <= kLessTime ? 1 : 0;
  return values;
}

void add_placements(Figures& all, const StudyResults& results) {
  const Comparison comparison = placements_compared(results.options);
  Measures measures(all, results);
  for (std::size_t i = 0; i + 1 < comparison.arms.size(); i += 2) {
    const Choice pre(results, comparison, comparison.arms[i]),
        post(results, comparison, comparison.arms[i + 1]);
    const std::string at = fmt::format(".L{}", pre.arm().layers);
    if (pre.best() && post.best()) {
      const Side a{&pre, *pre.best()}, b{&post, *post.best()};
      measures.add("best" + at, {a, b}, minus(measures.losses(b), measures.losses(a)));
    }
    const Side a{&pre, pre.arm().required}, b{&post, post.arm().required};
    if (!pre.chosen(a.warmup) || !post.chosen(b.warmup)) continue;
    measures.add("as-well" + at, {a, b}, minus(measures.losses(a), measures.losses(b)));
    measures.add("sooner" + at, {a, b}, reaches_sooner(measures, a, b));
  }
}

/// A number made of the rises of the loss without each layer, for each seed; NaN where the run failed or has
/// not finished.
Values of_drops(const Measures& measures, const Side& side, double (*number)(const Values& rises)) {
  Values values = measures.losses(side);
  const std::vector<Values> drops = side.choice->series(side.warmup, "drop");
  for (std::size_t s = 0; s < values.size(); ++s)
    values[s] = std::isnan(values[s]) ? kNone : number(drops.at(s));
  return values;
}

void add_scaling(Figures& all, const StudyResults& results) {
  const Comparison comparison = scaling_compared(results.options);
  const Choice pre(results, comparison, comparison.arms.at(0)),
      scaled(results, comparison, comparison.arms.at(1));
  if (!pre.best() || !scaled.best()) return;
  const Side a{&pre, *pre.best()}, b{&scaled, *scaled.best()};
  Measures measures(all, results);
  const Values share = of_drops(measures, a, pruning::deeper_share);
  measures.add("share.pre", {a}, share);
  measures.add("share.scaling", {a, b}, minus(of_drops(measures, b, pruning::deeper_share), share));
  measures.add(
      "rise.scaling", {a, b},
      minus(of_drops(measures, b, pruning::deeper_mean), of_drops(measures, a, pruning::deeper_mean)));
  measures.add("loss.scaling", {a, b}, minus(measures.losses(a), measures.losses(b)));
}

}  // namespace

Figures figures(const StudyResults& results) {
  Figures all;
  add_placements(all, results);
  add_scaling(all, results);
  return all;
}

}  // namespace gradus::lab::real_text
