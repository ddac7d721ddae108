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
#include "lab/studies/left_out.h"
#include "lab/study/outcome.h"

namespace gradus::lab::best {

namespace {

using Values = std::vector<double>;

constexpr double kSooner = 1.1;  // a tenth fewer steps

/// Wortsman et al. 2023 (arXiv:2309.14322); a run's loss counts at most as its initial loss.
double sensitivity_of(const Values& losses) {
  return mean(losses) - *std::min_element(losses.begin(), losses.end());
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

  void add(const char* what, const Values& values) {
    for (const double value : finite(values)) all_[id(what)].push_back(value);
  }

  /// Neither search may have ended at an edge, and both arms must train.
  void object_to_both(const char* what, bool both_warmups) {
    for (const Found* arm : {&pre_, &post_})
      if (const Values losses = finite(arm->best_losses()); !losses.empty())
        all_.object(id(what), trains_nowhere(losses, task().context_free_loss(), arm->arm().title()));
    for (const Found* arm : {&pre_, &post_})
      all_.object(id(what),
                  end_of_search(both_warmups ? arm->any_at_edge() : arm->best_at_edge(), arm->arm().title()));
  }

  double above_entropy(const Found& arm) const {
    return mean(finite(arm.best_losses())) - task().entropy().value();
  }

  void add_best() {
    add("best", paired_difference(post_.best_losses(), pre_.best_losses()));
    object_to_both("best", false);
    all_.headroom[id("best")] = std::min(above_entropy(pre_), above_entropy(post_));
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
    const Values pre = paired_difference(pre_.losses(0), pre_.losses(1)),
                 post = paired_difference(post_.losses(0), post_.losses(1));
    add("gain.pre", pre);
    add("gain.post", post);
    if (pre.size() == post.size()) add("gain.difference", paired_difference(post, pre));
    for (const auto& [what, arm] : {std::pair("gain.pre", &pre_), {"gain.post", &post_}}) {
      all_.object(id(what), end_of_search(arm->any_at_edge(), arm->arm().title()));
      all_.headroom[id(what)] = above_entropy(*arm);
    }
    object_to_both("gain.difference", true);
    all_.headroom[id("gain.difference")] = std::min(above_entropy(pre_), above_entropy(post_));
  }

  /// Steps of the judging seeds to the target at the chosen settings; NaN: never, or not finished.
  Values steps(const Found& arm) const { return arm.numbers(*arm.chosen(*arm.best()), "steps"); }

  void add_speed() {
    const Values pre = steps(pre_), post = steps(post_), pre_loss = pre_.best_losses(),
                 post_loss = post_.best_losses();
    for (std::size_t s = 0; s < pre.size(); ++s)
      if (!std::isnan(pre_loss[s]) && !std::isnan(post_loss[s]))
        all_[id("sooner")].push_back(sooner(pre[s], post[s], kSooner));
    if (all_.contains(id("sooner"))) all_.object(id("sooner"), never_reached(pre, post));
  }

  void add_sweeps() {
    const std::vector<Values> pre = pre_.swept("loss"), post = post_.swept("loss"),
                              pre_steps = pre_.swept("steps"), post_steps = post_.swept("steps");
    const std::size_t common = grid_.last - grid_.first + 1;
    bool any_trains = false;
    for (std::size_t s = 0; s < grid_.judging.size(); ++s) {
      const auto pre_common = by_rate(pre, s, common), post_common = by_rate(post, s, common);
      if (pre_common && post_common)
        all_[id("sensitivity")].push_back(sensitivity_of(*post_common) - sensitivity_of(*pre_common));
      const auto pre_all = by_rate(pre, s, pre.size()), post_all = by_rate(post, s, post.size());
      if (!pre_all || !post_all) continue;
      const std::size_t a = largest(*pre_all), b = largest(*post_all);  // both count from the same rate
      all_[id("largest")].push_back(a > b ? 1 : 0);
      const double nan = std::numeric_limits<double>::quiet_NaN();
      if (a > 0 || b > 0) any_trains = true;
      all_[id("sooner-at-largest")].push_back(
          sooner(a > 0 ? pre_steps[a - 1][s] : nan, b > 0 ? post_steps[b - 1][s] : nan, kSooner));
    }
    object_to_both("sensitivity", false);
    for (const char* what : {"largest", "sooner-at-largest"}) {
      for (const Found* arm : {&pre_, &post_})
        all_.object(id(what), end_of_search(arm->sweep_at_edge(), arm->arm().title()));
      if (!any_trains && all_.contains(id(what)))
        all_.object(id(what), Objection{Judgement::not_measured, "neither trains at any rate"});
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
};

}  // namespace

Figures figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  for (const std::int64_t layers : grid.depths) Pair(all, results, grid, layers).add_all();
  return all;
}

}  // namespace gradus::lab::best
