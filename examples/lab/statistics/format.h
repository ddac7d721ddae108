#pragma once
// Formats numbers and lists for pages and files.

#include <string>
#include <vector>

#include "lab/statistics/statistics.h"

namespace gradus::lab {

/// "without warm-up", "with 100 steps of warm-up".
std::string describe_warmup(std::int64_t warmup);

/// A loss: "0.915".
std::string nats(double value);
/// A change, its mean and range over seeds: "+0.117 (+0.074 to +0.160)"; of one seed only "+0.117".
std::string with_range(const Difference& difference);
/// "6 of 6 seeds".
std::string agreement(const Difference& difference);

/// "2", "2 and 6", "2, 6 and 12".
std::string listed(const std::vector<std::string>& words);
std::string listed(const std::vector<std::int64_t>& numbers);
std::string listed(const std::vector<double>& numbers);

/// "1 run", "3 runs".
std::string counted(std::int64_t count, const std::string& noun);

}  // namespace gradus::lab
