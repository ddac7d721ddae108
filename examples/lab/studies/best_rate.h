#pragma once
// The rate of a search that is the same for all that are compared.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "lab/analysis/statistics.h"

namespace gradus::lab {

/// The rate whose loss is lowest in the mean over the seeds that are there (NaN: not there); NaN for none.
inline double best_rate(const std::vector<double>& rates, const std::vector<std::uint64_t>& seeds,
                        const std::function<double(double rate, std::uint64_t seed)>& loss) {
  double best = std::numeric_limits<double>::quiet_NaN(), lowest = std::numeric_limits<double>::infinity();
  for (const double rate : rates) {
    std::vector<double> losses;
    for (const std::uint64_t seed : seeds)
      if (const double value = loss(rate, seed); std::isfinite(value)) losses.push_back(value);
    if (!losses.empty() && mean(losses) < lowest) {
      lowest = mean(losses);
      best = rate;
    }
  }
  return best;
}

}  // namespace gradus::lab
