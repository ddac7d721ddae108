// ./run bench [CASE...] [--threads N] [--steps N] [--precision f32|bf16] [--json]
//             [--against-pytorch [--rounds N]] [--record FILE]

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/against_pytorch.h"
#include "bench/cases.h"
#include "bench/comparison.h"
#include "bench/measure.h"
#include "bench/record.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/detail/ending.h"
#include "gradus/kit/program/program.h"

namespace gradus::bench {

namespace {

struct Options {
  std::vector<std::string> cases;  // empty: all
  std::int64_t threads = num_threads();
  std::int64_t steps = 10;
  std::int64_t rounds = 3;
  std::string precision = "f32";
  bool json = false;
  bool against_pytorch = false;
  std::filesystem::path record;
  std::vector<std::string> parts;
};

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void run_case(const Case& c, const Options& options) {
  set_num_threads(static_cast<int>(options.threads));
  const Autocast products(options.precision == "bf16" ? bf16 : f32);
  const Timing timing = measure(c, static_cast<int>(options.steps));
  if (options.json) {
    const nlohmann::ordered_json line = {{"case", c.name},
                                         {"threads", options.threads},
                                         {"precision", options.precision},
                                         {"isa", name(current_isa())},
                                         {"matmul", name(matmul_backend())},
                                         {"bf16", name(bf16_backend_in_use())},
                                         {"blas_core", openblas_core()},
                                         {"median_s", timing.median_s},
                                         {"min_s", timing.min_s},
                                         {"steps", timing.steps},
                                         {"peak_rss_mb", peak_rss_mb()}};
    kit::print(line.dump() + "\n");
  } else {
    kit::print(fmt::format("{:<15} {:>12} {:>12} {:>8.0f} MB   {}\n", c.name, human_seconds(timing.median_s),
                           human_seconds(timing.min_s), peak_rss_mb(), c.what));
  }
}

/// A case as a process of its own. It does not outlive the one that waits for it.
[[noreturn]] void be_child(const Case& c, const Options& options, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  int status = 1;
  try {
    run_case(c, options);
    status = 0;
  } catch (const std::exception& error) {
    kit::print_error(fmt::format("bench: {}\n", error.what()));
  }
  _exit(kit::status_of_output("bench", status));
}

/// Warns on a CPU where bf16 is no faster than f32.
void warn_of_slow_bf16(const Options& options) {
  if (options.precision == "bf16" && !fast_bf16()) kit::print_error(slow_bf16(name(current_isa())));
}

/// Each case runs in a process of its own, so that its peak memory is its own.
int run_all(const Options& options) {
  if (!options.json) {
    const std::string in_bf16 =
        options.precision == "bf16" ? fmt::format("in bf16 by {}, others ", name(bf16_backend_in_use())) : "";
    kit::print(fmt::format("{} threads, {} kernels, matrix products {}by {}; OpenBLAS: {}\n", options.threads,
                           name(current_isa()), in_bf16, who_multiplies(name(matmul_backend())),
                           openblas_core()));
    kit::print(fmt::format("{:<15} {:>12} {:>12} {:>11}\n", "case", "median", "fastest", "memory"));
  }
  constexpr int kNobodyReads = 128 + SIGPIPE;
  const pid_t self = getpid();
  int failures = 0;
  for (const std::string& name : options.cases.empty() ? names_of_cases() : options.cases) {
    const Case c = case_called(name);
    const pid_t child = fork();
    if (child == 0) be_child(c, options, self);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == kNobodyReads) return kNobodyReads;
      kit::print_error(fmt::format("bench: {} failed\n", c.name));
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

int compare_all(const Options& options) {
  return against_pytorch({options.cases, static_cast<int>(options.threads), static_cast<int>(options.steps),
                          static_cast<int>(options.rounds), options.json, options.record.string(),
                          options.precision});
}

/// What one of the options says of the others; nothing when they go together.
std::string conflict(const kit::CommandLine& line) {
  const bool against = line.given("--against-pytorch"), record = line.given("--record");
  if (line.given("--rounds") && !against) return "--rounds needs --against-pytorch";
  if (line.given("--part") && !record) return "--part needs --record";
  if (line.given("CASE") && record && !against)
    return "CASE does not go with --record alone: --part chooses what it measures";
  if (line.given("--part") && against) return "--part does not go with --against-pytorch";
  if (line.given("--precision") && record && !against)
    return "--precision goes with --record only next to --against-pytorch";
  return "";
}

/// "Cases:" and their names, for --help.
std::string cases_in_lines() {
  std::string lines = "Cases:", line;
  for (const std::string& name : names_of_cases()) {
    if (line.size() + name.size() > 76) lines += "\n " + std::exchange(line, "");
    line += " " + name;
  }
  return lines + "\n " + line;
}

/// Reads the command line; an exit status when the program should not go on.
std::optional<int> parse(int argc, char** argv, Options& options) {
  kit::CommandLine line("bench", "Times training steps and ops; medians over --steps measurements.");
  line.choices("CASE", options.cases, names_of_cases(), "Cases, in this order; all of them without");
  line.integer("--threads", options.threads, "Threads per op", {1, 1024});
  line.integer("--steps", options.steps, "Measurements per case, more when half a second is not yet over",
               {1, 1'000'000});
  line.choice("--precision", options.precision, {"f32", "bf16"},
              "Of matrix products: bf16 runs under Autocast, and with --against-pytorch PyTorch in both");
  line.flag("--json", options.json, "One JSON line per case");
  line.flag("--against-pytorch", options.against_pytorch,
            "Each case in turn with PyTorch, at its best number of threads");
  line.integer("--rounds", options.rounds, "With --against-pytorch: turns of each", {1, 1000});
  line.path("--record", options.record,
            "Measures what docs/performance.md shows, or with --against-pytorch its rows, into this file");
  line.choices("--part", options.parts, record_parts(), "With --record: these parts only");
  line.footer(cases_in_lines());
  if (const auto status = line.parse(argc, argv)) return status;
  const std::string problem = conflict(line);
  if (problem.empty()) return std::nullopt;
  kit::print_error(fmt::format("bench: {}\n", problem));
  return 2;
}

int run(int argc, char** argv) {
  Options options;
  if (const auto status = parse(argc, argv, options)) return *status;
  if (!options.record.empty()) try_record(options.record.string());
  warn_of_slow_bf16(options);
  if (options.against_pytorch) return compare_all(options);
  if (options.record.empty()) return run_all(options);
  set_num_threads(static_cast<int>(options.threads));
  record(options.record.string(), options.parts);
  return 0;
}

}  // namespace
}  // namespace gradus::bench

int main(int argc, char** argv) {
  return gradus::kit::run_program("bench", [&] { return gradus::bench::run(argc, argv); });
}
