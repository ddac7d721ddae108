#pragma once
// The types of the ledger of claims.

#include <functional>

struct Band {
  double low = 0, high = 0;
};
struct Interval {
  double low = 0, high = 0;
};
enum class Verdict { holds, fails, unclear };

/// t of an interval from n figures, n >= 2; it falls as n grows.
using StudentT = std::function<double(int n)>;
