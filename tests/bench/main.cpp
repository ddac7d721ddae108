// ./run bench [CASE] [--threads N] [--steps N] [--json] [--against-pytorch [--rounds N]] [--record FILE]

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/against_pytorch.h"
#include "bench/cases.h"
#include "bench/measure.h"
#include "bench/record.h"
#include "gradus/gradus.h"
#include "gradus/ops/kernels/blas.h"
#include "gradus/ops/kernels/gemm.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus::bench {

namespace {

struct Options {
  std::string name;
  int threads = num_threads();
  int steps = 10;
  int rounds = 3;
  bool json = false;
  bool against_pytorch = false;
  std::string record;
  std::vector<std::string> parts;
};

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void run_case(const Case& c, const Options& options) {
  set_num_threads(options.threads);
  const Timing timing = measure(c, options.steps);
  if (options.json) {
    const nlohmann::ordered_json line = {{"case", c.name},
                                         {"threads", options.threads},
                                         {"isa", name(current_isa())},
                                         {"matmul", kernels::name(kernels::matmul_backend())},
                                         {"blas_core", blas::core_name()},
                                         {"median_s", timing.median_s},
                                         {"min_s", timing.min_s},
                                         {"steps", timing.steps},
                                         {"peak_rss_mb", peak_rss_mb()}};
    fmt::print("{}\n", line.dump());
  } else {
    fmt::print("{:<15} {:>12} {:>12} {:>8.0f} MB   {}\n", c.name, human_seconds(timing.median_s),
               human_seconds(timing.min_s), peak_rss_mb(), c.what);
  }
  std::fflush(stdout);
}

/// Each case runs in a process of its own, so that its peak memory is its own.
int run_all(const Options& options) {
  if (!options.json) {
    fmt::print("{} threads, {} kernels, matrix products by {}; OpenBLAS: {}\n", options.threads,
               name(current_isa()), kernels::name(kernels::matmul_backend()), blas::core_name());
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

int compare_all(const Options& options) {
  std::vector<std::string> names;
  for (const Case& c : all_cases())
    if (options.name.empty() || options.name == c.name) names.push_back(c.name);
  return against_pytorch(
      {names, options.threads, options.steps, options.rounds, options.json, options.record});
}

}  // namespace
}  // namespace gradus::bench

int main(int argc, char** argv) try {
  using namespace gradus::bench;
  Options options;
  std::vector<std::string> names;
  for (const Case& c : all_cases()) names.push_back(c.name);
  CLI::App app("Times training steps and ops; medians over --steps measurements.", "./run bench");
  app.add_option("CASE", options.name, "one case; all of them without")->check(CLI::IsMember(names));
  app.add_option("--threads", options.threads, "threads per op")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "measurements per case, more when half a second is not yet over")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON line per case");
  auto* against = app.add_flag("--against-pytorch", options.against_pytorch,
                               "each case in turn with PyTorch, at its best number of threads");
  app.add_option("--rounds", options.rounds, "with --against-pytorch: turns of each")
      ->check(CLI::Range(1, 1000))
      ->needs(against)
      ->capture_default_str();
  auto* file =
      app.add_option("--record", options.record,
                     "measures what docs/performance.md shows, or with --against-pytorch its rows, into "
                     "this file");
  app.add_option("--part", options.parts, "with --record: these parts only")
      ->check(CLI::IsMember(record_parts()))
      ->needs(file)
      ->excludes(against);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (options.against_pytorch) return compare_all(options);
  if (options.record.empty()) return run_all(options);
  gradus::set_num_threads(options.threads);
  record(options.record, options.parts);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench: {}\n", error.what());
  return 1;
}
