#include "bench/against_pytorch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/cases.h"
#include "bench/comparison.h"
#include "bench/process.h"
#include "bench/record.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"

namespace gradus::bench {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A way to run PyTorch that may be its fastest.
struct Setting {
  std::string name;
  int threads;
  std::string library_folder{};   // searched before the system's
  std::string precision = "f32";  // of products
};

/// Where Debian keeps OpenBLAS built for OpenMP, whose threads wait better than those of its own; "" if not
/// installed.
std::string openmp_openblas() {
  std::error_code error;
  for (const auto& folder : fs::directory_iterator("/usr/lib", error)) {
    const fs::path inside = folder.path() / "openblas-openmp";
    if (fs::exists(inside / "libblas.so.3", error)) return inside.string();
  }
  return "";
}

std::vector<Setting> settings(int threads, const std::string& precision) {
  std::vector<Setting> all = {{"1 thread", 1}};
  if (threads > 1) {
    const std::string name = fmt::format("{} threads", threads), openmp = openmp_openblas();
    all.push_back({name, threads});
    if (!openmp.empty()) all.push_back({name + ", OpenMP build of OpenBLAS", threads, openmp});
  }
  if (precision == "f32") return all;
  const std::vector<Setting> in_f32 = all;
  for (const Setting& setting : in_f32) {
    all.push_back(setting);
    all.back().precision = precision;
    all.back().name += ", " + precision;
  }
  return all;
}

/// The script's command; `arguments` are its own.
Command script(const std::string& python, const std::vector<std::string>& arguments) {
  Command command{{python, GRADUS_PYTORCH_CASES}};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return command;
}

struct PyTorch {
  std::string python;  // whose it is
  std::string version;
  std::string blas_core;  // of its OpenBLAS, "" when it has another BLAS
  std::vector<std::string> cases;
};

/// Of GRADUS_PYTHON if that is set, else of python3 on PATH or Debian's.
std::optional<PyTorch> find_pytorch() {
  const char* given = std::getenv("GRADUS_PYTHON");
  const auto pythons =
      given ? std::vector<std::string>{given} : std::vector<std::string>{"python3", "/usr/bin/python3"};
  for (const std::string& python : pythons) {
    Command list = script(python, {"--list"});
    list.quiet = true;
    const Output output = run(list);
    const json line = json::parse(output.text, nullptr, false);
    if (output.status == 0 && line.is_object())
      return PyTorch{python, line.value("torch", "?"), line.value("blas_core", ""),
                     line.value("cases", std::vector<std::string>{})};
  }
  return std::nullopt;
}

std::optional<Side> side(const Command& command) {
  const Output output = run(command);
  const json line = json::parse(output.text, nullptr, false);
  if (output.status != 0 || !line.is_object() || !line.contains("median_s")) return std::nullopt;
  return Side{line["median_s"].get<double>(), output.peak_rss_mb};
}

std::optional<Side> run_pytorch(const std::string& python, const std::string& name, const Setting& setting,
                                int steps) {
  Command command = script(python, {name, "--threads", std::to_string(setting.threads), "--steps",
                                    std::to_string(steps), "--precision", setting.precision});
  command.environment = {{"OMP_NUM_THREADS", std::to_string(setting.threads)}};
  if (!setting.library_folder.empty()) {
    const char* before = std::getenv("LD_LIBRARY_PATH");
    command.environment.emplace_back(
        "LD_LIBRARY_PATH", setting.library_folder + (before && *before ? ":" + std::string(before) : ""));
  }
  return side(command);
}

std::optional<Side> run_gradus(const std::string& name, const AgainstOptions& options) {
  return side({{fs::read_symlink("/proc/self/exe").string(), name, "--json", "--threads",
                std::to_string(options.threads), "--steps", std::to_string(options.steps), "--precision",
                options.precision}});
}

/// The fastest of a short trial of each; nothing when PyTorch cannot run the case.
std::optional<Setting> best_setting(const std::string& python, const std::string& name,
                                    const AgainstOptions& options) {
  const std::vector<Setting> all = settings(options.threads, options.precision);
  if (all.size() == 1) return all[0];
  std::optional<Setting> best;
  double fastest = 0;
  for (const Setting& setting : all) {
    const auto trial = run_pytorch(python, name, setting, std::min(3, options.steps));
    if (!trial || (best && trial->median_s >= fastest)) continue;
    best = setting;
    fastest = trial->median_s;
  }
  return best;
}

/// Medians of sides in turn, so that a noisy minute hits both.
std::optional<Comparison> compare(const std::string& python, const std::string& name,
                                  const AgainstOptions& options) {
  const auto setting = best_setting(python, name, options);
  if (!setting) return std::nullopt;
  std::vector<double> ours, theirs;
  Comparison result{name, {}, {}, setting->name, options.precision};
  for (int round = 0; round < options.rounds; ++round) {
    const auto gradus = run_gradus(name, options);
    const auto pytorch = run_pytorch(python, name, *setting, options.steps);
    if (!gradus || !pytorch) return std::nullopt;
    ours.push_back(gradus->median_s);
    theirs.push_back(pytorch->median_s);
    result.gradus.peak_rss_mb = std::max(result.gradus.peak_rss_mb, gradus->peak_rss_mb);
    result.pytorch.peak_rss_mb = std::max(result.pytorch.peak_rss_mb, pytorch->peak_rss_mb);
  }
  result.gradus.median_s = median(ours);
  result.pytorch.median_s = median(theirs);
  return result;
}

Kernels kernels_in_use(const std::string& pytorch_openblas) {
  return {.isa = name(current_isa()),
          .matmul = name(matmul_backend()),
          .gradus_openblas = openblas_core(),
          .pytorch_openblas = pytorch_openblas,
          .cpu_has_avx512 = isa_supported(Isa::avx512),
          .coretype_is_set = std::getenv("OPENBLAS_CORETYPE") != nullptr};
}

void print_opening(const AgainstOptions& options, const PyTorch& pytorch) {
  const Kernels kernels = kernels_in_use(pytorch.blas_core);
  const std::string warning = unequal_kernels(kernels);
  if (!warning.empty()) kit::print_error(fmt::format("bench: {}\n", warning));
  if (options.threads > 1 && openmp_openblas().empty())
    kit::print_error(
        "bench: PyTorch may be faster with OpenBLAS's build for OpenMP: apt-get install "
        "libopenblas0-openmp\n");
  if (options.json) return;
  kit::print(fmt::format("{}; PyTorch {}\n", describe(kernels, options.threads), pytorch.version));
  if (options.precision != "f32")
    kit::print(fmt::format("gradus in {0}, PyTorch in the faster of f32 and {0}\n", options.precision));
  kit::print(fmt::format("medians of {} rounds in turn; memory is the peak of each process\n{}",
                         options.rounds, table_head()));
}

}  // namespace

int against_pytorch(const AgainstOptions& options) {
  const auto pytorch = find_pytorch();
  if (!pytorch) {
    kit::print_error(
        "bench: --against-pytorch needs PyTorch for python3: apt-get install python3-torch (nothing else "
        "needs it)\n");
    return 2;
  }
  print_opening(options, *pytorch);
  int failures = 0;
  for (const std::string& name : options.cases.empty() ? names_of_cases() : options.cases) {
    if (kit::interrupted()) break;  // nobody reads the table any more
    if (std::find(pytorch->cases.begin(), pytorch->cases.end(), name) == pytorch->cases.end()) {
      if (!options.cases.empty())
        kit::print_error(fmt::format("bench: {} has no counterpart in PyTorch\n", name));
      continue;
    }
    const auto result = compare(pytorch->python, name, options);
    if (result) {
      kit::print(options.json ? json_row(*result) : table_row(*result));
      if (!options.record.empty()) record_comparison(options.record, json_row(*result));
    } else {
      kit::print_error(fmt::format("bench: {} failed\n", name));
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace gradus::bench
