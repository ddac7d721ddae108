#pragma once
// All runs of a lab, several at a time, each on a thread of its own; what is done is kept when it is stopped.

#include <filesystem>
#include <string>
#include <vector>

#include "gradus/kit/data/run_log.h"
#include "lab/training/training.h"

namespace gradus::lab {

/// The lines of metrics.jsonl. Each step has one, with the run's name; the line that ends a run holds its
/// result.
kit::LogLine step_line(const RunOptions& run, const StepMetrics& metrics);
kit::LogLine result_line(const RunOptions& run, const RunResult& result);

/// A finished run as the files have it.
struct RunRecord {
  RunOptions options;
  RunResult result;
  std::vector<double> losses;      // by step; the last may be NaN when diverged
  std::vector<double> grad_norms;  // by step
};

/// The finished runs in a metrics file, in the order of `plan`; names that are not in the plan are left out.
/// Throws naming the file when a line is not as the lab writes it.
std::vector<RunRecord> read_runs(const std::filesystem::path& metrics, const std::vector<RunOptions>& plan);

/// Seconds one step takes with `threads` runs side by side, measured on a few steps.
double seconds_per_step(const Task& task, const ModelOptions& model, std::int64_t layers,
                        std::int64_t threads);

/// Trains what `metrics` does not hold yet, `threads` runs at a time: seed after seed, so that a lab that is
/// stopped has some of everything, and of each seed the longest first. Lines of runs that were cut off are
/// dropped first and the runs start again. False when kit::interrupted() came before all were done.
bool run_all(const Task& task, const ModelOptions& model, const std::vector<RunOptions>& plan,
             std::int64_t threads, const std::filesystem::path& metrics);

}  // namespace gradus::lab
