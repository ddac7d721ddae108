#pragma once
// The lab for a page: two models, which start with the same weights and see the same data, trained a few
// steps at a time, so that whoever watches can draw, stop and go on.
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

/// What both models share, but for the placement. The width is the lab's, 32, and so is the task.
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

/// Names that Settings take, for menus.
std::vector<std::string> placement_names();
std::vector<lab::WeightScheme> start_names();
struct Decay {
  const char* name;
  const char* title;
};
/// "none"; "linear" and "cosine": to 0 at the last step; "root": as 1 / sqrt(step).
std::vector<Decay> decays();

/// The same with placements by their own names ("pre" is "Pre-LN"); throws where something is not as above,
/// saying what is expected, and where a placement is compared with itself.
Settings checked(Settings settings);

/// The learning rate of each step. Throws as checked() does.
std::vector<double> rates(const Settings& settings);

/// One step of one model.
struct ModelStep {
  std::int64_t step = 0;          // from 1
  double loss = 0;                // of the batch, nats per character
  double rate = 0;                // of this step's update
  double gradient = 0;            // norm of all gradients together
  std::vector<double> stream;     // rms of x_l, the output of block l = 1..L
  std::vector<double> gradients;  // norm of the gradient of all parameters of block l
};

/// One of the two models and its history.
class Model {
 public:
  Model(const Settings& settings, const std::string& placement);
  bool done() const { return trial_.done(); }
  /// Its last loss was not finite or above the lab's limit: it makes no more steps.
  bool diverged() const { return trial_.diverged(); }
  /// One more step; throws when it is done.
  const ModelStep& step();

  const std::string& placement() const { return placement_; }
  const nn::GPT& gpt() const { return *gpt_; }
  const std::vector<ModelStep>& steps() const { return steps_; }
  std::int64_t parameters() const { return gpt_->num_parameters(); }
  /// On the validation set, before training.
  double start_loss() const { return trial_.start_loss(); }
  /// As a run of a lab; measures the loss after training, anew with each call.
  lab::compare::RunRecord record(const Settings& settings) const;

 private:
  std::string placement_;
  std::unique_ptr<nn::GPT> gpt_;  // in one place, which trial_ knows
  lab::Trial trial_;
  optim::Schedule rate_;
  std::vector<ModelStep> steps_ = {};
};

class Session {
 public:
  /// Throws as checked() does.
  explicit Session(const Settings& settings);

  const Settings& settings() const { return settings_; }
  const std::array<Model, 2>& models() const { return models_; }
  /// Both have made all steps, or diverged.
  bool done() const { return models_[0].done() && models_[1].done(); }
  /// One step of each that is not done: what is new, nullptr for one that was done.
  std::array<const ModelStep*, 2> step();
  /// The run, a line for each step of each model.
  std::string csv() const;

 private:
  Settings settings_;
  std::array<Model, 2> models_;
};

/// Sessions that are done, and what the lab says of them.
class Record {
 public:
  /// Keeps the runs of a session that is done, instead of those it had of the same settings. Takes as long as
  /// some steps: losses after training are measured here.
  void add(const Session& session);
  /// The runs of these settings, nullptr where there are none.
  const std::array<lab::compare::RunRecord, 2>* runs(const Settings& settings) const;
  /// How many seeds of these settings are kept.
  std::int64_t seeds(const Settings& settings) const;
  /// The sentence with which a lab of these settings would end, over the seeds kept.
  std::string verdict(const Settings& settings) const;

 private:
  struct Entry {
    Settings settings;
    std::array<lab::compare::RunRecord, 2> runs;
  };
  std::vector<Entry> entries_;
};

/// The loss that no model can beat and the one that counting reaches; what a lab says of its task.
lab::compare::TaskFacts facts();
/// The loss below which a run counts as one that learned: `name` "the 3-gram baseline".
lab::compare::Baseline baseline();

}  // namespace gradus::browser
