#include "lab/studies/compare/compare.h"

#include <map>
#include <mutex>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/analysis/verdict.h"
#include "lab/studies/compare/report/report.h"
#include "lab/studies/compare/start.h"
#include "lab/studies/compare/training.h"
#include "lab/studies/studies.h"
#include "lab/training/trial.h"

namespace gradus::lab {

namespace compare {

namespace {

/// The characters of a text file, or the recall language; read once, by the first run that needs it.
const Task& task_of(const std::filesystem::path& text) {
  if (text.empty()) return recall_task();
  static std::mutex mutex;
  static std::map<std::filesystem::path, Task> tasks;
  const std::lock_guard lock(mutex);
  const auto found = tasks.find(text);
  return found != tasks.end() ? found->second
                              : tasks.emplace(text, Task(text, recall_task().context())).first->second;
}

Measured measure_task(const std::filesystem::path& text) {
  const TaskFacts facts = facts_of(task_of(text));
  return {.numbers = {{"vocabulary", static_cast<double>(facts.vocabulary)},
                      {"context", static_cast<double>(facts.context)},
                      {"entropy", facts.entropy.value_or(NAN)},
                      {"context-free-loss", facts.context_free_loss},
                      {"ngram", facts.ngram.n},
                      {"ngram-loss", facts.ngram.loss}},
          .series = {{"ngram-losses", facts.ngram.losses}},
          .texts = {{"name", facts.name}}};
}

TaskFacts task_from(const StudyResults& results) {
  const auto number = [&](const char* name) { return results.number("task", name); };
  TaskFacts facts{.name = results.text("task", "name"),
                  .vocabulary = static_cast<std::int64_t>(number("vocabulary")),
                  .context = static_cast<std::int64_t>(number("context")),
                  .entropy = {},
                  .context_free_loss = number("context-free-loss"),
                  .ngram = {static_cast<int>(number("ngram")), number("ngram-loss"),
                            results.series("task", "ngram-losses")}};
  if (const double entropy = number("entropy"); !std::isnan(entropy)) facts.entropy = entropy;
  return facts;
}

Measured measure_jacobian(std::uint64_t seed) {
  const JacobianCheck check = check_layer_norm_jacobian(6, seed);
  return {.numbers = {{"error", check.max_error},
                      {"mean-only", check.wrong_mean_only},
                      {"constant-sigma", check.wrong_constant_sigma}}};
}

/// Nothing until all of the initialisation has finished.
std::optional<Initialisation> initialisation_from(const StudyResults& results, const Settings& settings) {
  if (!results.has("jacobian")) return std::nullopt;
  std::vector<InitialState> states;
  for (const StartOptions& start : plan_starts(settings.placements, settings.seed)) {
    if (!results.has(start.name())) return std::nullopt;
    states.push_back(state_of(start, results));
  }
  return initialisation_of(states, {.max_error = results.number("jacobian", "error"),
                                    .wrong_mean_only = results.number("jacobian", "mean-only"),
                                    .wrong_constant_sigma = results.number("jacobian", "constant-sigma")});
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Settings settings = settings_of(options);
  std::vector<StudyRun> runs;
  runs.push_back({.name = "task", .seconds = 0.1, .measure = [=] { return measure_task(options.data); }});
  runs.push_back(
      {.name = "jacobian", .seconds = 0.01, .measure = [=] { return measure_jacobian(settings.seed); }});
  for (const StartOptions& start : plan_starts(settings.placements, settings.seed))
    runs.push_back({.name = start.name(),
                    .seconds = 0.01 * static_cast<double>(start.layers),
                    .measure = [=] { return measured_of(measure_start(start)); }});
  for (const RunOptions& run : plan_runs(settings))
    runs.push_back({.name = run.name(),
                    // embeddings and head count as one more layer
                    .seconds = 6e-4 * static_cast<double>((run.layers + 1) * settings.steps),
                    .round = 1 + run.seed - settings.seed,
                    .measure = [=] { return measure_training(task_of(options.data), run, settings.steps); }});
  return runs;
}

/// The figures of the comparison. Claims are about Pre-LN, Post-LN and the recall language.
Figures figures(const StudyResults& measured) {
  const std::optional<Results> results = results_of(measured);
  Figures all;
  if (!results || !pre_and_post(results->settings.placements) || !results->task.entropy) return all;
  const Comparisons comparisons = comparisons_of(analyse(*results));
  all["learned"] = comparisons.learned.values;
  all["loss"] = comparisons.loss.values;
  for (const BestOfDepth& best : comparisons.best)
    all["best.L" + std::to_string(best.layers)] = best.comparison.values;
  for (const Comparison& deepest : comparisons.deepest) all["sensitivity"] = deepest.values;
  return all;
}

Conclusion conclude(const StudyResults& measured) {
  const Settings settings = settings_of(measured.options);
  const Placements& two = settings.placements;
  Conclusion conclusion{.title = two[0].name + " or " + two[1].name + "?",
                        .question = question_of(settings, 0),
                        .sentence = "Nothing has been measured yet.",
                        .findings = {}};
  const std::optional<Results> results = results_of(measured);
  if (!results) return conclusion;
  conclusion.question = question_of(settings, results->runs.size());
  Verdict verdict = verdict_of(analyse(*results), results->initialisation);
  conclusion.sentence = std::move(verdict.sentence);
  conclusion.findings = std::move(verdict.findings);
  return conclusion;
}

void report(Page& page, const StudyResults& measured) {
  if (const std::optional<Results> results = results_of(measured)) draw_report(page, *results);
}

}  // namespace

std::optional<Results> results_of(const StudyResults& measured) {
  if (!measured.has("task")) return std::nullopt;
  Results results{.settings = settings_of(measured.options),
                  .task = task_from(measured),
                  .initialisation = {},
                  .runs = {}};
  results.initialisation = initialisation_from(measured, results.settings);
  for (const RunOptions& run : plan_runs(results.settings))
    if (measured.has(run.name())) results.runs.push_back(record_of(run, measured));
  return results;
}

}  // namespace compare

Study compare_study() {
  return {.name = "compare",
          .title = "Pre-LN or Post-LN?",
          .question = "Which of two placements trains more reliably, at which depths, rates and warm-ups?",
          .setting =
              "2, 6 and 12 layers of width 32, rates 0.001, 0.003, 0.01 and 0.03, without warm-up and with "
              "100 steps of it, 400 steps; both placements with the same weights and batches, seed by seed.",
          .scope = "recall language, width 32, 400 steps, N(0, 1/fan_in)",
          .plan = compare::plan,
          .figures = compare::figures,
          .report = compare::report,
          .conclude = compare::conclude,
          .data = "a text file",
          .needs_data = false,
          .files = [](const std::filesystem::path& text) {
            check_input(!std::filesystem::is_fifo(text),
                        "{} is a pipe, expects a file: a resumed study reads it again",
                        io::printable(text.string()));
            compare::task_of(text);  // throws if it is not a text, before anything is written
            return std::vector{text};
          }};
}

}  // namespace gradus::lab
