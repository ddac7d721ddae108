#include "bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

Timing measure(const Case& c, int steps) {
  manual_seed(0);
  const Step step = c.make();
  const auto once = [&] {
    const auto start = Clock::now();
    for (int k = 0; k < c.repeat; ++k) step();
    return since(start) / c.repeat;
  };
  auto start = Clock::now();
  for (int warm = 0; warm < 3 || since(start) < 0.3; ++warm) once();

  std::vector<double> seconds;
  start = Clock::now();
  while (static_cast<int>(seconds.size()) < steps || (since(start) < 0.5 && seconds.size() < 1000))
    seconds.push_back(once());
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  return {(seconds[(n - 1) / 2] + seconds[n / 2]) / 2, seconds[0], static_cast<int>(n)};
}

std::string human_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

}  // namespace gradus::bench
