#include "lab/lab.h"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>
#include <map>
#include <set>

#include "gradus/core/io/files.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/kit/chart/axis.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/check.h"
#include "gradus/kit/program/detail/training_folder.h"
#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "lab/files.h"
#include "lab/names.h"
#include "lab/report/report.h"
#include "lab/sha256.h"

namespace gradus::lab {

namespace {

using Path = std::filesystem::path;

template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  kit::print_error(fmt::format(text, std::forward<Args>(args)...) + "\n");
}

Task make_task(const LabOptions& options) {
  kit::check_input(options.text.empty() || !std::filesystem::is_fifo(options.text),
                   "{} is a pipe, expects a file: a lab that goes on reads it again",
                   io::printable(options.text.string()));
  return options.text.empty() ? Task(options.recall) : Task(options.text, options.recall.length);
}

Config make_config(const LabOptions& options, const Task& task) {
  TaskFacts facts = facts_of(task);
  if (!options.text.empty()) facts.sha256 = lab::sha256(kit::read_file(options.text));
  return {options, facts, machine_facts()};
}

constexpr const char* kFiles[] = {"config.json", "initialisation.json", "metrics.jsonl", "report.html",
                                  "summary.json"};

/// A folder of its own for each lab.
Path new_folder(const LabOptions& options) {
  Path folder = options.out;
  if (folder.empty())
    folder = Path("lab-results") / fmt::format("{:%Y-%m-%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
  const std::string name = io::printable(folder.string());
  kit::check_input(
      !std::filesystem::exists(folder / "config.json"),
      "{} has a config.json already: go on with --resume {} if it is a lab's, or choose another folder", name,
      name);
  for (const char* file : kFiles)
    kit::check_input(!std::filesystem::exists(folder / file),
                     "{} holds a {}, which is not of this lab: choose another folder", name, file);
  kit::make_folder(folder);
  return folder;
}

/// Throws what would else be found after the training.
void try_outputs(const char* option, const Path& folder) {
  for (const char* file : kFiles) kit::try_output(option, folder / file, 1 << 16);
  if (std::filesystem::exists(folder / "plots")) kit::try_output(option, folder / "plots" / "x.svg");
}

/// The settings of a lab under way; what is given anew is the number of threads.
LabOptions resumed(const LabOptions& given, const Config& config) {
  LabOptions options = config.options;
  if (given.threads_given) options.threads = given.threads;
  return options;
}

/// A part computed otherwise would not fit the rest bit by bit.
void compare_with_start(const Config& start, const Config& now) {
  kit::check_input(start.task.sha256 == now.task.sha256,
                   "{} has changed since this lab began; start a new one",
                   io::printable(start.options.text.string()));
  for (const char* name : {"gradus", "kernels", "matrix products", "OpenBLAS core"})
    for (const auto& [key, before] : start.machine)
      for (const auto& [other, after] : now.machine)
        if (key == name && other == name && before != after)
          say("note: this lab began with {} {}, now it is {}: results may differ in their last digits", name,
              before, after);
}

std::string plan_in_words(const LabOptions& options, std::size_t runs) {
  return fmt::format("{} runs of {} steps: {} and {}, {} layers, rates {}, warm-up {}, {}, and the ablations",
                     runs, options.model.steps, title_of(options.placements[0]),
                     title_of(options.placements[1]), listed(options.depths), listed(options.lrs),
                     listed(options.warmups), counted(options.seeds, "seed"));
}

/// The runs of the plan that have not finished.
std::vector<RunOptions> open_runs(const std::vector<RunOptions>& plan, const Path& metrics) {
  std::set<std::string> finished;
  for (const RunRecord& run : read_runs(metrics, plan)) finished.insert(run.options.name());
  std::vector<RunOptions> open = plan;
  std::erase_if(open, [&](const RunOptions& run) { return finished.contains(run.name()); });
  return open;
}

/// Measures a few steps at each depth and says how long the open runs will take.
void announce(const Task& task, const LabOptions& options, const std::vector<RunOptions>& open,
              std::size_t planned) {
  say("{}", plan_in_words(options, planned));
  std::map<std::int64_t, double> seconds;  // of a step, by depth
  double total = 0;
  for (const RunOptions& run : open) {
    if (!seconds.contains(run.layers))
      seconds[run.layers] = seconds_per_step(task, options.model, run.layers, options.threads);
    total += seconds[run.layers] * static_cast<double>(options.model.steps);
  }
  if (open.size() < planned) say("{} of them are done already", planned - open.size());
  if (open.empty()) return;
  std::vector<std::string> steps;
  for (const auto& [layers, time] : seconds)
    steps.push_back(fmt::format("{} ms with {}", kit::number_text(1000 * time, 2), counted(layers, "layer")));
  say("a step takes {}; {} at a time: about {} in all", listed(steps), counted(options.threads, "run"),
      kit::human_duration(total / static_cast<double>(options.threads)));
}

void measure_start(const Path& folder, const LabOptions& options) {
  if (std::filesystem::exists(folder / "initialisation.json")) return;
  const auto start = std::chrono::steady_clock::now();
  Initialisation result{measure_initialisation(options.initialisation),
                        check_layer_norm_jacobian(6, options.seed), 0,
                        measure_schemes({.seed = options.seed, .placements = options.placements})};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_initialisation(folder, result);
  say("measured {} kinds of models at initialisation, {} of each, in {}",
      result.states.size() + result.schemes.size(), options.initialisation.seeds,
      kit::human_duration(result.seconds));
}

void print_result(const Path& folder) {
  const Verdict verdict = write_report(folder);
  kit::print(fmt::format("{}\n{}\n", verdict.sentence, (folder / "report.html").string()));
}

/// Whether all is done; otherwise kit::interrupted(). The report shows what there is.
bool measure_and_train(const Path& folder, const Task& task, const LabOptions& options) {
  const std::vector<RunOptions> plan = plan_runs(options);
  const Path metrics = folder / "metrics.jsonl";
  set_num_threads(static_cast<int>(options.threads));
  const std::vector<RunOptions> open = open_runs(plan, metrics);
  try {
    announce(task, options, open, plan.size());
    measure_start(folder, options);
  } catch (const kit::Interrupted&) {
    return false;  // nothing to show yet
  }
  const bool finished = open.empty() || run_all(task, options.model, plan, options.threads, metrics);
  print_result(folder);
  return finished;
}

}  // namespace

int run_lab(const LabOptions& given) {
  const bool resume = !given.resume.empty();
  const std::optional<Config> before = resume ? std::optional(read_config(given.resume)) : std::nullopt;
  const LabOptions options = resume ? resumed(given, *before) : given;
  const Task task = make_task(options);
  const Config config = make_config(options, task);
  const Path folder = resume ? given.resume : new_folder(options);
  const kit::FolderLock lock(folder);
  try_outputs(resume ? "--resume" : "--out", folder);
  if (resume)
    compare_with_start(*before, config);
  else
    write_config(folder, config);

  kit::catch_interrupts();
  const bool finished = measure_and_train(folder, task, options);
  if (!finished) say("stopped; to go on: lab --resume {}", io::printable(folder.string()));
  return kit::interrupt_status();
}

int report_lab(const Path& folder) {
  print_result(folder);
  return 0;
}

}  // namespace gradus::lab
