#include "learn/learn.h"

int pairs(const std::vector<double>& pilot, double half, const StudentT& t) {
  const double count = static_cast<double>(pilot.size());
  const double m = std::accumulate(pilot.begin(), pilot.end(), 0.0) / count;
  double squares = 0;
  for (const double x : pilot) squares += (x - m) * (x - m);
  const double s = std::sqrt(squares / (count - 1));
  int n = 2;
  while (t(n) * s / std::sqrt(n) > half) ++n;
  return n;
}

Verdict verdict(const Interval& interval, const Band& band) {
  if (interval.low >= band.low && interval.high <= band.high) return Verdict::holds;
  return interval.high < band.low || interval.low > band.high ? Verdict::fails : Verdict::unclear;
}

double level(int questions) { return 1 - 0.05 / questions; }
