#include "gradus/kit/program/training_run.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/core/io/checkpoint_files.h"
#include "gradus/core/io/crc32.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/ending.h"
#include "gradus/kit/program/detail/training_folder.h"
#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/progress.h"
#include "gradus/ops/ops.h"

namespace gradus::kit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t timed_steps = 10;  // before the time is estimated
constexpr std::int64_t reports = 10;      // the number of lines printed
constexpr const char* remedy = "try a smaller learning rate or a longer warm-up";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string printable(const std::filesystem::path& path) { return io::printable(path.string()); }

/// The value of a setting, for messages.
std::string value_of(const Metadata& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "not given" : io::printable(found->second);
}

void check_settings(const Checkpoint& checkpoint, const Metadata& now) {
  Metadata before;
  for (const auto& [key, value] : checkpoint.metadata)
    if (key.starts_with("setting ")) before[key.substr(8)] = value;
  Metadata all = before;
  all.insert(now.begin(), now.end());
  std::string differences;
  for (const auto& [key, value] : all)
    if (const std::string was = value_of(before, key), is = value_of(now, key); was != is)
      differences +=
          fmt::format("{}{} was {}, is {}", differences.empty() ? "" : "; ", io::printable(key), was, is);
  check_input(differences.empty(), "{}: cannot continue with other settings: {}",
              io::printable(checkpoint.path), differences);
}

/// The number of steps done by the checkpoint's training.
std::int64_t step_of(const Checkpoint& checkpoint) {
  const Tensor* const step = checkpoint.tensors.find("step");
  check_input(
      step != nullptr && step->dtype() == i64 && step->numel() == 1 && step->item<std::int64_t>() >= 0,
      "{}: has no count of steps: it was not written by a TrainingRun", io::printable(checkpoint.path));
  return step->item<std::int64_t>();
}

/// The seconds taken by the checkpoint's training.
double seconds_of(const Checkpoint& checkpoint) {
  const Tensor* const seconds = checkpoint.tensors.find("seconds");
  return seconds != nullptr && seconds->dtype() == f64 && seconds->numel() == 1 ? seconds->item() : 0;
}

}  // namespace

struct TrainingRun::State {
  struct Part {
    std::string name;
    std::function<StateDict()> save;
    std::function<void(const StateDict&)> load;
  };

  explicit State(const TrainingOptions& o) : options(o) {}

  void open();
  void read_checkpoint();
  void begin();
  void check_all_is_known() const;
  StateDict tensors() const;
  void checkpoint();
  bool checkpoint_is_due() const;
  void report(const StepResult& result);
  void log(const LogLine& line);
  void end_log();
  double seconds() const { return earlier + (progress ? seconds_since(start) : 0); }
  double share() const;
  bool ends_early();
  bool is_over() const { return options.seconds > 0 && seconds() >= options.seconds; }
  void say_how_long() const;

  TrainingOptions options;
  std::vector<Part> parts;
  std::optional<Checkpoint> last;  // until all parts have loaded their state
  std::optional<OutputFolder> folder;
  std::optional<FolderLock> lock;  // until train() ends
  std::optional<TrainingLog> losses;
  std::optional<Progress> progress;
  std::int64_t first = 0, done = 0, saved = -1;
  double earlier = 0;   // seconds before this run was resumed
  double reported = 0;  // tenths, if time is limited
  Clock::time_point start, saved_at;
  bool trained = false, stopped = false, out_of_time = false, log_failed = false;
  bool has_checkpoint() const { return !options.folder.empty() && saved == done; }
};

void TrainingRun::State::open() {
  if (options.folder.empty()) {
    check(!options.resume, "TrainingRun: resume expects the folder of the training to continue");
    return;
  }
  if (!options.writes) {
    if (options.resume) read_checkpoint();
    options.folder.clear();
    return;
  }
  folder.emplace(options.folder);
  lock.emplace(options.folder);
  const bool any = !list_checkpoints(options.folder.string()).empty();
  const std::filesystem::path log = TrainingLog::file_of(options.folder);
  std::error_code error;
  check_input(any || !std::filesystem::exists(log, error) || std::filesystem::file_size(log, error) == 0,
              "{} contains the losses of a training that ended before its first checkpoint: name another "
              "folder, or remove this one to start again",
              printable(options.folder));
  if (!options.resume) {
    check_input(!any,
                "{} contains the checkpoints of a training: resume it (--resume), name another folder, or "
                "remove this one to start again",
                printable(options.folder));
    return;
  }
  read_checkpoint();
}

void TrainingRun::State::read_checkpoint() {
  check_input(!list_checkpoints(options.folder.string()).empty(),
              "{} contains no checkpoint to resume: leave out --resume to start", printable(options.folder));
  last = load_checkpoint(options.folder.string());
  for (const std::string& skipped : last->skipped)
    print_error(fmt::format("skipped an incomplete checkpoint: {}\n", io::printable(skipped)));
  check_settings(*last, options.settings);
  first = done = saved = step_of(*last);
  earlier = seconds_of(*last);
  check_input(done <= options.steps, "{}: is of step {}, this training ends at step {}",
              io::printable(last->path), done, options.steps);
}

/// Throws if the checkpoint contains anything that is not kept.
void TrainingRun::State::check_all_is_known() const {
  for (const auto& [name, tensor] : last->tensors) {
    const std::string& key = name;
    const bool known =
        key == "step" || key == "seconds" || key == "random" ||
        std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return key.starts_with(p.name + "."); });
    check(known, "{}: has {}, which this training does not keep", io::printable(last->path), io::quote(key));
  }
}

void TrainingRun::State::begin() {
  if (last) {
    check_all_is_known();
    default_generator().set_state(last->tensors.at("random").array());
    last.reset();
    print(fmt::format("continues after step {}\n", done));
  }
  if (options.folder.empty()) return;
  losses.emplace(options.folder, done);
}

/// Reports a full disk once and continues, so that the training is not lost.
void TrainingRun::State::log(const LogLine& line) {
  if (!losses) return;
  const std::string reason = losses->write(line);
  if (!reason.empty() && !log_failed)
    progress->note(reason + ": the training continues, and lines are kept until there is room");
  log_failed = log_failed || !reason.empty();
}

void TrainingRun::State::end_log() {
  if (!losses) return;
  if (const std::string reason = losses->flush(); !reason.empty())
    progress->note(fmt::format("{}: {} lines are lost", reason, losses->waiting()));
}

/// Everything that is kept; throws if a value is no longer finite.
StateDict TrainingRun::State::tensors() const {
  StateDict all;
  all.set("step", tensor(done));
  all.set("seconds", tensor(seconds(), f64));
  all.set("random", Tensor(default_generator().get_state()));
  for (const Part& part : parts)
    for (const auto& [name, tensor] : part.save()) {
      const bool finite = !is_floating(tensor.dtype()) || tensor.numel() == 0 ||
                          std::isfinite(tensor.detach().abs().max().to(f64).item());
      check(finite, "{}.{} is no longer finite after step {}: nothing is saved; {}", part.name, name, done,
            remedy);
      all.set(part.name + "." + name, tensor);
    }
  return all;
}

void TrainingRun::State::checkpoint() {
  const StateDict all = tensors();  // checks for finite values, also without a folder
  if (options.folder.empty()) return;
  Metadata notes;
  for (const auto& [key, value] : options.settings) notes["setting " + key] = value;
  try {
    save_checkpoint(options.folder.string(), all, notes);
    saved = done;
  } catch (const Error& error) {  // continues, so that the training is not lost
    progress->note(fmt::format("no checkpoint of step {}: {}", done, error.what()));
  }
  saved_at = Clock::now();
}

bool TrainingRun::State::checkpoint_is_due() const {
  if (options.folder.empty()) return false;
  if (options.checkpoint_steps > 0) return done % options.checkpoint_steps == 0;
  return seconds_since(saved_at) >= options.checkpoint_seconds;
}

void TrainingRun::State::report(const StepResult& result) {
  check(std::isfinite(result.loss), "the loss of step {} is {}: nothing is saved{}; {}", done, result.loss,
        saved > 0 ? fmt::format(" after step {}", saved) : "", remedy);
  const std::string lr = result.lr ? fmt::format("  lr {:.2e}", *result.lr) : "";
  if (losses) {
    LogLine line = {{"step", done}, {"loss", result.loss}};
    if (result.lr) line.add("lr", *result.lr);
    log(line);
  }
  progress->update(share(), fmt::format("loss {:.3f}", result.loss));
  if (done - first == std::min(timed_steps, options.steps - first)) say_how_long();
  const bool tenth = options.seconds > 0 ? std::floor(share() * reports) > reported
                                         : done % std::max<std::int64_t>(1, options.steps / reports) == 0;
  if (!tenth) return;
  reported = std::floor(share() * reports);
  print(fmt::format("step {:>6}  loss {:.4f}{}\n", done, result.loss, lr));
}

/// After a step, whether Ctrl-C or the end of the time stops the training, here or in another process.
bool TrainingRun::State::ends_early() {
  const auto any = [&](bool here) { return options.any ? options.any(here) : here; };
  out_of_time = options.seconds > 0 && any(is_over());
  if (out_of_time || !any(interrupted())) return out_of_time;
  if (!interrupted()) interrupt(SIGINT);  // so that the exit status is the same everywhere
  return true;
}

/// The share done since the start or resumption: of the steps or, if that is more, of the time.
double TrainingRun::State::share() const {
  const double steps = static_cast<double>(done - first) / static_cast<double>(options.steps - first);
  if (options.seconds == 0) return steps;
  return std::max(steps, (seconds() - earlier) / (options.seconds - earlier));
}

void TrainingRun::State::say_how_long() const {
  const double each = seconds_since(start) / static_cast<double>(done - first);
  const std::int64_t all = options.steps - first;
  const double left = options.seconds - earlier;
  const std::string beside = options.beside.empty() ? "" : ", " + options.beside + " not counted";
  if (options.seconds > 0 && each * static_cast<double>(all) > left)
    print(fmt::format("about {:.0f} steps in {}{}\n", left / each, human_duration(left), beside));
  else
    print(fmt::format("{} step{} will take about {}{}\n", all, all == 1 ? "" : "s",
                      human_duration(each * static_cast<double>(all)), beside));
}

TrainingRun::TrainingRun(const TrainingOptions& options) : state_(std::make_unique<State>(options)) {
  check(options.steps >= 0, "TrainingRun: expects steps of 0 or more, got {}", options.steps);
  check(options.checkpoint_seconds >= 0, "TrainingRun: expects checkpoint_seconds of 0 or more, got {}",
        options.checkpoint_seconds);
  check(options.checkpoint_steps >= 0, "TrainingRun: expects checkpoint_steps of 0 or more, got {}",
        options.checkpoint_steps);
  check(options.seconds >= 0, "TrainingRun: expects seconds of 0 or more, got {}", options.seconds);
  state_->open();
}

TrainingRun::~TrainingRun() = default;

void TrainingRun::keep(const std::string& name, Generator& generator) {
  keep(
      name,
      [&generator] {
        return StateDict{{"state", Tensor(generator.get_state())}};
      },
      [&generator](const StateDict& state) { generator.set_state(state.at("state").array()); });
}

void TrainingRun::keep(const std::string& name, std::function<StateDict()> save,
                       std::function<void(const StateDict&)> load) {
  State& s = *state_;
  check(!s.trained, "TrainingRun: keep(\"{}\") comes before train()", name);
  check(!name.empty() && name.find('.') == std::string::npos && name != "step" && name != "seconds" &&
            name != "random",
        "TrainingRun: keep expects a name without a dot, other than step, seconds and random, got {}",
        io::quote(name));
  check(std::none_of(s.parts.begin(), s.parts.end(), [&](const State::Part& p) { return p.name == name; }),
        "TrainingRun: {} is kept already", io::quote(name));
  if (s.last) {
    const StateDict state = s.last->tensors.with_prefix_removed(name + ".");
    try {
      load(state);
    } catch (const Error& error) {
      fail_with("{}: cannot go on with its {}: {}", io::printable(s.last->path), name, error.what());
    }
  }
  s.parts.push_back({name, std::move(save), std::move(load)});
}

std::int64_t TrainingRun::steps_done() const { return state_->done; }

double TrainingRun::seconds() const { return state_->seconds(); }

bool TrainingRun::train(const std::function<StepResult(std::int64_t step)>& step) {
  State& s = *state_;
  check(!s.trained, "TrainingRun: train() was called before; make another run with resume");
  s.trained = true;
  const std::optional<FolderLock> lock = std::move(s.lock);
  s.begin();
  const std::int64_t left = s.options.steps - s.done;
  s.progress.emplace(s.done > 0 ? fmt::format("training from step {}", s.done) : "training", 1);
  catch_interrupts();
  s.start = s.saved_at = Clock::now();
  while (s.done < s.options.steps && !s.stopped && !s.ends_early()) {
    const StepResult result = step(s.done + 1);
    ++s.done;
    s.report(result);
    if (s.checkpoint_is_due()) s.checkpoint();
  }
  if (s.saved != s.done) s.checkpoint();
  s.end_log();
  if (!s.options.folder.empty() && !kept()) training_not_kept();
  const bool finished = s.done == s.options.steps || s.stopped || s.out_of_time;
  if (finished && left > 0) s.progress->finish();
  s.earlier = s.seconds();
  s.progress.reset();
  return finished && !interrupted();
}

bool TrainingRun::kept() const {
  const State& s = *state_;
  return s.has_checkpoint() && (!s.losses || s.losses->waiting() == 0);
}

void TrainingRun::save(const std::function<void()>& write) const {
  try {
    write();
  } catch (const Error& error) {
    const State& s = *state_;
    if (!s.has_checkpoint()) throw;
    fail_with("{}; the training is kept in {}: resume it (--resume) when this is fixed", error.what(),
              printable(s.options.folder));
  }
}

void TrainingRun::log(const LogLine& line) {
  State& s = *state_;
  check(s.progress.has_value(), "TrainingRun: log() must be called within a step");
  if (!s.losses) return;
  LogLine whole = {{"step", s.done + 1}};
  for (const auto& [name, value] : line) whole.add(name, value);
  s.log(whole);
}

void TrainingRun::stop() {
  check(state_->progress.has_value(), "TrainingRun: stop() must be called within a step");
  state_->stopped = true;
}

void TrainingRun::note(std::string_view line) {
  check(state_->progress.has_value(), "TrainingRun: note() must be called within a step");
  state_->progress->note(line);
}

std::string fingerprint(std::string_view bytes) {
  return fmt::format("{} bytes, CRC-32 {:08x}", bytes.size(), io::crc32(bytes.data(), bytes.size()));
}

LogLines read_training_log(const std::filesystem::path& folder) {
  return read_run_log(TrainingLog::file_of(folder));
}

}  // namespace gradus::kit
