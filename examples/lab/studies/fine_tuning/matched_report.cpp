// The part of the page on forgetting at equal losses.

#include <fmt/format.h>

#include "lab/studies/fine_tuning/matched.h"
#include "lab/studies/fine_tuning/parts.h"
#include "lab/studies/search.h"

namespace gradus::lab::fine_tuning {

namespace {

std::vector<std::string> names_of(const MatchedGrid& grid, const std::string& placement,
                                  std::int64_t layers) {
  std::vector<std::string> names;
  for (const std::uint64_t seed : grid.seeds) names.push_back(matched_name(placement, layers, seed));
  return names;
}

/// The rises of the first loss where the second comes down to `level`, seed by seed.
std::vector<double> rises_at(const StudyResults& results, const std::vector<std::string>& runs, double rate,
                             double level) {
  std::vector<double> rises;
  for (const std::string& run : runs)
    rises.push_back(value_at(results.series(run, of_rate("second", rate)),
                             results.series(run, of_rate("first", rate)), level) -
                    results.number(run, "first-loss"));
  return rises;
}

kit::Panels rises_chart(const StudyResults& results, const MatchedGrid& grid, double rate) {
  const std::vector<double> levels = {second_target(), 1.4, 1.5, 1.6, 1.8, 2, 2.4};
  return panels(
      fmt::format("Forgetting against the loss on the second language, rate {}", kit::number_text(rate)),
      grid.depths, [&](std::int64_t layers) {
        kit::LineChart chart{.title = counted(layers, "layer"),
                             .x_label = "loss on the second language (nats per character)",
                             .y_label = "rise of the first language's loss (nats)"};
        const auto values = [&](const std::string& placement, double level) {
          return rises_at(results, names_of(grid, placement, layers), rate, level);
        };
        chart.series = lines(kPlacements, levels, values, kit::Spread::band);
        return chart;
      });
}

}  // namespace

void report_matched(Page& page, const StudyResults& results) {
  const MatchedGrid grid = matched_grid_of(results.options);
  page.html.heading("Forgetting at equal losses");
  page.html.paragraph(fmt::format(
      "Other seeds ({}) learn the first language at rate {} after {} steps of warm-up until the mean of the "
      "last 20 batches is {} or below, then the second at equal rates until its loss on the validation set, "
      "measured every {} steps and interpolated, is {}. A run that does not reach both within {} and {} "
      "steps has no forgetting.",
      grid.seeds.size(), kit::number_text(grid.first_rate), grid.warmup, nats(first_target()), grid.every,
      nats(second_target()), grid.first_steps, grid.steps));
  kit::Table table{.caption = "Mean, and range over seeds, of those that reach both losses",
                   .header = {"Layers", "Placement", "Steps of pre-training", "First language, before"}};
  for (const double rate : grid.rates)
    table.header.push_back(fmt::format("Rise at rate {}", kit::number_text(rate)));
  for (const std::int64_t layers : grid.depths)
    for (const std::string& placement : kPlacements) {
      const Runs runs(results, grid.seeds,
                      [&](std::uint64_t seed) { return matched_name(placement, layers, seed); });
      if (runs.numbers("first-loss").empty()) continue;
      std::vector<std::string>& row = table.rows.emplace_back();
      row = {std::to_string(layers), placement, mean_and_range(runs.numbers("first-steps")),
             mean_and_range(runs.numbers("first-loss"))};
      for (const double rate : grid.rates) {
        const std::vector<double> rises = runs.numbers(of_rate("rise", rate));
        row.push_back(fmt::format("{}, {} of {}", mean_and_range(rises), finite(rises).size(),
                                  count_seeds(rises.size())));
      }
    }
  if (table.rows.empty()) return page.html.paragraph("No such run has finished.");
  page.html.table(table);
  const double rate = grid.rates[grid.rates.size() / 2];
  page.figure("forgetting_matched", rises_chart(results, grid, rate),
              "Both placements begin at the same loss on the first language. Training goes from right to "
              "left: where one line is above the other, that placement has forgotten more for the same "
              "learning. " +
                  describe_bands(grid.seeds.size()));
}

}  // namespace gradus::lab::fine_tuning
