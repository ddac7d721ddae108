#pragma once
// Timing one case in this process.

#include <string>

#include "bench/cases.h"

namespace gradus::bench {

struct Timing {
  double median_s = 0;
  double min_s = 0;
  int steps = 0;  // measurements taken
};

/// Runs the case unmeasured for three steps and 0.3 s at least (caches fill, clocks rise), then measures
/// `steps` times, and goes on for half a second when that was sooner over.
Timing measure(const Case& c, int steps);

/// A duration as people write it: "1.050 s", "25.700 ms", "0.450 us".
std::string human_seconds(double seconds);

}  // namespace gradus::bench
