#include "docs/draw/lab_figures.h"

#include <fmt/format.h>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/compare.h"
#include "lab/studies/studies.h"

namespace gradus::docs {

namespace {

/// The number of runs of one placement and depth that learned, over all rates and warm-ups.
std::int64_t learned(const lab::compare::Analysis& analysis, const nn::Placement& placement,
                     std::int64_t layers) {
  std::int64_t count = 0;
  for (const lab::compare::Cell& cell : analysis.grid)
    if (cell.setting.placement == placement && cell.setting.layers == layers) count += cell.learned_count();
  return count;
}

/// "with 2 layers 48 of Pre-LN and 44 of Post-LN, with 6 layers 46 and 20"
std::string counts_by_depth(const lab::compare::Analysis& analysis) {
  std::vector<std::string> parts;
  for (const std::int64_t layers : analysis.settings.depths) {
    const bool first = parts.empty();
    parts.push_back(fmt::format("with {} {}{} and {}{}", lab::counted(layers, "layer"),
                                learned(analysis, nn::pre_ln(), layers), first ? " of Pre-LN" : "",
                                learned(analysis, nn::post_ln(), layers), first ? " of Post-LN" : ""));
  }
  return lab::listed(parts);
}

/// The number of runs of one placement and depth, over all rates, warm-ups and seeds.
std::int64_t runs_of_depth(const lab::compare::Analysis& analysis) {
  const lab::compare::Settings& settings = analysis.settings;
  return static_cast<std::int64_t>(settings.lrs.size() * settings.warmups.size()) * settings.seeds;
}

}  // namespace

lab::StudyFolder read_lab() { return lab::read_folder(GRADUS_LAB_FOLDER, lab::study_named); }

lab::compare::Analysis analyse_lab() {
  return lab::compare::analyse(lab::compare::results_of(read_lab().results).value());
}

std::string lab_sentence(const lab::compare::Analysis& analysis) {
  const lab::compare::Settings& settings = analysis.settings;
  return fmt::format(
      "`./run lab` trains both kinds of block at learning rates from {} to {}, {} and {}, on a language "
      "whose best possible loss is known. Points: final loss above that after {} steps, the mean of {} "
      "seeds; bars: best seed to worst. Of {} runs each, these end below the dotted line, the loss of "
      "a model that only counts the last {} characters: {}.",
      kit::number_text(settings.lrs.front()), kit::number_text(settings.lrs.back()),
      lab::describe_warmup(settings.warmups.front()), lab::describe_warmup(settings.warmups.back()),
      settings.steps, settings.seeds, runs_of_depth(analysis), analysis.baseline.n - 1,
      counts_by_depth(analysis));
}

std::string lab_alternative(const lab::compare::Analysis& analysis) {
  const lab::compare::Settings& settings = analysis.settings;
  return fmt::format(
      "Final loss of Pre-LN and Post-LN against learning rates from {} to {} at {} layers, {} and {}; runs "
      "that end below the {}-gram baseline, of {}: {}",
      kit::number_text(settings.lrs.front()), kit::number_text(settings.lrs.back()),
      lab::listed(settings.depths), lab::describe_warmup(settings.warmups.front()),
      lab::describe_warmup(settings.warmups.back()), analysis.baseline.n, runs_of_depth(analysis),
      counts_by_depth(analysis));
}

}  // namespace gradus::docs
