#pragma once
// The results of the runs: the input of analysis and report.

#include <optional>
#include <string>
#include <vector>

#include "lab/studies/compare/analysis/settings.h"
#include "lab/studies/jacobian.h"
#include "lab/training/task.h"

namespace gradus::lab::compare {

/// Facts about the task for a reader of the results.
struct TaskFacts {
  std::string name;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::optional<double> entropy;  // unknown for a text file
  double context_free_loss = 0;   // Task::context_free_loss
  NgramBaseline ngram;
};

TaskFacts facts_of(const Task& task);

/// A training that has finished.
struct RunRecord {
  RunOptions options;
  std::optional<double> final_loss;         // on the validation set; nothing when diverged
  std::optional<std::int64_t> diverged_at;  // the step whose loss was not finite, or far above the start's
  double start_loss = 0;                    // on the validation set, before training
  std::string parameters_sha256 = {};
  double seconds = 0;
  std::vector<double> losses = {};      // by step; the last may be NaN when diverged
  std::vector<double> grad_norms = {};  // by step, of all gradients together
};

/// Stacks of one placement, depth and kind of weights before the first step: means over seeds, the standard
/// deviation of the headline figure, and shares by seed.
struct InitialState {
  nn::Placement placement;
  std::string scheme = "xiong";  // of weight_schemes()
  std::int64_t layers = 0;
  // E|x_l|^2 / d after block l = 1..L (Post-LN: before the block's last norm)
  std::vector<double> norm_squared = {};
  std::vector<double> gradient = {};             // |dL/dW2| of block l = 1..L
  std::vector<double> activation_gradient = {};  // |dL/dx_l|, x_l the output of block l = 1..L
  double top_gradient = 0;                       // |dL/dW2| of the last block, which Theorem 1 bounds
  double top_gradient_std = 0;                   // over seeds
  // By seed, the first block's gradient over the last one's, for weights and activations: seeds differ by a
  // power of ten and more, so a mean says little.
  std::vector<double> weight_share = {}, activation_share = {};
  // |dL/dW2| of block l over that of the last block, l = 1..L: median, lowest and highest of the seeds.
  std::vector<double> median = {}, low = {}, high = {};
};

/// All that is measured before the first step.
struct Initialisation {
  std::vector<InitialState> states;   // of Xiong et al.'s weights: two per depth, one for each placement
  std::vector<InitialState> schemes;  // of several weights at one depth: two per kind
  JacobianCheck jacobian;
};

struct Results {
  Settings settings;
  TaskFacts task;
  std::optional<Initialisation> initialisation;  // nothing until all of it has finished
  std::vector<RunRecord> runs;                   // finished, in the order of the plan
  bool complete() const { return initialisation && runs.size() == plan_runs(settings).size(); }
};

}  // namespace gradus::lab::compare
