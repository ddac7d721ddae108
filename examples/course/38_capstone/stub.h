#include "learn/learn.h"

// A verdict by rule, as in the ledger of claims. About 12 lines.
//
// A claim has a band, written down before the run. The figures of n seeds give the interval of their mean, as
// in chapter 10, with the given t. Where does it begin and end? It decides:
//
//   the whole interval is inside the band    -> Verdict::holds
//   the whole interval is outside it         -> Verdict::fails
//   it lies across an edge                   -> Verdict::unclear
//
// A single question has an interval of the level 0.95. Several questions share the error of 0.05 equally
// (Bonferroni). Which level does each of their intervals have?
//
//   struct Band { double low, high; };  enum class Verdict { holds, fails, unclear };
//   examples/course/38_capstone/given.h
//
// Forbidden: Tensor, which is not needed here.

Verdict verdict(const std::vector<double>& figures, double t, const Band& band) {
  return todo(figures, t, band);
}

double level(int questions) { return todo(questions); }
