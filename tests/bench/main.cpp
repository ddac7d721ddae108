// ./run bench [CASE] [--threads N] [--steps N] [--json]

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cases.h"
#include "gradus/gradus.h"
#include "gradus/ops/kernels/blas.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus::bench {

std::vector<Case> all_cases() {
  std::vector<Case> cases = model_cases();
  for (Case& c : op_cases()) cases.push_back(std::move(c));
  return cases;
}

namespace {

struct Options {
  std::string name;
  int threads = num_threads();
  int steps = 10;
  bool json = false;
};

/// Seconds of each of `steps` measurements, after two that are not counted.
std::vector<double> measure(const Case& c, int steps) {
  using Clock = std::chrono::steady_clock;
  manual_seed(0);
  const Step step = c.make();
  std::vector<double> seconds;
  for (int i = 0; i < steps + 2; ++i) {
    const auto start = Clock::now();
    for (int k = 0; k < c.repeat; ++k) step();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count() / c.repeat);
  }
  seconds.erase(seconds.begin(), seconds.begin() + 2);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string human(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

void run_case(const Case& c, const Options& options) {
  set_num_threads(options.threads);
  const std::vector<double> seconds = measure(c, options.steps);
  const std::size_t n = seconds.size();
  const double median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
  if (options.json) {
    nlohmann::ordered_json line = {{"case", c.name},
                                   {"threads", options.threads},
                                   {"isa", name(current_isa())},
                                   {"blas_core", blas::core_name()},
                                   {"median_s", median},
                                   {"min_s", seconds[0]},
                                   {"peak_rss_mb", peak_rss_mb()}};
    fmt::print("{}\n", line.dump());
  } else {
    fmt::print("{:<15} {:>12} {:>12} {:>8.0f} MB   {}\n", c.name, human(median), human(seconds[0]),
               peak_rss_mb(), c.what);
  }
  std::fflush(stdout);
}

/// Each case runs in a process of its own, so that its peak memory is its own.
int run_all(const Options& options) {
  if (!options.json) {
    fmt::print("{} threads, {} kernels, OpenBLAS {}\n", options.threads, name(current_isa()),
               blas::core_name());
    fmt::print("{:<15} {:>12} {:>12} {:>11}\n", "case", "median", "fastest", "memory");
    std::fflush(stdout);
  }
  int failures = 0;
  for (const Case& c : all_cases()) {
    if (!options.name.empty() && options.name != c.name) continue;
    const pid_t child = fork();
    if (child == 0) {
      run_case(c, options);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
      fmt::print(stderr, "bench: {} failed\n", c.name);
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gradus::bench

int main(int argc, char** argv) {
  gradus::bench::Options options;
  std::vector<std::string> names;
  for (const auto& c : gradus::bench::all_cases()) names.push_back(c.name);
  CLI::App app("Times training steps and ops; medians over --steps measurements.", "./run bench");
  app.add_option("CASE", options.name, "one case; all of them without")->check(CLI::IsMember(names));
  app.add_option("--threads", options.threads, "threads per op")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "measurements per case")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON line per case");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return gradus::bench::run_all(options);
}
