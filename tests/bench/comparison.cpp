#include "bench/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/measure.h"

namespace gradus::bench {

namespace {

/// OpenBLAS's kernel sets that use AVX-512.
bool is_avx512(const std::string& core) {
  static constexpr std::array names = {"SkylakeX", "Cooperlake", "SapphireRapids", "Zen4", "Zen5"};
  return std::find(names.begin(), names.end(), core) != names.end();
}

bool is_behind(const Kernels& kernels, const std::string& core) {
  return kernels.cpu_has_avx512 && !core.empty() && !is_avx512(core);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("median of nothing");
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

std::string table_head() {
  return fmt::format("{:<15} {:>12} {:>12} {:>7} {:>11} {:>11}   {}\n", "case", "gradus", "PyTorch", "ratio",
                     "gradus", "PyTorch", "PyTorch's best setting");
}

std::string table_row(const Comparison& c) {
  return fmt::format("{:<15} {:>12} {:>12} {:>7.3f} {:>8.0f} MB {:>8.0f} MB   {}\n", c.name,
                     human_seconds(c.gradus.median_s), human_seconds(c.pytorch.median_s), c.ratio(),
                     c.gradus.peak_rss_mb, c.pytorch.peak_rss_mb, c.setting);
}

std::string json_row(const Comparison& c) {
  nlohmann::ordered_json row = {{"case", c.name},
                                {"gradus_s", c.gradus.median_s},
                                {"pytorch_s", c.pytorch.median_s},
                                {"ratio", c.ratio()},
                                {"gradus_peak_rss_mb", c.gradus.peak_rss_mb},
                                {"pytorch_peak_rss_mb", c.pytorch.peak_rss_mb},
                                {"pytorch_setting", c.setting}};
  if (c.precision != "f32") row["precision"] = c.precision;
  return row.dump() + "\n";
}

std::string slow_bf16(const std::string& isa) {
  return fmt::format(
      "bench: products in bf16 are no faster than in f32 here: {} kernels, and AMX, AVX512-BF16 or BFMMLA "
      "is needed (on a CPU that has it, without GRADUS_ISA and GRADUS_BF16)\n",
      isa);
}

std::string who_multiplies(const std::string& matmul) {
  if (matmul == "automatic") return "gradus or OpenBLAS";
  return matmul == "openblas" ? "OpenBLAS" : matmul;
}

std::string describe(const Kernels& kernels, int threads) {
  std::string line = fmt::format("{} thread{}, {} kernels, matrix products by {}; OpenBLAS: {}", threads,
                                 threads == 1 ? "" : "s", kernels.isa, who_multiplies(kernels.matmul),
                                 kernels.gradus_openblas);
  if (!kernels.pytorch_openblas.empty() && kernels.pytorch_openblas != kernels.gradus_openblas)
    line += fmt::format(" ({} in PyTorch)", kernels.pytorch_openblas);
  return line;
}

std::string unequal_kernels(const Kernels& kernels) {
  const bool pytorch = is_behind(kernels, kernels.pytorch_openblas);
  const bool gradus = kernels.matmul == "openblas" && is_behind(kernels, kernels.gradus_openblas);
  if (!pytorch && !gradus) return "";
  std::string text =
      fmt::format("This CPU has AVX-512, but OpenBLAS runs its {} kernels, which do not use it{}. ",
                  pytorch ? kernels.pytorch_openblas : kernels.gradus_openblas,
                  kernels.coretype_is_set ? ": OPENBLAS_CORETYPE is set" : "");
  if (pytorch && gradus)
    text += "Matrix products take about twice as long as they could, on both sides.";
  else if (pytorch)
    text +=
        "PyTorch's matrix products take about twice as long as they could, gradus's do not: the ratios "
        "flatter gradus.";
  else
    text += "gradus's matrix products take about twice as long as they could, PyTorch's do not.";
  if (kernels.coretype_is_set) text += " To compare without it: env -u OPENBLAS_CORETYPE ./run bench ...";
  return text;
}

}  // namespace gradus::bench
