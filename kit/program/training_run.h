#pragma once
// TrainingRun: the loop of a long training. It shows progress, keeps checkpoints and losses in a folder,
// writes a checkpoint at Ctrl-C, and resumes from the last one with the same bits as an uninterrupted run.
//
//   kit::TrainingRun run({.steps = 10'000, .folder = "run", .resume = resume, .settings = {{"--lr",
//   "0.001"}}}); run.keep("model", model);  // objects that a step changes; restores them when resuming
//   run.keep("optimizer", opt);
//   run.keep("loader", loader);
//   const bool finished = run.train([&](std::int64_t step) -> kit::StepResult {
//     const auto [x, y] = loader.next();
//     const Tensor loss = model.loss(x, y);
//     ...
//     return {loss.item(), opt.lr()};
//   });

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gradus/core/io/safetensors.h"
#include "gradus/core/random/random.h"
#include "gradus/kit/data/run_log.h"

namespace gradus::kit {

struct TrainingOptions {
  std::int64_t steps = 0;             // the total number of steps
  std::filesystem::path folder = {};  // of checkpoints and losses.jsonl; empty: nothing is kept
  bool resume = false;                // continue from the newest checkpoint in the folder
  Metadata settings = {};             // settings that must be the same when resuming: {"--lr", "0.001"}
  double checkpoint_seconds = 300;    // the least time between two checkpoints
  std::int64_t checkpoint_steps = 0;  // above 0: a checkpoint every checkpoint_steps steps instead
  double seconds = 0;                 // above 0: a limit on the total time, including that before resuming
  std::string beside = {};  // additional work of some steps, named in the time estimate: "validation"

  // For one of several processes that train together, such as the ranks of MPI.
  bool writes = true;  // false: another one keeps the folder; this one only reads the checkpoint it resumes
  /// Whether the condition holds in any of them. Called by all at the same steps, so that a Ctrl-C or the end
  /// of the time that one of them sees stops all after the same step. All of them call stop(), or none.
  std::function<bool(bool here)> any = {};
};

/// The result of a step: `return {loss.item(), opt.lr()};`
struct StepResult {
  double loss = 0;                // of the step's batch
  std::optional<double> lr = {};  // its learning rate
};

/// A training that can be stopped and resumed.
class TrainingRun {
 public:
  /// Throws when the folder cannot be made, or another training uses it; when it contains checkpoints and
  /// `resume` is not set, which would mix two trainings; when it contains losses and no checkpoint, which
  /// would overwrite them; and with `resume` when it contains none, or one with other settings, naming those
  /// that differ. Make it before slow work, so that it fails early. The destructor removes a folder that it
  /// made if nothing was written there.
  explicit TrainingRun(const TrainingOptions& options);
  ~TrainingRun();
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  /// Keeps anything with state_dict() and load_state_dict(): a model, optimizer, loader, EMA. When resuming,
  /// this call restores its state. It must outlive the run; names are unique.
  /// `run.keep("model", model);`
  template <class Part>
  requires requires(Part& part, const StateDict& state) {
    { part.state_dict() } -> std::convertible_to<StateDict>;
    part.load_state_dict(state);
  }
  void keep(const std::string& name, Part& part) {
    keep(
        name, [&part] { return part.state_dict(); },
        [&part](const StateDict& state) { part.load_state_dict(state); });
  }
  /// Keeps a generator that steps use. The thread's default_generator() is always kept.
  void keep(const std::string& name, Generator& generator);
  /// Keeps any other tensors: `run.keep("seen", [&] { return StateDict{{"count", count}}; }, [&](const
  /// StateDict& s) { ... });`
  void keep(const std::string& name, std::function<StateDict()> save,
            std::function<void(const StateDict&)> load);

  /// The number of steps done: initially 0, or that of the checkpoint it resumes from.
  std::int64_t steps_done() const;
  /// The total training time, including that before resuming.
  double seconds() const;

  /// Calls step(n) for all remaining steps n, from 1; true when the last one is done, false after Ctrl-C (see
  /// catch_interrupts(), which it calls: a first Ctrl-C does not interrupt saving after it). In both cases it
  /// writes a checkpoint. If the disk is full, it reports this on stderr and continues, and writes missing
  /// lines of losses.jsonl when there is room. If the last checkpoint or a line is missing at the end, kept()
  /// is false and run_program() returns status_not_kept.
  ///
  /// Prints the estimated time and ten losses to stdout, and progress to stderr. Throws, keeping the earlier
  /// checkpoints, when a loss or a kept value is no longer finite. Call it once.
  bool train(const std::function<StepResult(std::int64_t step)>& step);

  /// After train(): whether the folder has its last checkpoint and all losses; false without a folder.
  bool kept() const;

  /// Calls `write`, which saves the training's results. If it throws an Error, for example because the disk
  /// is full, and the training itself is kept, the message says so: a resumed training gets here at once.
  /// `run.save([&] { model.save_pretrained(folder); });`
  void save(const std::function<void()>& write) const;

  /// Within a step: adds a line to losses.jsonl, with the step's number: `run.log({{"bleu", 31.5}});`
  void log(const LogLine& line);
  /// Within a step: makes it the last one, as if `steps` were reached: for early stopping, or a time limit.
  void stop();
  /// Within a step: prints a line on stderr, above the bar: `run.note("BLEU 31.5");`
  void note(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Identifies a text in settings: "1300 bytes, CRC-32 3f2a90b1", which detects mistakes, not malice.
/// `.settings = {{"--text", kit::fingerprint(text)}}`
std::string fingerprint(std::string_view bytes);

/// The losses of a run's folder, with "step" in each line: `read_training_log("run").column("loss")`.
LogLines read_training_log(const std::filesystem::path& folder);

}  // namespace gradus::kit
