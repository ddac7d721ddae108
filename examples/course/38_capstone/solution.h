#include "learn/learn.h"

Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  const double n = static_cast<double>(figures.size());
  const double m = std::accumulate(figures.begin(), figures.end(), 0.0) / n;
  double squares = 0;
  for (const double x : figures) squares += (x - m) * (x - m);
  const double half = t * std::sqrt(squares / (n - 1) / n);
  if (m - half >= band.low && m + half <= band.high) return Verdict::holds;
  return m + half < band.low || m - half > band.high ? Verdict::fails : Verdict::unclear;
}

double level(int questions) { return 1 - 0.05 / questions; }
