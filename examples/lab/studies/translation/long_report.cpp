// The part of the page of `translation` on longer training.

#include <fmt/format.h>

#include "lab/statistics/statistics.h"
#include "lab/studies/translation/long_training.h"
#include "lab/studies/translation/translation.h"

namespace gradus::lab::translation {

namespace {

std::vector<std::string> row_of(const std::string& placement, std::int64_t warmup, const Searched& searched,
                                std::optional<double> rate, const std::vector<double>& bleu) {
  return {placement,
          describe_warmup(warmup),
          std::to_string(searched.runs.size()),
          rate ? kit::number_text(*rate) : "not finished",
          !rate              ? ""
          : searched.at_edge ? "yes"
                             : "no",
          mean_and_range(bleu)};
}

}  // namespace

void report_long(Page& page, const StudyResults& results) {
  const LongGrid grid = long_grid_of(results.options);
  page.html.heading("Longer training");
  page.html.paragraph(fmt::format(
      "The same models, {} steps, with {} steps of warm-up or none. For each placement, without and with "
      "warm-up, the rate is searched on other seeds ({}) than those that judge it ({}). Warm-up is compared "
      "only if both placements translate equally well with it, to a tenth of the larger BLEU: otherwise a "
      "placement that translates badly anyway has little to lose.",
      grid.training.steps, grid.warmup, grid.halving.seeds.size(), grid.judging.size()));
  kit::Table table{.caption = "BLEU after longer training: mean (lowest to highest seed)",
                   .header = {"Placement", "", "Runs of the search", "Best rate", "At an edge", "BLEU"}};
  std::vector<double> baselines;
  for (const std::string& placement : kPlacements) {
    const LongTraining training(results, grid, placement);
    table.rows.push_back(
        row_of(placement, grid.warmup, training.searched(true), training.rate(true), training.with()));
    table.rows.push_back(
        row_of(placement, 0, training.searched(false), training.rate(false), training.without()));
    table.rows.push_back({placement, "without warm-up, at the rate that is best with it", "",
                          training.rate(true) ? kit::number_text(*training.rate(true)) : "not finished", "",
                          mean_and_range(training.without_at_same())});
    baselines.push_back(mean(finite(training.with())));
  }
  page.html.table(table);
  if (finite(baselines).size() == kPlacements.size())
    page.html.paragraph(fmt::format("With warm-up, Pre-LN has {} BLEU and Post-LN {}.",
                                    kit::number_text(baselines[0], 3), kit::number_text(baselines[1], 3)));
}

}  // namespace gradus::lab::translation
