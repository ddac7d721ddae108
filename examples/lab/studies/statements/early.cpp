// Early rates, and the largest rise of a loss.

#include <algorithm>
#include <limits>

#include "lab/statistics/statistics.h"
#include "lab/studies/statements/statements.h"

namespace gradus::lab::statements {

std::string name_of(Early early) {
  switch (early) {
    case Early::warm_up:
      return "warm-up";
    case Early::small:
      return "small";
    case Early::level:
      return "level";
    case Early::large:
      return "large";
  }
  return {};
}

optim::Schedule schedule_of(Early early, double rate, std::int64_t steps) {
  const std::int64_t quarter = steps / 4;
  const optim::Schedule later = optim::warmup_cosine(rate, quarter, steps);
  if (early == Early::warm_up) return later;
  const double first = early == Early::small ? rate / 10 : early == Early::large ? 3 * rate : rate;
  return [=](std::int64_t step) { return step <= quarter ? first : later(step); };
}

double largest_rise(std::span<const double> losses, std::size_t window) {
  if (losses.size() < window) return std::numeric_limits<double>::quiet_NaN();
  double rise = 0, lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + window <= losses.size(); ++i) {
    const double here = mean(losses.subspan(i, window));
    lowest = std::min(lowest, here);
    rise = std::max(rise, here - lowest);
  }
  return rise;
}

}  // namespace gradus::lab::statements
