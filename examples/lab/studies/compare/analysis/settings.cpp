#include "lab/studies/compare/analysis/settings.h"

#include <fmt/format.h>

#include "gradus/core/check.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

std::string RunOptions::name() const {
  std::string text = fmt::format("{}-L{}-lr{}-w{}-s{}", name_of(placement), layers, lr, warmup, seed);
  if (final_norm) text += *final_norm ? "-norm" : "-nonorm";
  if (residual_scaling) text += "-scaled";
  return text;
}

std::string describe_ablation(const RunOptions& run) {
  if (run.residual_scaling) return "with scaled residual init";
  if (!run.final_norm) return "as it is";
  return *run.final_norm ? "with a final norm" : "without its final norm";
}

std::vector<RunOptions> plan_runs(const Settings& settings) {
  std::vector<RunOptions> runs;
  const auto add_seeds = [&](RunOptions run) {
    for (std::int64_t i = 0; i < settings.seeds; ++i) {
      run.seed = settings.seed + static_cast<std::uint64_t>(i);
      runs.push_back(run);
    }
  };
  for (const std::int64_t layers : settings.depths)
    for (const double lr : settings.lrs)
      for (const std::int64_t warmup : settings.warmups)
        for (const nn::Placement& placement : settings.placements)
          add_seeds({.placement = placement, .layers = layers, .lr = lr, .warmup = warmup});
  for (const nn::Placement& placement : settings.placements) {
    RunOptions run = ablation_setting(settings);
    run.placement = placement;
    if (!placement.leave) {                    // a placement that joins its streams at the end has no choice
      run.final_norm = !placement.final_norm;  // the opposite of the placement's own
      add_seeds(run);
    }
    run.final_norm.reset();
    run.residual_scaling = true;
    add_seeds(run);
  }
  return runs;
}

RunOptions ablation_setting(const Settings& settings) {
  const std::vector<std::int64_t>& depths = settings.depths;
  const std::vector<double>& lrs = settings.lrs;
  return {.layers = depths[depths.size() / 2],
          .lr = lrs[(lrs.size() - 1) / 2],
          .warmup = settings.warmups.front()};
}

void check_number_of_runs(const Settings& settings) {
  const auto count = [](const auto& values) { return static_cast<double>(values.size()); };
  const double runs = (count(settings.depths) * count(settings.lrs) * count(settings.warmups) + 2) * 2 *
                      static_cast<double>(settings.seeds);
  check_input(runs <= static_cast<double>(kMostRuns),
              "depths x rates x warm-ups x seeds make {:.0f} runs, expects at most {}", runs, kMostRuns);
}

}  // namespace gradus::lab::compare
