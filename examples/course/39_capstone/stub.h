#include "learn/learn.h"

// From a pilot to a verdict, as in the ledger of claims. About 15 lines.
//
// `pairs` plans a run. A pilot has given one figure for each of its seeds. The run gets new seeds, and its
// interval (chapter 10) is to have a half width of at most `half`. What does the pilot tell about the run,
// and what does it not? t(n) is the t of an interval from n figures. What is the smallest number of pairs
// that suffices? No interval has fewer than 2.
//
// `verdict` judges a claim. Its band was written down before the run; the interval of the run decides:
//
//   the whole interval is inside the band    -> Verdict::holds
//   the whole interval is outside it         -> Verdict::fails
//   it lies across an edge                   -> Verdict::unclear
//
// A single question has an interval of the level 0.95. Several questions share the error of 0.05 equally
// (Bonferroni). Which level does each of their intervals have?
//
//   struct Band { double low, high; };  struct Interval { double low, high; };
//   enum class Verdict { holds, fails, unclear };  using StudentT = std::function<double(int n)>;
//   given in examples/course/39_capstone/given.h
//
// Forbidden: Tensor, which is not needed here.

int pairs(const std::vector<double>& pilot, double half, const StudentT& t) { return todo(pilot, half, t); }

Verdict verdict(const Interval& interval, const Band& band) { return todo(interval, band); }

double level(int questions) { return todo(questions); }
