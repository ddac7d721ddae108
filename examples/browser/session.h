#pragma once
// The lab for a page: two models with the same initial weights and data, trained a few steps at a time, so
// that the page can draw, pause and continue.
//
//   Session session({.placements = {"Pre-LN", "Post-LN"}, .layers = 6, .rate = 3e-3});
//   while (!session.done()) draw(session.step());

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/studies/compare/analysis/analysis.h"
#include "lab/training/trial.h"
#include "lab/training/weights.h"

namespace gradus::browser {

/// Both models' settings; they differ in placement only. Width (32) and task are the lab's.
struct Settings {
  std::array<std::string, 2> placements = {"Pre-LN", "Post-LN"};
  std::int64_t layers = 6;       // 1 to 48
  double rate = 3e-3;            // above 0, at most 1
  std::int64_t warmup = 0;       // steps, 0 to 10000
  std::string decay = "none";    // after the warm-up, a name of decays()
  std::string start = "fan_in";  // initial weights, a name of lab::weight_schemes() that fits these blocks
  std::int64_t seed = 0;         // 0 to 999
  std::int64_t steps = 400;      // 1 to 5000

  bool operator==(const Settings&) const = default;
};

/// Valid names for Settings, for menus.
std::vector<std::string> placement_names();
std::vector<lab::WeightScheme> start_names();
struct Decay {
  const char* name;
  const char* title;
};
/// "none"; "linear" and "cosine": to 0 at the last step; "root": as 1 / sqrt(step).
std::vector<Decay> decays();

/// The same settings with the placements' full names ("pre" is "Pre-LN"). Throws, saying what is expected, on
/// a value out of range or if a placement is compared with itself.
Settings checked(Settings settings);

/// The learning rate of each step. Throws like checked().
std::vector<double> rates(const Settings& settings);

/// One step of one model.
struct ModelStep {
  std::int64_t step = 0;          // from 1
  double loss = 0;                // of the batch, nats per character
  double rate = 0;                // of this step's update
  double gradient = 0;            // global gradient norm
  std::vector<double> stream;     // rms of x_l, the output of block l = 1..L
  std::vector<double> gradients;  // norm of the gradient of all parameters of block l
};

/// One of the two models and its history.
class Model {
 public:
  Model(const Settings& settings, const std::string& placement);
  bool done() const { return trial_.done(); }
  /// Its last loss was not finite or above the lab's limit: training has stopped.
  bool diverged() const { return trial_.diverged(); }
  /// One more step; throws when it is done.
  const ModelStep& step();

  const std::string& placement() const { return placement_; }
  const nn::GPT& gpt() const { return *gpt_; }
  const std::vector<ModelStep>& steps() const { return steps_; }
  std::int64_t parameters() const { return gpt_->num_parameters(); }
  /// On the validation set, before training.
  double start_loss() const { return trial_.start_loss(); }
  /// The run in the lab's format; every call measures the loss after training again.
  lab::compare::RunRecord record(const Settings& settings) const;

 private:
  std::string placement_;
  std::unique_ptr<nn::GPT> gpt_;  // stable address: trial_ refers to it
  lab::Trial trial_;
  optim::Schedule rate_;
  std::vector<ModelStep> steps_ = {};
};

class Session {
 public:
  /// Throws like checked().
  explicit Session(const Settings& settings);

  const Settings& settings() const { return settings_; }
  const std::array<Model, 2>& models() const { return models_; }
  /// Both have finished or diverged.
  bool done() const { return models_[0].done() && models_[1].done(); }
  /// One step of each model that is not done; nullptr for a model that was already done.
  std::array<const ModelStep*, 2> step();
  /// The run as CSV, a line for each step of each model.
  std::string csv() const;

 private:
  Settings settings_;
  std::array<Model, 2> models_;
};

/// Finished sessions and the lab's verdict on them.
class Record {
 public:
  /// Keeps the runs of a finished session, replacing those of the same settings. Takes as long as a few
  /// steps: losses after training are measured here.
  void add(const Session& session);
  /// The runs of these settings, nullptr if there are none.
  const std::array<lab::compare::RunRecord, 2>* runs(const Settings& settings) const;
  /// How many seeds of these settings are kept.
  std::int64_t seeds(const Settings& settings) const;
  /// The lab's concluding sentence for these settings, over the seeds kept.
  std::string verdict(const Settings& settings) const;

 private:
  struct Entry {
    Settings settings;
    std::array<lab::compare::RunRecord, 2> runs;
  };
  std::vector<Entry> entries_;
};

/// The lowest possible loss and the loss of n-gram counts: the lab's description of its task.
lab::compare::TaskFacts facts();
/// A run with a lower final loss counts as having learned: `name` "the 3-gram baseline".
lab::compare::Baseline baseline();

}  // namespace gradus::browser
