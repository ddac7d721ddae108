#include "learn/learn.h"

Interval paired_interval(const std::vector<double>& a, const std::vector<double>& b, double t) {
  const double n = static_cast<double>(a.size());
  double m = 0, squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) m += (a[i] - b[i]) / n;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i] - m) * (a[i] - b[i] - m);
  const double half = t * std::sqrt(squares / (n - 1)) / std::sqrt(n);
  return {m - half, m + half};
}

bool better(const Interval& difference) { return difference.high < 0; }
