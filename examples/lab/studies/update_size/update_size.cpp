// Is it the size of updates that breaks Post-LN, and not that of gradients (Liu et al. 2020, Admin; Wang et
// al. 2022, DeepNet)? Measures how far outputs move with the first updates, 6 to 100 layers, and trains
// Post-LN with updates held down to Pre-LN's.

#include "lab/studies/update_size/update_size.h"

#include <fmt/format.h>

#include <cmath>

#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/studies/slope.h"
#include "lab/studies/studies.h"
#include "lab/studies/update_size/stable.h"
#include "lab/training/trial.h"

namespace gradus::lab {

namespace update_size {

std::vector<std::int64_t> depths_of(const StudyOptions& options) {
  if (options.budget == Budget::quick) return {6, 12, 24, 48};
  return {6, 12, 24, 48, 100};
}

std::vector<std::uint64_t> seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed, per_budget(options.budget, 3, 6, 12));
}

bool trains(const StudyOptions& options) { return options.budget != Budget::quick; }

std::string size_name(const std::string& placement, std::int64_t layers, std::uint64_t seed) {
  return fmt::format("size-{}-L{}-s{}", placement, layers, seed);
}

std::string train_name(std::uint64_t seed) { return fmt::format("train-L{}-s{}", kTrainedLayers, seed); }

Runs sizes_of(const StudyResults& results, const std::string& placement, std::int64_t layers) {
  return {results, seeds_of(results.options),
          [&](std::uint64_t seed) { return size_name(placement, layers, seed); }};
}

Runs trained_of(const StudyResults& results) { return {results, seeds_of(results.options), train_name}; }

std::vector<double> growth(const StudyResults& results, const std::string& placement,
                           const std::string& number) {
  const std::vector<std::int64_t> depths = depths_of(results.options);
  std::vector<double> exponents;
  for (const std::uint64_t seed : seeds_of(results.options)) {
    std::vector<double> sizes;
    for (const std::int64_t layers : depths)
      sizes.push_back(results.number(size_name(placement, layers, seed), number));
    exponents.push_back(log_slope(as_doubles(depths), sizes));
  }
  return exponents;
}

namespace {

std::vector<StudyRun> plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : seeds_of(options)) {
    for (const std::int64_t layers : depths_of(options))
      for (const char* placement : kPlacements)
        runs.push_back({.name = size_name(placement, layers, seed),
                        .seconds = 0.018 * static_cast<double>(layers),
                        .measure = [=] { return measure_sizes(placement, layers, seed); }});
    if (trains(options))
      runs.push_back(
          {.name = train_name(seed), .seconds = 40, .measure = [seed] { return measure_training(seed); }});
  }
  for (StudyRun& run : stable_runs({options, {}, 0}).runs) runs.push_back(std::move(run));
  return runs;
}

Figures figures(const StudyResults& results) {
  Figures all;
  const auto add = [&](const char* id, const std::vector<double>& values) {
    for (const double value : values) keep(all, id, value);
  };
  const auto difference = [&](const char* number) {
    return minus(growth(results, "Post-LN", number), growth(results, "Pre-LN", number));
  };
  add("growth.first", difference("update.1"));
  add("growth.later", difference("update.16"));
  add("gradient.post", growth(results, "Post-LN", "gradient"));
  const std::int64_t deepest = depths_of(results.options).back();
  const std::vector<double> post = sizes_of(results, "Post-LN", deepest).by_seed("update.1"),
                            deep = sizes_of(results, "DeepNorm", deepest).by_seed("update.1");
  for (std::size_t s = 0; s < post.size(); ++s) keep(all, "over-deepnorm", std::log10(post[s] / deep[s]));
  add_stable_figures(all, results);
  if (!trains(results.options)) return all;
  const Runs trained = trained_of(results);
  add("larger.first", trained.by_seed("larger.first"));
  const auto surviving = [&](const char* loss) {
    return without_failed(trained.by_seed(loss), recall_task().context_free_loss());
  };
  const std::vector<double> eased = minus(surviving("loss.post"), surviving("loss.held"));
  add("eased.held", eased);
  all.object("eased.held", failed_runs(finite(eased).size(), trained.numbers("loss.held").size()));
  add("learned.held", trained.by_seed("learned.held"));
  return all;
}

}  // namespace

}  // namespace update_size

Study update_size_study() {
  return {.name = "update-size",
          .title = "The size of updates",
          .question = "Is it the size of updates, and not of gradients, that breaks deep Post-LN?",
          .setting =
              "Sizes: models of 64 channels and 4 heads with 6, 12, 24, 48 and 100 layers, before training, "
              "4 documents of the recall language, 16 updates of Adam at rate 0.000001; the root mean square "
              "over the logits of the first batch. Training: 12 layers, 32 channels, 4 heads, 300 steps of "
              "16 documents, Adam at 0.003 without warm-up; a held update moves the batch's logits no "
              "further than Pre-LN's own update at that step. 12 seeds; all arms of a seed have the same "
              "batches, and the same first weights except for those a placement sets itself. Runs that "
              "survive: the same training at rates 0.0001 to 0.03, a quarter of a decade apart; Post-LN "
              "from the lowest up until more than half of five searching seeds fail; twelve other seeds "
              "judge it there and at the largest rate at which none failed, and DeepNorm and Admin at the "
              "rate at which it fails. A run fails when it ends at the loss of predicting without context "
              "or above.",
          .scope = "recall language, width 64 at the start, 32 in training, 300 steps, N(0, 1/fan_in)",
          .plan = update_size::plan,
          .figures = update_size::figures,
          .report = update_size::report,
          .next = update_size::stable_runs};
}

}  // namespace gradus::lab
