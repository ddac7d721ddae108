// The plan of the study `text-variants`: a search for each stack and kind of initial weights, and the runs
// that judge its choice.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "lab/studies/studies.h"
#include "lab/studies/text/text.h"
#include "lab/studies/text_variants/variants.h"
#include "lab/study/outcome.h"
#include "lab/training/weights.h"

namespace gradus::lab {

namespace text_variants {

namespace {

constexpr std::size_t kGrowth = 2;  // rungs by which a search's grid is expected to grow
constexpr std::size_t kParts = 20;  // of a run's series "losses"

/// A training: the stack, its design, and how long.
struct Training {
  const Stack& stack;
  std::string scheme;
  double rate = 0;
  std::int64_t layers = 0, warmup = 0, steps = 0;
  std::uint64_t seed = 0;
};

/// The setting of the study `text`, except for norms and initial weights. Without norms a model may start
/// above the limit at which runs diverge there.
TrialOptions options_of(const Training& training) {
  TrialOptions options = real_text::trial_options(
      {.placement = "Pre-LN", .layers = training.layers, .warmup = training.warmup, .rate = training.rate},
      training.steps, training.seed);
  options.placement = training.stack.placement;
  options.final_norm = training.stack.final_norm;
  options.block.norm = training.stack.norm;
  options.loss_limit = std::numeric_limits<double>::infinity();
  return options;
}

/// The loss of the same weights without the final norm.
double loss_without_final_norm(const Task& task, const nn::GPT& trained, TrialOptions options) {
  options.final_norm = false;
  nn::GPT changed = new_model(task, options);
  changed.load_state_dict(trained.state_dict(), {.strict = false});
  return validation_loss(changed, task);
}

Measured measure(const Task& task, const Training& training) {
  const TrialOptions options = options_of(training);
  nn::GPT model = new_model(task, options, [&](const nn::GPT& gpt, std::uint64_t seed) {
    Generator generator(seed, 0);
    set_weights(gpt, training.scheme, training.layers, generator);
  });
  const TrialResult result = train(task, model, options);
  Measured measured{.numbers = {{"loss", result.final_loss},
                                {"diverged", result.diverged ? 1.0 : 0.0},
                                {"context-free", task.context_free_loss()},
                                {"bigram", task.ngram().losses.at(1)}},
                    .series = {{"losses", slice_means(result.losses, kParts)}}};
  if (training.stack.name == "pre")
    measured.numbers["removed"] = loss_without_final_norm(task, model, options);
  return measured;
}

/// Approximate seconds on one core; the validation set costs as much as about ten steps.
double seconds_of(const Grid& grid, std::int64_t steps) {
  return 0.02 + 2.6e-3 * static_cast<double>(grid.layers * (steps + 10));
}

/// The runs that one stack asks for so far.
std::vector<StudyRun> asked(const std::filesystem::path& data, const Grid& grid, const Found& found) {
  std::vector<StudyRun> runs;
  const auto text = real_text::shared_text(data);
  const auto add = [&](const std::string& name, std::size_t scheme, double rate, std::uint64_t seed,
                       std::int64_t steps, std::uint64_t round) {
    const Training training{found.stack(), grid.schemes[scheme], rate, grid.layers, grid.warmup, steps, seed};
    runs.push_back({.name = run_name(name, training.scheme, rate, seed),
                    .seconds = seconds_of(grid, steps),
                    .round = round,
                    .measure = [text, training] { return measure(text->get(), training); },
                    .group = found.stack().name});
  };
  const std::string& name = found.stack().name;
  for (std::size_t scheme = 0; scheme < grid.schemes.size(); ++scheme)
    for (const Searched::Run& run : found.searched(scheme).runs)
      add(name, scheme, grid.ladder[run.setting.rate], run.seed, grid.steps, 0);
  for (const std::size_t scheme : found.judged())
    for (const std::uint64_t seed : grid.judging) add(name, scheme, found.rate(scheme), seed, grid.steps, 1);
  const std::optional<std::size_t> best = found.best();
  if (name != "pre" || !best) return runs;
  for (const std::uint64_t seed : grid.judging)
    add(kShorter, *best, found.rate(*best), seed, grid.shorter(), 1);
  for (const std::uint64_t seed : grid.floor) add(kLonger, *best, found.rate(*best), seed, grid.longer(), 1);
  return runs;
}

/// Approximate seconds of all runs of a stack.
double expected_seconds(const Grid& grid, const Stack& stack) {
  const std::size_t rates = grid.last - grid.first + 1 + kGrowth,
                    search = runs_without_growth(rates, grid.searching.size(), grid.kept);
  const std::size_t judged = stack.each_scheme ? grid.schemes.size() : 1,
                    runs = grid.schemes.size() * search + judged * grid.judging.size();
  double seconds = static_cast<double>(runs) * seconds_of(grid, grid.steps);
  if (stack.name == "pre")
    seconds += static_cast<double>(grid.judging.size()) * seconds_of(grid, grid.shorter()) +
               static_cast<double>(grid.floor.size()) * seconds_of(grid, grid.longer());
  return seconds;
}

Following next(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Following following;
  for (const Found& found : all_found(results, grid))
    following.add(asked(results.options.data, grid, found), expected_seconds(grid, found.stack()));
  return following;
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  check_apart(grid.searching, grid.judging);
  return next({options, {}, 0}).runs;
}

}  // namespace

}  // namespace text_variants

Study text_variants_study() {
  return {
      .name = "text-variants",
      .title = "Norms, the final norm and wrong blocks on real text",
      .question =
          "On real text, what do initial weights, the final norm, RMSNorm and a block with its norms in the "
          "wrong place cost?",
      .setting =
          "GPTs of 6 blocks and width 64 on characters of tiny Shakespeare: 500 steps of 16 windows of 32, "
          "AdamW with decay 0.1, gradients clipped to 1, 100 steps of linear warm-up, then half a cosine "
          "down to a tenth. Pre-LN, Post-LN, each with RMSNorm, the blocks of the study blocks, and no "
          "norms. Initial weights N(0, 1/fan_in), Xavier, N(0, 0.02\u00B2), T-Fixup's factors; rates 0.002, "
          "0.004 and 0.008, and beyond by factors of 2 where the best is the first or last (0.00025 to "
          "0.064). For each stack and kind of weights all rates on one seed, the best two on two more; "
          "eight other seeds judge the best kind of weights of each stack, and all kinds of Pre-LN, "
          "Post-LN and no norms. Readout: the loss on the last tenth of the text (nats per character), "
          "paired within a seed. Control: Pre-LN in 400 steps; headroom: above Pre-LN in 2000.",
      .scope = "tiny Shakespeare, 6 layers, width 64, 500 steps with warm-up, four kinds of initial weights",
      .plan = text_variants::plan,
      .figures = text_variants::figures,
      .report = text_variants::report,
      .data = "a text file such as tiny Shakespeare, or a folder with tinyshakespeare.txt",
      .files = real_text::files_of,
      .next = text_variants::next};
}

}  // namespace gradus::lab
