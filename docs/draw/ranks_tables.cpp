// Prints the tables that docs/many_machines_speed.md quotes.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

#include "docs/draw/ranks.h"

namespace {

using nlohmann::json;
using namespace gradus::docs;

constexpr const char* kModels[] = {"gpt2-124m", "gpt2-1.5b"};

/// How the model and the simulation agree: a line for each simulated step with buckets of 25 MiB, and others.
void print_simulated(const json& record) {
  fmt::print("{:<10} {:>7} {:>6} {:>7} {:>8} {:>11} {:>10} {:>11} {:>7}\n", "model", "Gbit/s", "ranks",
             "tokens", "bucket", "simulated", "computing", "efficiency", "model");
  if (record.is_null()) return;
  for (const json& row : record["steps"]) {
    const double mib = row["bucket_bytes"].get<double>() / (1 << 20);
    const double computing = row["computing_s"], step = row["step_s"];
    const auto name = row["model"].get<std::string>();
    fmt::print("{:<10} {:>7} {:>6} {:>7} {:>4.0f} MiB {:>9.3f} s {:>8.3f} s {:>10.0f}% {:>6.0f}%\n", name,
               row["gbit"].get<int>(), row["ranks"].get<int>(), row["tokens"].get<int>(), mib, step,
               computing, 100 * computing / step,
               100 * predicted_efficiency(name.c_str(), row["gbit"], row["ranks"], row["tokens"], mib));
  }
}

/// Thirteen lines and an empty one.
void print_needed() {
  fmt::print("{:<10} {:>7} {:>6} {:>12} {:>12} {:>12} {:>12}\n", "model", "Gbit/s", "ranks", "1 MiB",
             "25 MiB", "100 MiB", "400 MiB");
  for (const char* model : kModels)
    for (const double gbit : {10.0, 100.0})
      for (const int ranks : {64, 256, 1024}) {
        fmt::print("{:<10} {:>7} {:>6}", model, gbit, ranks);
        for (const double mib : {1.0, 25.0, 100.0, 400.0})
          fmt::print(" {:>12.0f}", 10 * std::ceil(tokens_for_90(model, gbit, ranks, mib) / 10));
        fmt::print("\n");
      }
  fmt::print("\n");
}

/// What the buckets of a step take in the tree and by MPI_Allreduce.
void print_sums(const json& record) {
  if (record.is_null()) return;
  for (const json& row : record["steps"]) {
    const double tree = row["sums_s"], plain = row["mpi_sums_s"];
    fmt::print("{:<10} {:>6} {:>10.4g} ms {:>10.4g} ms {:>20.1f}%\n", row["model"].get<std::string>(),
               record["measured"]["ranks"].get<int>(), 1e3 * tree, 1e3 * plain,
               100 * (tree - plain) / row["step_s"].get<double>());
  }
}

void print_measured(const json& one, const json& threads, const json& ranks) {
  fmt::print("{:<16} {:>10} {:>12} {:>13} {:>8}\n", "call, 2 ranks", "latency", "bandwidth", "error (rms)",
             "worst");
  if (!ranks.is_null())
    for (const json& fit : ranks["fits"])
      fmt::print("{:<16} {:>7.1f} us {:>7.2f} GB/s {:>12.0f}% {:>7.0f}%\n", fit["call"].get<std::string>(),
                 1e6 * fit["latency_s"].get<double>(), 1e-9 / fit["s_per_byte"].get<double>(),
                 100 * fit["rms"].get<double>(), 100 * fit["worst"].get<double>());
  fmt::print("\n{:<10} {:>16} {:>17} {:>17} {:>10} {:>7} {:>13}\n", "model", "1 rank, 1 thread",
             "1 rank, 2 threads", "2 ranks, 1 thread", "predicted", "off by", "its sums by");
  if (one.is_null() || threads.is_null() || ranks.is_null()) return;
  for (std::size_t i = 0; i < ranks["steps"].size(); ++i) {
    const json& row = ranks["steps"][i];
    const double step = row["step_s"], predicted = row["predicted_s"], alone = row["alone_s"];
    fmt::print("{:<10} {:>13.4g} ms {:>14.4g} ms {:>14.4g} ms {:>7.4g} ms {:>6.0f}% {:>12.0f}%\n",
               row["model"].get<std::string>(), 1e3 * one["steps"][i]["step_s"].get<double>(),
               1e3 * threads["steps"][i]["step_s"].get<double>(), 1e3 * step, 1e3 * predicted,
               100 * (predicted / step - 1), 100 * ((predicted - alone) / (step - alone) - 1));
  }
}

}  // namespace

int main() try {
  print_needed();
  const json two = read_ranks("2x1.json");
  print_measured(read_ranks("1x1.json"), read_ranks("1x2.json"), two);
  fmt::print("\n{:<10} {:>6} {:>13} {:>13} {:>21}\n", "sums of", "ranks", "tree", "MPI_Allreduce",
             "difference, of a step");
  print_sums(two);
  print_sums(read_ranks("4x1.json"));
  fmt::print("\n");
  print_simulated(read_ranks("simulated.json"));
} catch (const std::exception& error) {
  std::fprintf(stderr, "ranks_tables: %s\n", error.what());
  return 1;
}
