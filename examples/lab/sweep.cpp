#include "lab/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "gradus/core/parallel.h"
#include "kit/files.h"
#include "kit/interrupt.h"
#include "kit/progress.h"

namespace gradus::lab {

namespace {

double number(const kit::Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

RunResult read_result(const kit::Json& line) {
  RunResult result;
  if (line["final_loss"].is_number()) result.final_loss = line["final_loss"].get<double>();
  if (line["diverged_at"].is_number()) result.diverged_at = line["diverged_at"].get<std::int64_t>();
  result.start_loss = line["start_loss"].get<double>();
  result.parameters_sha256 = line["parameters_sha256"].get<std::string>();
  result.seconds = line["seconds"].get<double>();
  return result;
}

bool ends_run(const kit::Json& line) { return line.contains("parameters_sha256"); }

/// Rewrites a metrics file without the lines of runs that did not finish; returns the names of those that
/// did.
std::set<std::string> keep_finished(const std::filesystem::path& metrics) {
  const std::vector<kit::Json> lines = kit::read_metrics(metrics);
  std::set<std::string> finished;
  for (const kit::Json& line : lines)
    if (ends_run(line)) finished.insert(line["run"].get<std::string>());
  std::string kept;
  std::size_t count = 0;
  for (const kit::Json& line : lines)
    if (finished.contains(line["run"].get<std::string>())) {
      kept += line.dump() + "\n";
      ++count;
    }
  if (count < lines.size()) kit::replace_file(metrics, kept);
  return finished;
}

/// Work grows with layers; embeddings and head count as one more.
double work(const RunOptions& run, std::int64_t steps) {
  return static_cast<double>((run.layers + 1) * steps);
}

/// What the threads of a sweep share.
class Sweep {
 public:
  Sweep(const Task& task, const ModelOptions& model, std::vector<RunOptions> runs,
        const std::filesystem::path& metrics, double total, double done)
      : task_(task),
        model_(model),
        runs_(std::move(runs)),
        writer_(metrics),
        progress_("training", total),
        done_(done) {}

  /// Takes runs until there are none left; the first error of any thread stops all of them.
  void work_through() {
    const SingleThread guard;
    try {
      for (std::size_t i = next_++; i < runs_.size() && !kit::interrupted(); i = next_++) run_one(runs_[i]);
    } catch (...) {
      next_ = runs_.size();
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  void finish() {
    if (error_) std::rethrow_exception(error_);
    progress_.finish();
  }

 private:
  void run_one(const RunOptions& run) {
    const auto result = train(task_, model_, run, [&](const StepMetrics& metrics) {
      const std::lock_guard lock(mutex_);
      writer_.write(step_line(run, metrics));
      done_ += work(run, 1);
      progress_.update(done_, fmt::format("{} loss {:.3f}", run.name(), metrics.loss));
      return !kit::interrupted();
    });
    if (!result) return;
    const std::lock_guard lock(mutex_);
    writer_.write(result_line(run, *result));
    if (result->diverged_at) done_ += work(run, model_.steps - *result->diverged_at);
  }

  const Task& task_;
  const ModelOptions& model_;
  const std::vector<RunOptions> runs_;
  std::mutex mutex_;
  kit::MetricsWriter writer_;
  kit::Progress progress_;
  double done_;
  std::exception_ptr error_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

kit::Json step_line(const RunOptions& run, const StepMetrics& metrics) {
  return {{"run", run.name()},
          {"step", metrics.step},
          {"loss", metrics.loss},
          {"grad_norm", metrics.grad_norm},
          {"lr", metrics.lr}};
}

kit::Json result_line(const RunOptions& run, const RunResult& result) {
  const auto or_null = [](const auto& value) { return value ? kit::Json(*value) : kit::Json(); };
  return {{"run", run.name()},
          {"final_loss", or_null(result.final_loss)},
          {"diverged_at", or_null(result.diverged_at)},
          {"start_loss", result.start_loss},
          {"parameters_sha256", result.parameters_sha256},
          {"seconds", result.seconds}};
}

std::vector<RunRecord> read_runs(const std::filesystem::path& metrics, const std::vector<RunOptions>& plan) {
  std::map<std::string, RunRecord> records;
  std::set<std::string> finished;
  for (const kit::Json& line : kit::read_metrics(metrics)) {
    const std::string name = line["run"].get<std::string>();
    RunRecord& record = records[name];
    if (ends_run(line)) {
      record.result = read_result(line);
      finished.insert(name);
    } else {
      record.losses.push_back(number(line["loss"]));
      record.grad_norms.push_back(number(line["grad_norm"]));
    }
  }
  std::vector<RunRecord> runs;
  for (const RunOptions& options : plan)
    if (finished.contains(options.name())) {
      runs.push_back(std::move(records[options.name()]));
      runs.back().options = options;
    }
  return runs;
}

double seconds_per_step(const Task& task, const ModelOptions& model, std::int64_t layers) {
  const SingleThread guard;
  ModelOptions few = model;
  few.steps = 4;
  const RunOptions run{.layers = layers};
  std::chrono::steady_clock::time_point second;
  train(task, few, run, [&](const StepMetrics& metrics) {
    if (metrics.step == 2) second = std::chrono::steady_clock::now();
    return metrics.step < few.steps;
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - second).count() / 2;
}

bool run_all(const Task& task, const ModelOptions& model, const std::vector<RunOptions>& plan,
             std::int64_t threads, const std::filesystem::path& metrics) {
  const std::set<std::string> finished = keep_finished(metrics);
  std::vector<RunOptions> open;
  double total = 0, done = 0;
  for (const RunOptions& run : plan) {
    total += work(run, model.steps);
    if (finished.contains(run.name()))
      done += work(run, model.steps);
    else
      open.push_back(run);
  }
  // Longest first, so that no thread is left with a long run at the end.
  std::stable_sort(open.begin(), open.end(),
                   [](const RunOptions& a, const RunOptions& b) { return a.layers > b.layers; });
  Sweep sweep(task, model, std::move(open), metrics, total, done);
  std::vector<std::thread> workers;
  for (std::int64_t i = 1; i < threads; ++i) workers.emplace_back([&] { sweep.work_through(); });
  sweep.work_through();
  for (std::thread& worker : workers) worker.join();
  sweep.finish();
  return !kit::interrupted();
}

}  // namespace gradus::lab
