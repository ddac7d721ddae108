#pragma once
// TrainingRun: the loop a long training needs around its step. It shows progress, keeps checkpoints and
// losses in a folder, ends at Ctrl-C with a checkpoint, and goes on from the last one: the bits of a run
// nobody stopped.
//
//   kit::TrainingRun run({.steps = 10'000, .folder = "run", .resume = resume, .settings = {{"--lr",
//   "0.001"}}}); run.keep("model", model);  // what a step changes; taken back here where the run goes on
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
  std::int64_t steps = 0;             // how many in all
  std::filesystem::path folder = {};  // of checkpoints and losses.jsonl; empty: nothing is kept
  bool resume = false;                // go on from the newest checkpoint of the folder
  Metadata settings = {};             // what must be the same when it goes on: {"--lr", "0.001"}
  double checkpoint_seconds = 300;    // at least so long between two checkpoints
  std::int64_t checkpoint_steps = 0;  // above 0: one every so many steps, in place of that
  double seconds = 0;  // above 0: it ends after so long, all its parts together, where steps are left then
  std::string beside = {};  // what some steps do beside, for the words with the time: "validation"
};

/// What a step tells: `return {loss.item(), opt.lr()};`
struct StepResult {
  double loss = 0;                // of the step's batch
  std::optional<double> lr = {};  // its learning rate
};

/// A training that can be stopped and taken up again.
class TrainingRun {
 public:
  /// Throws when the folder cannot be made, or another training is at work there; when it holds checkpoints
  /// and `resume` is not set, which would mix two trainings; and with `resume` when it holds none, or one of
  /// other settings, naming those that differ. Made before anything that takes time, it refuses at once. A
  /// folder that it made goes with it where nothing was written there.
  explicit TrainingRun(const TrainingOptions& options);
  ~TrainingRun();
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  /// Whatever has state_dict() and load_state_dict(): a model, optimizer, loader, EMA. Where the run goes on,
  /// the part takes its state back here. It must outlive the run; names are used once.
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
  /// A generator that steps draw from. The thread's default_generator() is kept without being named.
  void keep(const std::string& name, Generator& generator);
  /// Any other tensors: `run.keep("seen", [&] { return StateDict{{"count", count}}; }, [&](const StateDict&
  /// s) { ... });`
  void keep(const std::string& name, std::function<StateDict()> save,
            std::function<void(const StateDict&)> load);

  /// Steps that are done: 0, or those of the checkpoint the run goes on from.
  std::int64_t steps_done() const;
  /// How long it has trained, all its parts together.
  double seconds() const;

  /// Calls step(n) for all steps n that are left, from 1; true when the last one is done, false after Ctrl-C
  /// (see catch_interrupts(), which this calls: what the program saves after it is safe from a first Ctrl-C).
  /// Writes a checkpoint at either end. A checkpoint or line of losses.jsonl that the disk has no room for is
  /// told on stderr; training goes on, and the line comes when there is room. Where the last checkpoint or a
  /// line is missing at the end, kept() is false and run_program() ends with status_not_kept.
  ///
  /// Says on stdout how long it will take and ten times how it goes, on stderr how far it is. Throws, leaving
  /// the checkpoints before it, when a loss or a number of what is kept is no longer finite. Called once.
  bool train(const std::function<StepResult(std::int64_t step)>& step);

  /// After train(): whether the folder has its last checkpoint and all losses; false without a folder.
  bool kept() const;

  /// Calls `write`, which saves what the training made. Where it throws an Error, the disk being full, and
  /// the training itself is kept, the message says so: resumed, it comes here at once. `run.save([&] {
  /// model.save_pretrained(folder); });`
  void save(const std::function<void()>& write) const;

  /// Within a step: a line of one's own in losses.jsonl, behind its step: `run.log({{"bleu", 31.5}});`
  void log(const LogLine& line);
  /// Within a step: it is the last one, as if `steps` were reached: for early stopping, or a limit of time.
  void stop();
  /// Within a step: prints a line on stderr, above the bar: `run.note("BLEU 31.5");`
  void note(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A text as an entry of the settings, "1300 bytes, CRC-32 3f2a90b1": any other text has another one, except
/// by intent (io::crc32()). `.settings = {{"--text", kit::fingerprint(text)}}`
std::string fingerprint(std::string_view bytes);

/// The losses of a run's folder, with "step" in each line: `read_training_log("run").column("loss")`.
LogLines read_training_log(const std::filesystem::path& folder);

}  // namespace gradus::kit
