#include "docs/draw/lab_figures.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/check.h"
#include "lab/statistics/words.h"

namespace gradus::docs {

namespace {

/// Runs of one placement and depth that learned, over all rates and warm-ups.
std::int64_t learned(const lab::Analysis& analysis, const lab::Placement& placement,
                     std::int64_t layers) {
  std::int64_t count = 0;
  for (const lab::Cell& cell : analysis.grid)
    if (cell.setting.placement == placement && cell.setting.layers == layers) count += cell.learned_count();
  return count;
}

/// "with 2 layers 48 of Pre-LN and 44 of Post-LN, with 6 layers 46 and 20"
std::string counts_by_depth(const lab::Analysis& analysis) {
  std::vector<std::string> parts;
  for (const std::int64_t layers : analysis.options.depths) {
    const bool first = parts.empty();
    parts.push_back(fmt::format("with {} {}{} and {}{}", lab::counted(layers, "layer"),
                                learned(analysis, lab::Placement::pre, layers), first ? " of Pre-LN" : "",
                                learned(analysis, lab::Placement::post, layers), first ? " of Post-LN" : ""));
  }
  return lab::listed(parts);
}

/// Of one placement and one depth, over all rates, warm-ups and seeds.
std::int64_t runs_of_depth(const lab::Analysis& analysis) {
  const lab::LabOptions& options = analysis.options;
  return static_cast<std::int64_t>(options.lrs.size() * options.warmups.size()) * options.seeds;
}

}  // namespace

lab::Results read_lab() { return lab::read_results(GRADUS_LAB_FOLDER, lab::Steps::left_out); }

void record_lab(const std::filesystem::path& from, const std::filesystem::path& to) {
  lab::Results results = lab::read_results(from);
  kit::check(results.complete(), "{}: the lab has not finished", from.string());
  std::erase_if(results.config.machine, [](const auto& fact) {
    return fact.first != "gradus" && fact.first != "kernels" && fact.first != "date";
  });
  lab::write_config(to, results.config);
  std::string lines;
  for (lab::RunRecord& run : results.runs) {
    run.result.seconds = 0;
    lines += lab::result_line(run.options, run.result).json() + "\n";
  }
  kit::replace_file(to / "metrics.jsonl", lines);
}

std::string lab_sentence(const lab::Analysis& analysis) {
  const lab::LabOptions& options = analysis.options;
  return fmt::format(
      "`./run lab` trains both kinds of block at learning rates from {} to {}, {} and {}, on a language "
      "whose best possible loss is known. Points: final loss above that after {} steps, the mean of {} "
      "seeds; bars: best seed to worst. Of {} runs each, these end below the dotted line, which counting "
      "the last {} characters reaches: {}.",
      kit::number_text(options.lrs.front()), kit::number_text(options.lrs.back()),
      lab::warmup_words(options.warmups.front()), lab::warmup_words(options.warmups.back()),
      options.model.steps, options.seeds, runs_of_depth(analysis), analysis.baseline.n - 1,
      counts_by_depth(analysis));
}

std::string lab_alternative(const lab::Analysis& analysis) {
  const lab::LabOptions& options = analysis.options;
  return fmt::format(
      "Final loss of Pre-LN and Post-LN against learning rates from {} to {} at {} layers, {} and {}; runs "
      "that end below the {}-gram baseline, of {}: {}",
      kit::number_text(options.lrs.front()), kit::number_text(options.lrs.back()),
      lab::listed(options.depths), lab::warmup_words(options.warmups.front()),
      lab::warmup_words(options.warmups.back()), analysis.baseline.n, runs_of_depth(analysis),
      counts_by_depth(analysis));
}

}  // namespace gradus::docs
