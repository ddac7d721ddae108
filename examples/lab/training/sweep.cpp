#include "lab/training/sweep.h"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "gradus/core/io/files.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/check.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/progress.h"
#include "lab/training/side_by_side.h"

namespace gradus::lab {

namespace {

RunResult read_result(const kit::LogLine& line) {
  RunResult result;
  if (const kit::LogValue& loss = line["final_loss"]; !loss.is_null()) result.final_loss = loss.number();
  if (const kit::LogValue& at = line["diverged_at"]; !at.is_null()) {
    result.diverged_at = at.integer();
    kit::check(*result.diverged_at >= 1 && *result.diverged_at < 1'000'000'000'000'000,
               "diverged_at expects a step, got {}", io::quote(at.json()));
  }
  result.start_loss = line["start_loss"].number();
  result.parameters_sha256 = line["parameters_sha256"].text();
  result.seconds = line["seconds"].number();
  return result;
}

bool ends_run(const kit::LogLine& line) { return line.contains("parameters_sha256"); }

/// Calls `f` with the run's name and the line, for each line of a metrics file.
template <class F>
void for_each_line(const std::filesystem::path& metrics, const F& f) {
  const kit::LogLines lines = kit::read_run_log(metrics);
  for (const kit::LogLine& line : lines) {
    try {
      f(line["run"].text(), line);
    } catch (const Error& error) {
      kit::fail_with("{}: line {} is not as the lab writes it ({})", io::printable(metrics.string()),
                     line.number(), io::printable(error.what()));
    }
  }
}

/// Rewrites a metrics file without the lines of runs that did not finish; returns the names of those that
/// did.
std::set<std::string> keep_finished(const std::filesystem::path& metrics) {
  std::set<std::string> finished;
  for_each_line(metrics, [&](const std::string& name, const kit::LogLine& line) {
    if (ends_run(line)) finished.insert(name);
  });
  std::string kept;
  bool all = true;
  for_each_line(metrics, [&](const std::string& name, const kit::LogLine& line) {
    if (finished.contains(name))
      kept += line.json() + "\n";
    else
      all = false;
  });
  if (!all) kit::replace_file(metrics, kept);
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

  /// Takes runs until there are none left; an error on any thread stops all of them.
  void work_through() {
    try {
      for (std::size_t i = next_++; i < runs_.size() && !stopped(); i = next_++) run_one(runs_[i]);
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  /// Whether all runs are done.
  bool finish() {
    if (finished_ < runs_.size()) return false;
    progress_.finish();
    return true;
  }

 private:
  bool stopped() const { return failed_ || kit::interrupted(); }

  void run_one(const RunOptions& run) {
    const auto result = train(task_, model_, run, [&](const StepMetrics& metrics) {
      const std::lock_guard lock(mutex_);
      writer_.write(step_line(run, metrics));
      done_ += work(run, 1);
      progress_.update(done_, fmt::format("{} loss {:.3f}", run.name(), metrics.loss));
      return !stopped();
    });
    if (!result) return;
    const std::lock_guard lock(mutex_);
    writer_.write(result_line(run, *result));
    ++finished_;
    if (result->diverged_at) done_ += work(run, model_.steps - *result->diverged_at);
  }

  const Task& task_;
  const ModelOptions& model_;
  const std::vector<RunOptions> runs_;
  std::mutex mutex_;
  kit::RunLog writer_;
  kit::Progress progress_;
  double done_;
  std::size_t finished_ = 0;
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> next_{0};
};

}  // namespace

kit::LogLine step_line(const RunOptions& run, const StepMetrics& metrics) {
  kit::LogLine line = {{"run", run.name()},
                       {"step", metrics.step},
                       {"loss", metrics.loss},
                       {"grad_norm", metrics.grad_norm},
                       {"lr", metrics.lr}};
  if (!std::isfinite(metrics.loss)) line.add("diverged_at", metrics.step);
  return line;
}

kit::LogLine result_line(const RunOptions& run, const RunResult& result) {
  return {{"run", run.name()},
          {"final_loss", result.final_loss},
          {"diverged_at", result.diverged_at},
          {"start_loss", result.start_loss},
          {"parameters_sha256", result.parameters_sha256},
          {"seconds", result.seconds}};
}

std::vector<RunRecord> read_runs(const std::filesystem::path& metrics, const std::vector<RunOptions>& plan) {
  std::map<std::string, RunRecord> records;
  std::set<std::string> finished;
  for_each_line(metrics, [&](const std::string& name, const kit::LogLine& line) {
    RunRecord& record = records[name];
    if (ends_run(line)) {
      record.result = read_result(line);
      finished.insert(name);
    } else {
      const std::size_t step = record.losses.size() + 1;
      kit::check(line["step"] == kit::LogValue(step), "{} expects step {}, got {}", io::quote(name), step,
                 io::quote(line["step"].json()));
      record.losses.push_back(line["loss"].number());
      record.grad_norms.push_back(line["grad_norm"].number());
    }
  });
  std::vector<RunRecord> runs;
  for (const RunOptions& options : plan)
    if (finished.contains(options.name())) {
      runs.push_back(std::move(records[options.name()]));
      runs.back().options = options;
    }
  return runs;
}

double seconds_per_step(const Task& task, const ModelOptions& model, std::int64_t layers,
                        std::int64_t threads) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kWarmUp = 2, kMeasured = 4;
  ModelOptions few = model;
  few.steps = kWarmUp + kMeasured;
  std::mutex mutex;
  double slowest = 0;
  side_by_side(threads, [&] {
    Clock::time_point start, last;
    train(task, few, {.layers = layers}, [&](const StepMetrics& metrics) {
      last = Clock::now();
      if (metrics.step == kWarmUp) start = last;
      return !kit::interrupted();
    });
    const std::lock_guard lock(mutex);
    slowest = std::max(slowest, std::chrono::duration<double>(last - start).count() / kMeasured);
  });
  kit::stop_if_interrupted();
  return slowest;
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
  std::stable_sort(open.begin(), open.end(), [](const RunOptions& a, const RunOptions& b) {
    return std::tuple(a.seed, -a.layers) < std::tuple(b.seed, -b.layers);
  });
  Sweep sweep(task, model, std::move(open), metrics, total, done);
  side_by_side(threads, [&] { sweep.work_through(); });
  return sweep.finish();
}

}  // namespace gradus::lab
