// The results of the comparisons whose arms are searched, and their figures.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/placements/searched.h"
#include "lab/studies/search.h"
#include "lab/training/weights.h"

namespace gradus::lab::placements {

namespace {

using Values = std::vector<double>;

/// The mean loss of an arm's surviving runs above the language's entropy; NaN without one.
double headroom(const Comparison& comparison, const ArmResults& arm) {
  const Values losses = without_failed(arm.numbers("loss"), comparison.task().context_free_loss());
  return mean(finite(losses)) - comparison.task().entropy().value();
}

/// The figure of one placement against the better of Pre-LN and Post-LN.
void add_above_better(Figures& all, const Comparison& comparison, const std::vector<ArmResults>& arms,
                      const ArmResults& arm, const ArmResults& better) {
  const std::size_t finished = finite(minus(arm.numbers("loss"), better.numbers("loss"))).size();
  if (finished == 0) return;
  const std::string id = fmt::format("best.{}.L{}", name_of(arm.arm().placement), comparison.layers);
  const Values values = finite(above(comparison, arm, better));
  for (const double value : values) all[id].push_back(value);
  for (const ArmResults* one : {&arm, &better})
    all.object(id, trains_nowhere(finite(one->numbers("loss")), comparison.learned_loss(), one->title()));
  all.object(id, failed_runs(values.size(), finished));
  for (const ArmResults* one : {&arm, &arms[0], &arms[1]})
    all.object(id, end_of_search(one->searched().at_edge, one->title()));
  for (const ArmResults* one : {&arm, &better})
    if (const double room = headroom(comparison, *one); std::isfinite(room)) {
      const auto [known, is_new] = all.headroom.emplace(id, room);
      if (!is_new) known->second = std::min(known->second, room);
    }
}

void add_at_best(Figures& all, const StudyResults& results) {
  const Comparison comparison = at_best(results.options);
  const std::vector<ArmResults> arms = results_of(results, comparison);
  const ArmResults* const better = better_of_two(arms);
  if (!better) return;
  for (std::size_t i = 2; i < arms.size(); ++i)
    if (arms[i].chosen()) add_above_better(all, comparison, arms, arms[i], *better);
}

void add_looking_back(Figures& all, const StudyResults& results) {
  const Comparison comparison = looking_back(results.options);
  const std::vector<ArmResults> arms = results_of(results, comparison);
  const ArmResults &pre = arms.front(), &control = arms.back();
  const Values losses = finite(pre.numbers("loss"));
  if (losses.empty()) return;
  const std::string id = fmt::format("looks-back.L{}", comparison.layers);
  for (const double loss : losses) all[id].push_back(loss < comparison.learned_loss() ? 1 : 0);
  if (2 * pre.learned() > std::ssize(losses)) return;
  // That it does not learn needs a control that does, and a search that did not end too early.
  all.object(id, no_control(control.learned(), std::ssize(finite(control.numbers("loss"))), control.title()));
  all.object(id, end_of_search(pre.searched().at_edge, pre.title()));
}

}  // namespace

std::string title_of_weights(const std::string& scheme) {
  return scheme == kOwnWeights ? "the paper's" : weight_scheme(scheme).title;
}

ArmResults::ArmResults(const StudyResults& results, const Comparison& comparison, const Arm& arm)
    : results_(results), comparison_(comparison), arm_(arm) {
  const Halving halving{.families = arm.schemes.size(),
                        .ladder = comparison.ladder,
                        .first = comparison.first,
                        .last = comparison.last,
                        .seeds = comparison.searching,
                        .kept = comparison.kept};
  searched_ = lab::search(halving, [&](const Setting& setting, std::uint64_t seed) -> std::optional<double> {
    const std::string run = comparison_.run_name(arm_, design(setting), seed);
    return results_.has(run) ? std::optional(badness(run)) : std::nullopt;
  });
}

double ArmResults::badness(const std::string& run) const {
  const double loss = results_.number(run, "loss");
  if (!comparison_.looks_back) return loss;
  const double steps = results_.number(run, "steps");
  return std::isnan(steps) ? static_cast<double>(comparison_.steps) * (1 + loss) : steps;
}

Design ArmResults::design(const Setting& setting) const {
  return {arm_.schemes[setting.family], comparison_.ladder[setting.rate]};
}

std::optional<Design> ArmResults::chosen() const {
  return searched_.chosen ? std::optional(design(*searched_.chosen)) : std::nullopt;
}

std::vector<double> ArmResults::numbers(const std::string& name) const {
  std::vector<double> all;
  const std::optional<Design> design = chosen();
  for (const std::uint64_t seed : comparison_.judging)
    all.push_back(design ? results_.number(comparison_.run_name(arm_, *design, seed), name)
                         : std::numeric_limits<double>::quiet_NaN());
  return all;
}

std::int64_t ArmResults::learned() const {
  const Values losses = numbers("loss");
  return std::count_if(losses.begin(), losses.end(),
                       [&](double loss) { return loss < comparison_.learned_loss(); });
}

std::vector<ArmResults> results_of(const StudyResults& results, const Comparison& comparison) {
  std::vector<ArmResults> all;
  for (const Arm& arm : comparison.arms) all.emplace_back(results, comparison, arm);
  return all;
}

const ArmResults* better_of_two(const std::vector<ArmResults>& arms) {
  const ArmResults &pre = arms.at(0), &post = arms.at(1);
  if (!pre.chosen() || !post.chosen()) return nullptr;
  return post.searched().mean < pre.searched().mean ? &post : &pre;
}

std::vector<double> above(const Comparison& comparison, const ArmResults& arm, const ArmResults& other) {
  const double failed = comparison.task().context_free_loss();
  return minus(without_failed(arm.numbers("loss"), failed), without_failed(other.numbers("loss"), failed));
}

void add_searched_figures(Figures& all, const StudyResults& results) {
  add_at_best(all, results);
  add_looking_back(all, results);
}

}  // namespace gradus::lab::placements
