#pragma once
// What a lab keeps in its folder, and reading it back: a report is drawn from these files alone.
//
//   config.json          settings, task, machine       written when the lab starts; --resume goes by it
//   initialisation.json  what phase 1 measured
//   metrics.jsonl        a line a step, a line a run   (sweep.h)
//   summary.json, report.html, plots/*.svg             (summary.h, report.h) drawn from the others

#include <string>
#include <utility>

#include "lab/options.h"
#include "lab/start/schemes.h"
#include "lab/training/sweep.h"

namespace gradus::lab {

/// What a reader of the results needs to know of the task.
struct TaskFacts {
  std::string name;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::optional<double> entropy;  // unknown for a text file
  double context_free_loss = 0;   // Task::context_free_loss
  NgramBaseline ngram;
  std::string sha256;  // of the text file; empty for the recall language
};

using Facts = std::vector<std::pair<std::string, std::string>>;  // names and values

struct Config {
  LabOptions options;
  TaskFacts task;
  Facts machine;
};

/// Versions, instruction sets, the machine and the date.
Facts machine_facts();

void write_config(const std::filesystem::path& folder, const Config& config);
/// Throws naming the file when it is missing or no lab's.
Config read_config(const std::filesystem::path& folder);

/// Phase 1.
struct Initialisation {
  std::vector<InitialState> states;
  JacobianCheck jacobian;
  double seconds = 0;
  std::vector<SchemeState> schemes = {};  // none in folders of older versions
};

void write_initialisation(const std::filesystem::path& folder, const Initialisation& initialisation);

/// All there is in a folder; phase 1 and runs may be missing when the lab was stopped.
struct Results {
  Config config;
  std::optional<Initialisation> initialisation;
  std::vector<RunRecord> runs;  // finished, in the order of the plan
  bool complete() const { return initialisation && runs.size() == plan_runs(config.options).size(); }
};

/// Whether metrics.jsonl has the lines of single steps; a record of a lab's results does without.
enum class Steps { written, left_out };
/// Throws where a run's steps are not as many as it made.
Results read_results(const std::filesystem::path& folder, Steps steps = Steps::written);

}  // namespace gradus::lab
