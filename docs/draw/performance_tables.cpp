// Prints the tables that docs/performance.md quotes.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "docs/draw/performance.h"

namespace {

using nlohmann::json;

std::string human(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

/// A number with a unit, or "-" if there is none.
std::string rate(double value, const char* unit = "") {
  return value < 0.5 ? "-" : fmt::format("{:.0f}{}", value, unit);
}

void print_opening(const json& measured) {
  const auto matmul = measured["matmul"].get<std::string>();
  fmt::print("Measured on {} with gradus {}: {} threads, {} kernels, matrix products by {}.\n\n",
             measured["date"].get<std::string>(), measured["version"].get<std::string>(),
             measured["threads"].get<int>(), measured["isa"].get<std::string>(),
             matmul == "automatic" ? "gradus or OpenBLAS" : matmul);
}

/// Always ten lines and an empty line.
void print_profile(const json& profile) {
  constexpr std::size_t kShown = 6;
  fmt::print("{}: {} a step\n", profile["case"].get<std::string>(), human(profile["step_s"]));
  fmt::print("{:<24} {:>6} {:>11} {:>10}\n", "op", "share", "GFLOP/s", "GB/s");
  double rest = 1;
  for (std::size_t i = 0; i < kShown; ++i) {
    const json& row = profile["rows"].at(i);
    rest -= row["share"].get<double>();
    fmt::print("{:<24} {:>5.1f}% {:>11} {:>10}\n", row["op"].get<std::string>(),
               100 * row["share"].get<double>(), rate(row["gflops"]), rate(row["gbytes"]));
  }
  fmt::print("{:<24} {:>5.1f}%\n\n", "all others", 100 * rest);
}

void print_peaks(const json& peaks) {
  fmt::print("{:<36} {:>10} {:>10}\n", "", "1 thread", "2 threads");
  const auto line = [&](const char* what, const char* key, const char* unit) {
    fmt::print("{:<36} {:>10} {:>10}\n", what, rate(peaks[0][key], unit), rate(peaks[1][key], unit));
  };
  line("multiply-adds in registers", "gflops", " GF/s");
  line("memory read", "read_gbytes", " GB/s");
  line("memory read and written in place", "update_gbytes", " GB/s");
  line("memory copied (read + written)", "copy_gbytes", " GB/s");
  fmt::print("\n");
}

void print_points(const json& points) {
  fmt::print("{:<34} {:>15} {:>10} {:>10}\n", "op", "operations/byte", "GFLOP/s", "GB/s");
  for (const json& row : points)
    fmt::print("{:<34} {:>15.3g} {:>10.3g} {:>10.3g}\n",
               row["group"].get<std::string>() + ", " + row["name"].get<std::string>(),
               row["flops_per_byte"].get<double>(), row["gflops"].get<double>(), row["gbytes"].get<double>());
  fmt::print("\n");
}

void print_techniques(const json& rows) {
  fmt::print("{:<23} {:<23} {:<23} {:>9} {:>9} {:>6}\n", "technique", "on", "without", "without", "with",
             "times");
  for (const json& row : rows)
    fmt::print("{:<23} {:<23} {:<23} {:>9} {:>9} {:>6.2f}\n", row["technique"].get<std::string>(),
               row["on"].get<std::string>(), row["without"].get<std::string>(), human(row["without_s"]),
               human(row["with_s"]), row["without_s"].get<double>() / row["with_s"].get<double>());
  fmt::print("\n");
}

void print_fused_memory(const json& rows) {
  fmt::print("{:<23} {:<23} {:>14} {:>14}\n", "technique", "on", "peak without", "peak with");
  for (const json& row : rows)
    fmt::print("{:<23} {:<23} {:>10.0f} MiB {:>10.0f} MiB\n", row["technique"].get<std::string>(),
               row["on"].get<std::string>(), row["without_bytes"].get<double>() / (1 << 20),
               row["with_bytes"].get<double>() / (1 << 20));
  fmt::print("\n");
}

void print_attention(const json& rows) {
  fmt::print("{:>6} {:>12} {:>14} {:>12} {:>14}\n", "T", "fused", "written out", "fused", "written out");
  for (const json& row : rows) {
    const bool both = row.contains("written_out_s");
    const auto mib = [&](const char* key) {
      return fmt::format("{:.0f} MiB", row[key].get<double>() / (1 << 20));
    };
    fmt::print("{:>6} {:>12} {:>14} {:>12} {:>14}\n", row["tokens"].get<int>(), human(row["fused_s"]),
               both ? human(row["written_out_s"]) : "-", mib("fused_bytes"),
               both ? mib("written_out_bytes") : "-");
  }
  fmt::print("\n");
}

void print_identity(const json& rows) {
  fmt::print("{:<36} {:>12} {:>13} {:>8}\n", "one thread", "in one piece", "fixed pieces", "cost");
  for (const json& row : rows) {
    const double cost = row["pieces_s"].get<double>() / row["whole_s"].get<double>() - 1;
    fmt::print("{:<36} {:>12} {:>13} {:>7.1f}%\n", row["what"].get<std::string>(), human(row["whole_s"]),
               human(row["pieces_s"]), 100 * cost);
  }
  fmt::print("\n");
}

void print_pytorch(const json& rows) {
  fmt::print("{:<15} {:>10} {:>10} {:>6} {:>9} {:>9}  {}\n", "case", "gradus", "PyTorch", "ratio", "gradus",
             "PyTorch", "PyTorch's best setting");
  for (const json& row : rows)
    fmt::print("{:<15} {:>10} {:>10} {:>6.2f} {:>6.0f} MB {:>6.0f} MB  {}\n", row["case"].get<std::string>(),
               human(row["gradus_s"]), human(row["pytorch_s"]), row["ratio"].get<double>(),
               row["gradus_peak_rss_mb"].get<double>(), row["pytorch_peak_rss_mb"].get<double>(),
               row["pytorch_setting"].get<std::string>());
  fmt::print("\n");
}

}  // namespace

int main() try {
  const json data = gradus::docs::read_performance("performance.json");
  print_opening(data["measured"]);
  for (const json& profile : data["profile"]) print_profile(profile);
  print_peaks(data["peaks"]);
  print_points(data["points"]);
  print_techniques(data["kernels"]);
  print_techniques(data["memory"]);
  print_techniques(data["fused"]);
  print_fused_memory(data["fused"]);
  print_attention(data["attention"]);
  print_identity(data["identity"]);
  print_pytorch(data.value("pytorch", json::array()));
  const json xeon = gradus::docs::read_performance("performance_xeon.json");
  print_opening(xeon["measured"]);
  print_pytorch(xeon["pytorch"]);
  print_opening(xeon["measured_bf16"]);
  print_pytorch(xeon["pytorch_bf16"]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "performance_tables: %s\n", error.what());
  return 1;
}
