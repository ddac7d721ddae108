// One number per judging seed for each question, and the referee's objections.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/best/best.h"
#include "lab/studies/charts.h"
#include "lab/studies/search.h"
#include "lab/study/outcome.h"

namespace gradus::lab::best {

namespace {

using Values = std::vector<double>;
using Arms = std::vector<const Found*>;

constexpr double kSooner = 1.1;  // a tenth fewer steps

/// Wortsman et al. 2023 (arXiv:2309.14322), of a seed without failed runs.
double sensitivity_of(const Values& losses) {
  return mean(losses) - *std::min_element(losses.begin(), losses.end());
}

bool any_failed(const Values& losses) { return survival_of(losses, task().context_free_loss()).failed > 0; }

/// The losses of a sweep's finished runs.
Values flattened(const std::vector<Values>& sweep) {
  Values all;
  for (const Values& losses : sweep)
    for (const double loss : finite(losses)) all.push_back(loss);
  return all;
}

std::int64_t trained(const Values& losses) {
  return std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < learned_loss(); });
}

/// The numbers of one judging seed at each rate of the sweep; nothing until all have finished.
std::optional<Values> by_rate(const std::vector<Values>& losses, std::size_t seed, std::size_t rates) {
  if (losses.size() < rates) return std::nullopt;
  Values values;
  for (std::size_t rate = 0; rate < rates; ++rate) values.push_back(losses.at(rate).at(seed));
  if (values.empty() || finite(values).size() < values.size()) return std::nullopt;
  return values;
}

/// The figures of both placements at one depth.
class Pair {
 public:
  Pair(Figures& all, const StudyResults& results, const Grid& grid, std::int64_t layers)
      : all_(all),
        grid_(grid),
        layers_(layers),
        pre_(results, grid, {0, layers}),
        post_(results, grid, {1, layers}) {}

  void add_all() {
    if (!pre_.best() || !post_.best()) return;
    add_best();
    add_warmup();
    add_speed();
    add_sweeps();
  }

 private:
  std::string id(const char* what) const { return fmt::format("{}.L{}", what, layers_); }

  /// A figure of the seeds on which no run has failed, out of so many that have finished.
  void add(const char* what, const Values& values, std::size_t finished) {
    const Values kept = finite(values);
    for (const double value : kept) all_[id(what)].push_back(value);
    all_.object(id(what), failed_runs(kept.size(), finished));
  }

  /// Each arm must train; called before add(), since of several objections the first counts.
  void expect_training(const char* what, const Arms& arms, bool both_warmups = false) {
    for (const Found* arm : arms) {
      Values losses = both_warmups ? arm->losses(0) : arm->best_losses();
      if (both_warmups)
        for (const double loss : arm->losses(1)) losses.push_back(loss);
      all_.object(id(what), trains_nowhere(finite(losses), learned_loss(), arm->arm().title()));
    }
  }

  /// No search may have ended at an edge.
  void expect_inside(const char* what, const Arms& arms, bool both_warmups = false) {
    for (const Found* arm : arms)
      all_.object(id(what),
                  end_of_search(both_warmups ? arm->any_at_edge() : arm->best_at_edge(), arm->arm().title()));
  }

  /// The distance of the best arm's surviving runs to the entropy.
  void limit_by_headroom(const char* what, const Arms& arms) {
    for (const Found* arm : arms) {
      const Values losses = finite(without_failed(arm->best_losses()));
      if (losses.empty()) continue;
      const double above = mean(losses) - task().entropy().value();
      const auto [known, is_new] = all_.headroom.emplace(id(what), above);
      if (!is_new) known->second = std::min(known->second, above);
    }
  }

  void add_best() {
    expect_training("best", both_);
    add("best", minus(without_failed(post_.best_losses()), without_failed(pre_.best_losses())),
        finite(minus(post_.best_losses(), pre_.best_losses())).size());
    expect_inside("best", both_);
    limit_by_headroom("best", both_);
    for (const Found* arm : {&pre_, &post_}) {
      const char* what = arm == &pre_ ? "trains.pre" : "trains.post";
      for (const double loss : finite(arm->best_losses()))
        all_[id(what)].push_back(loss < learned_loss() ? 1 : 0);
    }
    const Values control = finite(pre_.best_losses());
    if (trained(finite(post_.best_losses())) == 0 && !control.empty())
      all_.object(id("trains.post"), no_control(trained(control), std::ssize(control), pre_.arm().title()));
  }

  void add_warmup() {
    const auto gain = [](const Found& arm) {
      return minus(without_failed(arm.losses(0)), without_failed(arm.losses(1)));
    };
    const auto all_gains = [](const Found& arm) { return minus(arm.losses(0), arm.losses(1)); };
    for (const auto& [what, arm] : {std::pair("gain.pre", &pre_), {"gain.post", &post_}}) {
      expect_training(what, {arm}, true);
      add(what, gain(*arm), finite(all_gains(*arm)).size());
      expect_inside(what, {arm}, true);
      limit_by_headroom(what, {arm});
    }
    expect_training("gain.difference", both_, true);
    add("gain.difference", minus(gain(post_), gain(pre_)),
        finite(minus(all_gains(post_), all_gains(pre_))).size());
    expect_inside("gain.difference", both_, true);
    limit_by_headroom("gain.difference", both_);
  }

  /// Steps of the judging seeds to the target at the chosen settings; NaN: never, or not finished.
  Values steps(const Found& arm) const { return arm.numbers(*arm.chosen(*arm.best()), "steps"); }

  void add_speed() {
    const Values pre = steps(pre_), post = steps(post_), pre_loss = pre_.best_losses(),
                 post_loss = post_.best_losses();
    for (std::size_t s = 0; s < pre.size(); ++s)
      if (!std::isnan(pre_loss[s]) && !std::isnan(post_loss[s]))
        all_[id("sooner")].push_back(sooner(pre[s], post[s], kSooner));
    if (!all_.contains(id("sooner"))) return;
    all_.object(id("sooner"), never_reached(pre, post));
    expect_training("sooner", both_);
  }

  void add_sweeps() {
    const std::vector<Values> pre = pre_.swept("loss"), post = post_.swept("loss"),
                              pre_steps = pre_.swept("steps"), post_steps = post_.swept("steps");
    const std::size_t common = grid_.last - grid_.first + 1;
    Values sensitivity;  // Post-LN's minus Pre-LN's
    std::size_t finished = 0;
    bool any_trains = false;
    for (std::size_t s = 0; s < grid_.judging.size(); ++s) {
      const auto pre_common = by_rate(pre, s, common), post_common = by_rate(post, s, common);
      if (pre_common && post_common) {
        ++finished;
        if (!any_failed(*pre_common) && !any_failed(*post_common))
          sensitivity.push_back(sensitivity_of(*post_common) - sensitivity_of(*pre_common));
      }
      const auto pre_all = by_rate(pre, s, pre.size()), post_all = by_rate(post, s, post.size());
      if (!pre_all || !post_all) continue;
      const std::size_t a = largest(*pre_all), b = largest(*post_all);  // both count from the same rate
      all_[id("largest")].push_back(a > b ? 1 : 0);
      const double nan = std::numeric_limits<double>::quiet_NaN();
      if (a > 0 || b > 0) any_trains = true;
      all_[id("sooner-at-largest")].push_back(
          sooner(a > 0 ? pre_steps[a - 1][s] : nan, b > 0 ? post_steps[b - 1][s] : nan, kSooner));
    }
    expect_training("sensitivity", both_);
    add("sensitivity", sensitivity, finished);
    expect_inside("sensitivity", both_);
    for (const char* what : {"largest", "sooner-at-largest"}) {
      if (!all_.contains(id(what))) continue;
      if (!any_trains)
        all_.object(id(what), Objection{Judgement::not_measured, "neither trains at any rate"});
      for (const auto& [arm, losses] : {std::pair(&pre_, &pre), {&post_, &post}})
        all_.object(id(what), trains_nowhere(flattened(*losses), learned_loss(), arm->arm().title()));
      for (const Found* arm : both_)
        all_.object(id(what), end_of_search(arm->sweep_at_edge(), arm->arm().title()));
    }
  }

  /// The number of rates from the lowest to the largest that trains; 0 if none does.
  static std::size_t largest(const Values& losses) {
    for (std::size_t i = losses.size(); i-- > 0;)
      if (losses[i] < learned_loss()) return i + 1;
    return 0;
  }

  Figures& all_;
  const Grid& grid_;
  std::int64_t layers_;
  Found pre_, post_;
  Arms both_ = {&pre_, &post_};
};

}  // namespace

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  for (const std::int64_t layers : grid.depths) Pair(all, results, grid, layers).add_all();
  return all;
}

}  // namespace gradus::lab::best
