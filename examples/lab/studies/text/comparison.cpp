// The plan of the comparisons in the study `text`: a search for each arm, and the runs that judge its choice.

#include "lab/studies/text/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/gradus.h"
#include "lab/studies/pruning/parts.h"
#include "lab/studies/text/text.h"
#include "lab/study/outcome.h"

namespace gradus::lab::real_text {

namespace {

/// A factor of 2 apart.
std::vector<double> ladder_of_rates() {
  return {1.25e-4, 2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2};
}

/// The initial weights of a design; not given: the lab's.
Init init_of(const std::string& scheme) {
  if (scheme == "fan_in") return {};
  return [scaled = scheme == "gpt2"](const nn::GPT& model, std::uint64_t seed) {
    Generator generator(seed);
    nn::init::gpt2_(model, {.residual_layers = scaled ? model.options().layers : 0}, generator);
  };
}

Measured measure_design(const Task& task, const TrialOptions& options, const std::string& scheme,
                        bool drops_layers) {
  nn::GPT model = new_model(task, options, init_of(scheme));
  const TrialResult result = train(task, model, options);
  Measured measured{.numbers = {{"loss", result.final_loss},
                                {"start", result.start_loss},
                                {"diverged", result.diverged ? 1.0 : 0.0},
                                {"context-free", task.context_free_loss()},
                                {"bigram", task.ngram().losses.at(1)}},
                    .series = {{"losses", slice_means(result.losses, kParts)}}};
  if (drops_layers) measured.series["drop"] = pruning::rises_by_dropping(model, task);
  return measured;
}

std::string group_of(const Comparison& comparison, const Arm& arm) {
  return fmt::format("{}-{}-L{}", comparison.name, arm.word, arm.layers);
}

double seconds_of_design(const Comparison& comparison, const Arm& arm, bool judges) {
  const auto layers = static_cast<double>(arm.layers);
  const double dropping = comparison.drops_layers && judges ? 0.014 * layers * layers : 0;
  return seconds_of(arm.layers, comparison.steps) + dropping;
}

/// The runs of an arm that are asked for so far.
std::vector<StudyRun> asked(const StudyOptions& options, const Comparison& comparison, const Choice& choice) {
  const Arm& arm = choice.arm();
  std::vector<StudyRun> runs;
  const auto add = [&](const Design& design, std::uint64_t seed, bool judges) {
    runs.push_back(
        {.name = run_name(comparison, arm, design, seed),
         .seconds = seconds_of_design(comparison, arm, judges),
         .round = judges ? 2U : 1U,
         .measure =
             [text = shared_text(options.data), arm, design, seed, steps = comparison.steps,
              drops_layers = comparison.drops_layers && judges] {
               return measure_design(
                   text->get(),
                   trial_options({arm.placement, arm.layers, design.warmup, design.rate}, steps, seed),
                   design.scheme, drops_layers);
             },
         .group = group_of(comparison, arm)});
  };
  for (std::size_t warmup = 0; warmup < comparison.warmups.size(); ++warmup)
    for (const Searched::Run& run : choice.searched(warmup).runs)
      add(choice.design(warmup, run.setting), run.seed, false);
  for (const std::size_t warmup : choice.judged())
    for (const std::uint64_t seed : comparison.judging) add(*choice.chosen(warmup), seed, true);
  return runs;
}

/// The number of an arm's runs, if no grid grows and the last warm-up is the best.
double expected_runs(const Comparison& comparison, const Arm& arm) {
  const std::size_t settings = comparison.schemes.size() * (comparison.last - comparison.first + 1),
                    search = runs_without_growth(settings, comparison.searching.size(), comparison.kept);
  const std::size_t judged = arm.required + 1 < comparison.warmups.size() ? 2 : 1;
  return static_cast<double>(comparison.warmups.size() * search + judged * comparison.judging.size());
}

std::vector<Comparison> all_comparisons(const StudyOptions& options) {
  return {placements_compared(options), scaling_compared(options)};
}

}  // namespace

std::string Arm::title() const { return fmt::format("{}, {} layers", placement, layers); }

Comparison placements_compared(const StudyOptions& options) {
  Comparison all{.name = "best",
                 .steps = 3000,
                 .schemes = {"gpt2", "fan_in"},
                 .warmups = {0, 500},
                 .ladder = ladder_of_rates(),
                 .first = 1,
                 .last = 7,
                 .searching = seeds_from(options.seed + 130, 3),
                 .judging = seeds_from(options.seed + 230, 12),  // shares: one seed may dissent
                 .kept = {3, 2}};
  std::vector<std::int64_t> depths = {4, 12};
  if (options.budget != Budget::full) {
    depths = {4};
    all.searching.resize(2);
    all.judging.resize(options.budget == Budget::quick ? 1 : 5);
    all.kept = {options.budget == Budget::quick ? std::size_t{1} : std::size_t{2}};
    all.steps = options.budget == Budget::quick ? 20 : 600;
    all.warmups = {0, options.budget == Budget::quick ? 5 : 100};
  }
  if (options.budget == Budget::quick) all.ladder = {2e-3}, all.first = all.last = 0;
  for (const std::int64_t layers : depths) {
    all.arms.push_back({"pre", "Pre-LN", layers, 0});
    all.arms.push_back({"post", "Post-LN", layers, all.warmups.size() - 1});
  }
  return all;
}

Comparison scaling_compared(const StudyOptions& options) {
  Comparison all{.name = "deep",
                 .steps = 800,
                 .schemes = {"gpt2", "small", "fan_in"},
                 .warmups = {100},
                 .ladder = ladder_of_rates(),
                 .first = 3,
                 .last = 6,
                 .searching = seeds_from(options.seed + 140, 3),
                 .judging = seeds_from(options.seed + 250, 10),
                 .kept = {3, 2},
                 .drops_layers = true};
  std::int64_t layers = 24;
  if (options.budget == Budget::standard) {
    layers = 12, all.steps = 300, all.warmups = {50}, all.kept = {2};
    all.searching.resize(2), all.judging.resize(5);
  } else if (options.budget == Budget::quick) {
    layers = 4, all.steps = 20, all.warmups = {5}, all.schemes = {"gpt2", "small"};
    all.ladder = {2e-3}, all.first = all.last = 0;
    all.searching.resize(1), all.judging.resize(1);
  }
  all.arms = {{"pre", "Pre-LN", layers}, {"scaled", "LN-Scaling", layers}};
  return all;
}

std::string run_name(const Comparison& comparison, const Arm& arm, const Design& design, std::uint64_t seed) {
  return fmt::format("{}-{}-w{}-lr{}-s{}", group_of(comparison, arm), design.scheme, design.warmup,
                     design.rate, seed);
}

std::vector<StudyRun> searches_plan(const StudyOptions& options) {
  const StudyResults nothing{options, {}, 0};
  std::vector<StudyRun> runs;
  for (const Comparison& comparison : all_comparisons(options)) {
    check_apart(comparison.searching, comparison.judging);
    for (const Arm& arm : comparison.arms)
      for (StudyRun& run : asked(options, comparison, Choice(nothing, comparison, arm)))
        runs.push_back(std::move(run));
  }
  return runs;
}

Following next(const StudyResults& results) {
  Following following;
  for (const Comparison& comparison : all_comparisons(results.options))
    for (const Arm& arm : comparison.arms)
      following.add(asked(results.options, comparison, Choice(results, comparison, arm)),
                    expected_runs(comparison, arm) * seconds_of_design(comparison, arm, true));
  return following;
}

}  // namespace gradus::lab::real_text
