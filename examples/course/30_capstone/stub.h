#include "learn/learn.h"

// A verdict by rule, as in the ledger of claims. About 12 lines.
//
// A claim has a band, written down before the run. The figures of n seeds give an interval:
//
//   m = mean      s = sqrt(sum (x_i - m)^2 / (n - 1))      interval = m -+ t s / sqrt(n)
//
//   the whole interval is inside the band    -> Verdict::holds
//   the whole interval is outside it         -> Verdict::fails
//   it lies across an edge                   -> Verdict::unclear
//
// A claim with several questions tests each at a stricter level (Bonferroni): level(m) = 1 - 0.05 / m.
//
//   struct Band { double low, high; };  enum class Verdict { holds, fails, unclear };
//   examples/course/30_capstone/given.h
//
// Forbidden: Tensor, which is not needed here.

Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  return todo(figures, t, band);
}

double level(int questions) { return todo(questions); }
