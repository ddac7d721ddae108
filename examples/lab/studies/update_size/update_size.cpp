// Is it the size of updates that breaks Post-LN, and not that of gradients (Liu et al. 2020, Admin; Wang et
// al. 2022, DeepNet)? By how much outputs move with the first updates, 6 to 100 layers; and training Post-LN
// with updates held down to Pre-LN's.

#include "lab/studies/update_size/update_size.h"

#include <fmt/format.h>

#include <cmath>

#include "lab/studies/slope.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

namespace update_size {

std::vector<std::int64_t> depths_of(const StudyOptions& options) {
  if (options.budget == Budget::quick) return {6, 12, 24, 48};
  return {6, 12, 24, 48, 100};
}

std::vector<std::uint64_t> seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed, options.budget == Budget::quick  ? 3
                                  : options.budget == Budget::full ? 12
                                                                   : 6);
}

bool trains(const StudyOptions& options) { return options.budget != Budget::quick; }

std::string size_name(const std::string& placement, std::int64_t layers, std::uint64_t seed) {
  return fmt::format("size-{}-L{}-s{}", placement, layers, seed);
}

std::string train_name(std::uint64_t seed) { return fmt::format("train-L{}-s{}", kTrainedLayers, seed); }

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
  return runs;
}

/// How a number grows with depth, as a power, at one seed; NaN until all depths are there.
double growth(const StudyResults& results, const char* placement, const char* number, std::uint64_t seed) {
  std::vector<double> depths, sizes;
  for (const std::int64_t layers : depths_of(results.options)) {
    depths.push_back(static_cast<double>(layers));
    sizes.push_back(results.number(size_name(placement, layers, seed), number));
  }
  return log_slope(depths, sizes);
}

Figures figures(const StudyResults& results) {
  Figures all;
  const auto add = [&](const char* id, double value) {
    if (std::isfinite(value)) all[id].push_back(value);
  };
  const std::int64_t deepest = depths_of(results.options).back();
  for (const std::uint64_t seed : seeds_of(results.options)) {
    add("growth.first",
        growth(results, "Post-LN", "update.1", seed) - growth(results, "Pre-LN", "update.1", seed));
    add("growth.later",
        growth(results, "Post-LN", "update.16", seed) - growth(results, "Pre-LN", "update.16", seed));
    add("gradient.post", growth(results, "Post-LN", "gradient", seed));
    add("over-deepnorm", std::log10(results.number(size_name("Post-LN", deepest, seed), "update.1") /
                                    results.number(size_name("DeepNorm", deepest, seed), "update.1")));
    if (!trains(results.options)) continue;
    const auto trained = [&](const char* number) { return results.number(train_name(seed), number); };
    add("larger.first", trained("larger.first"));
    add("eased.held", trained("loss.post") - trained("loss.held"));
    add("learned.held", trained("learned.held"));
  }
  return all;
}

}  // namespace

}  // namespace update_size

Study update_size_study() {
  return {
      .name = "update-size",
      .title = "The size of updates",
      .question = "Is it the size of updates, and not of gradients, that breaks deep Post-LN?",
      .setting =
          "Sizes: models of 64 channels and 4 heads with 6, 12, 24, 48 and 100 layers, before training, 4 "
          "documents of the recall language, 16 updates of Adam at rate 0.000001; the root mean square over "
          "the logits of the first batch. Training: 12 layers, 32 channels, 4 heads, 300 steps of 16 "
          "documents, Adam at 0.003 without warm-up; a held update moves the batch's logits no further than "
          "Pre-LN's own update at that step. 12 seeds; all arms of a seed have the same batches, and the "
          "same first weights but for what a placement sets itself.",
      .scope = "recall language, width 64 at the start, 32 in training, 300 steps, N(0, 1/fan_in)",
      .plan = update_size::plan,
      .figures = update_size::figures,
      .report = update_size::report};
}

}  // namespace gradus::lab
