#include "learn/learn.h"

int best_rate(const std::vector<double>& loss) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(loss.size()); ++i)
    if (!std::isnan(loss[i]) && (best < 0 || loss[i] < loss[best])) best = i;
  return best;
}

double sensitivity(const std::vector<double>& loss, double start) {
  double mean = 0, least = start;
  for (const double l : loss) {
    const double counted = std::isnan(l) ? start : std::min(l, start);
    mean += counted / static_cast<double>(loss.size());
    least = std::min(least, counted);
  }
  return mean - least;
}
