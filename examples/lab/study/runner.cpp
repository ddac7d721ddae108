#include "lab/study/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <numeric>
#include <tuple>

#include "gradus/core/check.h"
#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/progress.h"
#include "lab/statistics/words.h"
#include "lab/study/shards.h"
#include "lab/study/side_by_side.h"

namespace gradus::lab {

namespace {

double seconds_of(const std::vector<StudyRun>& runs) {
  return std::accumulate(runs.begin(), runs.end(), 0.0,
                         [](double sum, const StudyRun& run) { return sum + run.seconds; });
}

/// What this thread has computed for so far: unlike the time that passes, it does not depend on what else the
/// machine does.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// What the threads share.
class Work {
 public:
  Work(const Study& study, std::vector<StudyRun> open, const std::filesystem::path& log, double total,
       double done)
      : runs_(std::move(open)), log_(log), progress_(study.name, total), total_(total), done_(done) {}

  void work_through() {
    try {
      for (std::size_t i = next_++; i < runs_.size() && !stopped(); i = next_++) measure(runs_[i]);
    } catch (const kit::Interrupted&) {  // what was under way starts again
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  bool finish() {
    if (finished_ < runs_.size()) return false;
    progress_.update(total_);  // which the sum of its parts may miss by a rounding
    progress_.finish();
    return true;
  }

 private:
  bool stopped() const { return failed_ || kit::interrupted(); }

  void measure(const StudyRun& run) {
    const double start = thread_seconds();
    Record record;
    try {
      record.measured = run.measure();
    } catch (const Error& error) {
      fail_with("{}: {}", run.name, error.what());
    }
    record.seconds = thread_seconds() - start;
    const std::lock_guard lock(mutex_);
    log_.write(line_of(run.name, record));
    ++finished_;
    done_ += run.seconds;
    progress_.update(done_, run.name);
  }

  const std::vector<StudyRun> runs_;
  std::mutex mutex_;
  kit::RunLog log_;
  kit::Progress progress_;
  const double total_;
  double done_;
  std::size_t finished_ = 0;
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> next_{0};
};

/// This part's runs, and those of them that are not finished.
struct Runs {
  std::vector<StudyRun> plan, open;
};

Runs runs_of(const Study& study, const StudyConfig& config, const std::filesystem::path& folder) {
  Runs runs{part_of(study.plan(config.options), config.shard), {}};
  const std::map<std::string, Record> finished = read_records(folder, study.plan(config.options));
  for (const StudyRun& run : runs.plan)
    if (!finished.contains(run.name)) runs.open.push_back(run);
  return runs;
}

}  // namespace

double seconds_left(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
                    std::int64_t threads) {
  return seconds_of(runs_of(study, config, folder).open) / static_cast<double>(threads);
}

bool run_study(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
               std::int64_t threads) {
  auto [plan, open] = runs_of(study, config, folder);
  const double total = seconds_of(plan), left = seconds_of(open);
  kit::print_error(fmt::format(
      "{}: {}{}, {} at a time: about {} on a fast machine\n", study.name,
      counted(static_cast<std::int64_t>(plan.size()), "run"),
      open.size() < plan.size() ? fmt::format(", {} done already", plan.size() - open.size()) : "", threads,
      kit::human_duration(left / static_cast<double>(threads))));
  // Of each round the longest first, so that no thread works alone on a long one at the end.
  std::stable_sort(open.begin(), open.end(), [](const StudyRun& a, const StudyRun& b) {
    return std::tuple(a.round, -a.seconds) < std::tuple(b.round, -b.seconds);
  });
  Work work(study, std::move(open), folder / "runs.jsonl", total, total - left);
  side_by_side(threads, [&] { work.work_through(); });
  return work.finish();
}

}  // namespace gradus::lab
