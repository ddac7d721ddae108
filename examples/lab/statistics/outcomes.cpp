#include "lab/statistics/outcomes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradus::lab {

Survival survival_of(std::span<const double> losses, double context_free_loss, double level) {
  Survival survival{.runs = std::ssize(losses)};
  for (const double loss : losses)
    if (loss < context_free_loss)
      survival.surviving.push_back(loss);
    else
      ++survival.failed;
  survival.share = share_interval(survival.failed, survival.runs, level);
  return survival;
}

std::vector<double> without_failed(std::vector<double> losses, double context_free_loss) {
  for (double& loss : losses)
    if (!(loss < context_free_loss)) loss = std::numeric_limits<double>::quiet_NaN();
  return losses;
}

Reached reached_of(std::span<const double> steps) {
  Reached all{.runs = std::ssize(steps)};
  for (const double step : steps)
    if (!std::isnan(step)) all.steps.push_back(step);
  std::sort(all.steps.begin(), all.steps.end());
  all.reached = std::ssize(all.steps);
  return all;
}

double Reached::open_after(double step) const {
  const auto done = std::upper_bound(steps.begin(), steps.end(), step) - steps.begin();
  return 1 - static_cast<double>(done) / static_cast<double>(runs);
}

double sooner(double a, double b, double factor) {
  if (std::isnan(a)) return 0;
  constexpr double kRounding = 1 - 1e-9;  // 110 steps are a tenth more than 100
  return std::isnan(b) || b >= kRounding * factor * a ? 1 : 0;
}

}  // namespace gradus::lab
