#include "lab/study/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

#include "gradus/core/threads/parallel.h"
#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/progress.h"
#include "lab/statistics/format.h"
#include "lab/study/crew.h"
#include "lab/study/shards.h"
#include "lab/study/side_by_side.h"

namespace gradus::lab {

namespace {

double seconds_of(const std::vector<StudyRun>& runs) {
  return std::accumulate(runs.begin(), runs.end(), 0.0,
                         [](double sum, const StudyRun& run) { return sum + run.seconds; });
}

/// The runs of this part that are planned so far.
Following own_plan(const Study& study, const StudyConfig& config,
                   const std::map<std::string, Record>& records) {
  Following all = planned(study, config.options, records);
  all.runs = part_of(study.plan(config.options), config.shard, all.runs);
  all.seconds_later /= static_cast<double>(config.shard.count);
  return all;
}

double seconds_of(const Following& planned) { return seconds_of(planned.runs) + planned.seconds_later; }

/// The state that the threads share.
class Work {
 public:
  Work(const Study& study, const StudyConfig& config, const std::filesystem::path& folder)
      : study_(study),
        config_(config),
        folder_(folder),
        records_(read_records(folder, study, config.options)),
        log_(folder / "runs.jsonl") {
    const Following plan = own_plan(study, config, records_);
    total_ = seconds_of(plan);
    add_open(plan.runs);
    for (const StudyRun& run : plan.runs)
      if (records_.contains(run.name)) done_ += run.seconds, ++done_before_;
  }

  std::size_t runs() const { return started_.size() + done_before_; }
  std::size_t done_before() const { return done_before_; }
  double seconds_left() const { return total_ - done_; }

  bool work_through(std::int64_t threads) {
    kit::Progress progress(study_.name, total_);
    progress_ = &progress;
    if (Crew* const crew = Crew::current())
      work_with(*crew);
    else
      side_by_side(threads, [&] { take_runs(); });
    if (!open_.empty() || under_way_ > 0) return false;
    progress.update(total_);  // the sum of the parts may differ, by rounding or by runs that followed
    progress.finish();
    return true;
  }

 private:
  bool stopped() const { return failed_ || kit::interrupted(); }

  /// In each round the longest first, so that no thread works alone on a long run at the end.
  void add_open(const std::vector<StudyRun>& runs) {
    for (const StudyRun& run : runs)
      if (!records_.contains(run.name) && started_.insert(run.name).second) open_.push_back(run);
    std::stable_sort(open_.begin(), open_.end(), [](const StudyRun& a, const StudyRun& b) {
      return std::tuple(a.round, -a.seconds) < std::tuple(b.round, -b.seconds);
    });
  }

  void take_runs() {
    try {
      while (const std::optional<StudyRun> run = take()) finish(*run, measure(*run));
    } catch (const kit::Interrupted&) {    // the interrupted run starts again
      const std::lock_guard lock(mutex_);  // so a thread that is about to wait does not miss it
      changed_.notify_all();
    } catch (...) {
      stop();
      throw;
    }
  }

  /// The next run; waits while a run under way may add more. Nothing when all are done.
  std::optional<StudyRun> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped() || !open_.empty() || under_way_ == 0; });
    if (stopped() || open_.empty()) return std::nullopt;
    return take_first();
  }

  /// The next run, if one is open now.
  std::optional<StudyRun> take_open() {
    const std::lock_guard lock(mutex_);
    if (stopped() || open_.empty()) return std::nullopt;
    return take_first();
  }

  StudyRun take_first() {
    StudyRun run = std::move(open_.front());
    open_.erase(open_.begin());
    ++under_way_;
    return run;
  }

  bool is_over() {
    const std::lock_guard lock(mutex_);
    return stopped() || (open_.empty() && under_way_ == 0);
  }

  /// This thread gives runs to the other ranks and writes what they measure; another one measures runs, too.
  void work_with(Crew& crew) {
    crew.begin(study_.name, folder_);
    std::exception_ptr error;
    {
      const std::jthread own([&] {
        const SingleThread guard;
        try {
          take_runs();
        } catch (...) {
          error = std::current_exception();
        }
      });
      try {
        lead(crew);
      } catch (...) {
        stop();
        throw;
      }
    }
    if (error) std::rethrow_exception(error);
  }

  void lead(Crew& crew) {
    std::vector<std::optional<StudyRun>> given(static_cast<std::size_t>(crew.size()));
    while (!is_over()) {
      bool moved = false;
      for (int member = 0; member < crew.size(); ++member) {
        std::optional<StudyRun>& run = given[static_cast<std::size_t>(member)];
        if (run) {
          std::optional<Answer> answer = crew.look(member);
          if (!answer) continue;
          if (answer->record)
            finish(*run, std::move(*answer->record));
          else
            stop();
          run.reset();
        } else {
          run = take_open();
          if (!run) continue;
          crew.give(member, run->name);
        }
        moved = true;
      }
      if (!moved) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::lock_guard lock(mutex_);
    changed_.notify_all();  // after an interrupt this rank's own thread may wait for runs
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

  void finish(const StudyRun& run, Record record) {
    const std::lock_guard lock(mutex_);
    log_.write(line_of(run.name, record));
    records_[run.name] = std::move(record);
    done_ += run.seconds;
    progress_->update(std::min(done_, total_), run.name);
    --under_way_;
    if (study_.next) add_open(own_plan(study_, config_, records_).runs);
    changed_.notify_all();
  }

  const Study& study_;
  const StudyConfig& config_;
  const std::filesystem::path folder_;
  std::map<std::string, Record> records_;
  kit::RunLog log_;
  kit::Progress* progress_ = nullptr;
  double total_ = 0, done_ = 0;
  std::size_t done_before_ = 0;
  std::mutex mutex_;  // guards all below, and everything that a finished run changes
  std::condition_variable changed_;
  std::vector<StudyRun> open_;
  std::set<std::string> started_;
  std::int64_t under_way_ = 0;
  bool failed_ = false;
};

}  // namespace

double seconds_left(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
                    std::int64_t threads) {
  const std::map<std::string, Record> records = read_records(folder, study, config.options);
  Following left = own_plan(study, config, records);
  std::erase_if(left.runs, [&](const StudyRun& run) { return records.contains(run.name); });
  return seconds_of(left) / static_cast<double>(threads);
}

bool run_study(const Study& study, const StudyConfig& config, const std::filesystem::path& folder,
               std::int64_t threads) {
  Work work(study, config, folder);
  kit::print_error(
      fmt::format("{}: {}{}, {} at a time: about {} on a fast machine\n", study.name,
                  counted(static_cast<std::int64_t>(work.runs()), "run"),
                  work.done_before() > 0 ? fmt::format(", {} done already", work.done_before()) : "", threads,
                  kit::human_duration(work.seconds_left() / static_cast<double>(threads))));
  return work.work_through(threads);
}

}  // namespace gradus::lab
