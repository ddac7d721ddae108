#include "docs/pictures/lab_figures.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gradus/core/format.h"
#include "kit/axis.h"
#include "kit/files.h"
#include "lab/names.h"

namespace gradus::docs {

namespace {

using nn::Placement;

/// Runs of one placement and depth that learned, over all rates; with one warm-up, or with all.
std::int64_t learned(const lab::Analysis& analysis, Placement placement, std::int64_t layers,
                     std::optional<std::int64_t> warmup = {}) {
  std::int64_t count = 0;
  for (const lab::Cell& cell : analysis.grid)
    if (cell.setting.placement == placement && cell.setting.layers == layers &&
        (!warmup || cell.setting.warmup == *warmup))
      count += cell.learned_count();
  return count;
}

/// "with 2 layers 48 of Pre-LN and 44 of Post-LN, with 6 layers 46 and 20"
std::string counts_by_depth(const lab::Analysis& analysis) {
  std::vector<std::string> parts;
  for (const std::int64_t layers : analysis.options.depths) {
    const bool first = parts.empty();
    parts.push_back(fmt::format("with {} {}{} and {}{}", lab::counted(layers, "layer"),
                                learned(analysis, Placement::pre, layers), first ? " of Pre-LN" : "",
                                learned(analysis, Placement::post, layers), first ? " of Post-LN" : ""));
  }
  return lab::listed(parts);
}

/// Of one placement, one depth and one warm-up.
std::int64_t runs_of_warmup(const lab::Analysis& analysis) {
  return static_cast<std::int64_t>(analysis.options.lrs.size()) * analysis.options.seeds;
}

}  // namespace

lab::Results read_lab() { return lab::read_results(GRADUS_LAB_FOLDER); }

void record_lab(const std::filesystem::path& from, const std::filesystem::path& to) {
  lab::Results results = lab::read_results(from);
  check(results.complete(), "{}: the lab has not finished", from.string());
  std::erase_if(results.config.machine, [](const auto& fact) {
    return fact.first != "gradus" && fact.first != "kernels" && fact.first != "date";
  });
  lab::write_config(to, results.config);
  std::string lines;
  for (lab::RunRecord& run : results.runs) {
    run.result.seconds = 0;
    lines += lab::result_line(run.options, run.result).dump() + "\n";
  }
  kit::replace_file(to / "metrics.jsonl", lines);
}

std::string lab_sentence(const lab::Analysis& analysis) {
  const lab::LabOptions& options = analysis.options;
  const std::int64_t deepest = options.depths.back(), least = options.warmups.front(),
                     most = options.warmups.back();
  return fmt::format(
      "What `./run lab` finds on its built-in language, where the best possible loss is known: final loss "
      "above that "
      "bound after {} steps; points are means of {} seeds, bars go from the best seed to the worst. Of {} "
      "runs each, "
      "these end below the dotted line, the best that counting the last {} characters gives: {}. Warm-up: "
      "with {}, {} "
      "of {} Post-LN runs end there {}, {} {}; of Pre-LN {} and {}.",
      options.model.steps, options.seeds,
      runs_of_warmup(analysis) * static_cast<std::int64_t>(options.warmups.size()), analysis.baseline.n - 1,
      counts_by_depth(analysis), lab::counted(deepest, "layer"),
      learned(analysis, Placement::post, deepest, least), runs_of_warmup(analysis), lab::warmup_words(least),
      learned(analysis, Placement::post, deepest, most), lab::warmup_words(most),
      learned(analysis, Placement::pre, deepest, least), learned(analysis, Placement::pre, deepest, most));
}

std::string lab_alternative(const lab::Analysis& analysis) {
  return fmt::format(
      "Final loss of Pre-LN and Post-LN against learning rate at {} layers, {}; runs that end below the "
      "{}-gram "
      "baseline, of {}: {}",
      lab::listed(analysis.options.depths),
      lab::warmup_words(analysis.options.warmups.front()) + " and " +
          lab::warmup_words(analysis.options.warmups.back()),
      analysis.baseline.n,
      runs_of_warmup(analysis) * static_cast<std::int64_t>(analysis.options.warmups.size()),
      counts_by_depth(analysis));
}

}  // namespace gradus::docs
