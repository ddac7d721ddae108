// The page of the study of fine-tuning.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/analysis/statistics.h"
#include "lab/names.h"
#include "lab/studies/bands.h"
#include "lab/studies/fine_tuning/parts.h"

namespace gradus::lab::fine_tuning {

namespace {

/// By rate, of all seeds that are there.
std::vector<std::vector<double>> by_rate(const StudyResults& results, const std::string& placement,
                                         std::int64_t layers, const std::string& series) {
  const Grid grid = grid_of(results.options);
  std::vector<std::vector<double>> values(grid.rates.size());
  for (const std::uint64_t seed : grid.seeds) {
    const std::vector<double> one = results.series(run_name(placement, layers, seed), series);
    for (std::size_t i = 0; i < one.size() && i < values.size(); ++i) values[i].push_back(one[i]);
  }
  return values;
}

bool any_of(const StudyResults& results, std::int64_t layers) {
  for (const std::string& placement : kPlacements)
    if (best_place(results, placement, layers) >= 0) return true;
  return false;
}

kit::Panels panels_of(const StudyResults& results, const std::string& series, const std::string& title,
                      const std::string& y_label) {
  const Grid grid = grid_of(results.options);
  kit::Panels panels{.title = title};
  for (const std::int64_t layers : grid.depths) {
    if (!any_of(results, layers)) continue;
    kit::LineChart chart{.title = fmt::format("{} layers", layers),
                         .x_label = "rate of fine-tuning",
                         .y_label = y_label,
                         .x_axis = kit::AxisKind::log};
    for (std::size_t i = 0; i < kPlacements.size(); ++i)
      chart.series.push_back(band(kPlacements[i], grid.rates,
                                  by_rate(results, kPlacements[i], layers, series), static_cast<int>(i)));
    if (series == "loss") chart.references = {{.at = *second_task().entropy(), .label = "least possible"}};
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

using OfSeed = double (*)(const StudyResults&, const std::string&, std::int64_t, std::uint64_t);

std::vector<double> values_by_seed(const StudyResults& results, const std::string& placement,
                                   std::int64_t layers, OfSeed of) {
  std::vector<double> values;
  for (const std::uint64_t seed : grid_of(results.options).seeds)
    values.push_back(of(results, placement, layers, seed));
  return finite(values);
}

double first_loss(const StudyResults& results, const std::string& placement, std::int64_t layers,
                  std::uint64_t seed) {
  return results.number(run_name(placement, layers, seed), "first-loss");
}
double second_start(const StudyResults& results, const std::string& placement, std::int64_t layers,
                    std::uint64_t seed) {
  return results.number(run_name(placement, layers, seed), "second-start");
}

void add_settings(Page& page, const Grid& grid) {
  page.html.heading("The two languages");
  page.html.paragraph(
      fmt::format("GPTs of 32 channels and 4 heads learn the recall language of 4 boxes with 6 things each: "
                  "Adam, {} steps of 16 "
                  "documents, warm-up over {}, the best of the rates {} for each seed. Then they learn "
                  "another of as many "
                  "characters, 7 boxes with 3 things, so that most characters change their meaning while the "
                  "skill, to look back "
                  "for a box, stays: {} steps, no warm-up, a new Adam, the rates {}. Least possible losses "
                  "are {} and {} nats.",
                  grid.first_steps, grid.warmup, listed(grid.first_rates), grid.steps, listed(grid.rates),
                  nats(*recall_task().entropy()), nats(*second_task().entropy())));
}

void add_table(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  kit::Table table{
      .caption = "Mean, and range over seeds, of losses in nats per character",
      .header = {"Layers", "Placement", "First language", "Second, before", "Second, after, best rate",
                 "Best rate", "Above its best, mean over rates", "First language rises by", "Diverged runs"}};
  for (const std::int64_t layers : grid.depths)
    for (const std::string& placement : kPlacements) {
      const int place = best_place(results, placement, layers);
      if (place < 0) continue;
      double diverged = 0;
      for (const std::vector<double>& of_rate : by_rate(results, placement, layers, "diverged"))
        for (const double one : of_rate) diverged += one;
      const auto words = [&](OfSeed of) {
        return mean_and_range(values_by_seed(results, placement, layers, of));
      };
      table.rows.push_back({std::to_string(layers), placement, words(first_loss), words(second_start),
                            words(end), kit::number_text(grid.rates[static_cast<std::size_t>(place)], 2),
                            words(sensitivity), words(forgetting), kit::number_text(diverged, 3)});
    }
  page.html.table(table);
}

/// "Post-LN ends 0.1 nats higher on 8 of 10 seeds".
std::string difference_sentence(const StudyResults& results, std::int64_t layers, OfSeed of,
                                const char* what) {
  std::vector<double> differences;
  for (const std::uint64_t seed : grid_of(results.options).seeds)
    differences.push_back(of(results, "Post-LN", layers, seed) - of(results, "Pre-LN", layers, seed));
  const Difference d = difference_of(finite(differences));
  if (d.count == 0) return {};
  return fmt::format("{} layers: {} is {} nats {} in Post-LN in the mean, {} on {} of {} seeds. ", layers,
                     what, kit::number_text(std::abs(d.mean), 2), d.mean > 0 ? "higher" : "lower",
                     d.side() > 0 ? "higher" : "lower", d.agreeing(), d.count);
}

void add_charts(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const kit::Panels loss = panels_of(results, "loss", "Loss on the second language after fine-tuning",
                                     "loss (nats per character)");
  if (loss.panels.empty()) return page.html.paragraph("No run is done yet.");
  std::string ends, cares, forgets;
  for (const std::int64_t layers : grid.depths) {
    ends += difference_sentence(results, layers, end, "the loss at the best rate");
    cares += difference_sentence(results, layers, sensitivity, "the mean loss above the best");
    forgets += difference_sentence(results, layers, forgetting, "the rise at the best rate");
  }
  page.html.heading("After fine-tuning");
  page.figure("loss", loss, ends + cares + band_words(grid.seeds.size()));
  page.figure("forgetting",
              panels_of(results, "forgetting", "What is forgotten of the first", "rise of its loss (nats)"),
              forgets + band_words(grid.seeds.size()));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  add_settings(page, grid_of(results.options));
  add_table(page, results);
  add_charts(page, results);
  page.html.heading("What this does not show");
  page.html.list(
      {"Fine-tuning of large models on small sets, where papers see seeds fail: here data is unlimited.",
       "Warm-up in fine-tuning, frozen layers, adapters, weight decay.",
       "A placement that was pre-trained less well begins behind: the first column of losses says by how "
       "much. The "
       "comparison is of the whole recipe, not of fine-tuning from equal models, which two placements cannot "
       "have.",
       "Forgetting is measured at each placement's own best rate: a higher rate forgets more in either."});
}

}  // namespace gradus::lab::fine_tuning
