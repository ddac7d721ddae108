#include "learn/learn.h"

// An honest comparison: the paired t-interval. About 8 lines.
//
// Two methods are run with the same seeds: a[i] and b[i] are their losses with seed i. The differences d_i =
// a_i - b_i have
//
//   mean  m = sum d_i / n         standard deviation  s = sqrt(sum (d_i - m)^2 / (n - 1))
//   interval: m - t s / sqrt(n)   to   m + t s / sqrt(n)
//
// t is given by the caller (for 95% and n = 5 it is 2.776). better says whether a may be called better than
// b: only if the whole interval is below 0.
//
//   struct Interval { double low, high; };        given in examples/course/10_experiments/given.h
//
// Forbidden: Tensor, which is not needed here.

Interval paired_interval(const std::vector<double>& a, const std::vector<double>& b, double t) {
  return todo(a, b, t);
}

bool better(const Interval& difference) { return todo(difference); }
