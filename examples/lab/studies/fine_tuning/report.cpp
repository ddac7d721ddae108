// The page of the study of fine-tuning.

#include <fmt/format.h>

#include <cmath>

#include "lab/statistics/statistics.h"
#include "lab/studies/fine_tuning/matched.h"
#include "lab/studies/fine_tuning/parts.h"
#include "lab/studies/search.h"

namespace gradus::lab::fine_tuning {

namespace {

kit::Panels panels_of(const StudyResults& results, const std::string& series, const std::string& title,
                      const std::string& y_label) {
  const Grid grid = grid_of(results.options);
  return panels(title, grid.depths, [&](std::int64_t layers) {
    kit::LineChart chart{.title = fmt::format("{} layers", layers),
                         .x_label = "rate of fine-tuning",
                         .y_label = y_label,
                         .x_axis = kit::AxisKind::log};
    int style = 0;
    for (const std::string& placement : kPlacements)
      if (kit::Series line =
              band(placement, grid.rates, by_rate(results, placement, layers, series), style++);
          !line.x.empty())
        chart.series.push_back(std::move(line));
    if (series == "loss") {
      chart.references = {{.at = *second_task().entropy(), .label = "lowest possible"}};
      chart.y_low = *second_task().entropy() - 0.35;  // room for the label below the points
    }
    return chart;
  });
}

/// One number per seed, in their order.
using OfSeeds = std::vector<double> (*)(const StudyResults&, const std::string&, std::int64_t);

/// "0.003 (5 of 7)"
std::string chosen_of(const StudyResults& results, const std::string& placement, std::int64_t layers) {
  Found found{.values = {}, .rates = {}};
  for (const std::optional<std::size_t>& place : best_places(results, placement, layers))
    found.rates.push_back(place ? grid_of(results.options).rates[*place] : kit::nothing);
  return chosen_rates(found);
}

void add_settings(Page& page, const Grid& grid) {
  page.html.heading("The two languages");
  page.html.paragraph(
      fmt::format("GPTs of 32 channels and 4 heads learn the recall language of 4 boxes with 6 things each: "
                  "Adam, {} steps of 16 documents, warm-up over {}, the best of the rates {} for each seed. "
                  "Then they learn another language of as many characters, 7 boxes with 3 things, so most "
                  "characters change their meaning while the skill, looking back for a box, stays the same: "
                  "{} steps, no warm-up, a new Adam, the rates {}, of which each seed takes the one that is "
                  "best on the other seeds. The lowest possible losses are {} and {} nats.",
                  grid.first_steps, grid.warmup, listed(grid.first_rates), grid.steps, listed(grid.rates),
                  nats(*recall_task().entropy()), nats(*second_task().entropy())));
}

void add_table(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  kit::Table table{
      .caption = "Mean, and range over seeds, of losses in nats per character",
      .header = {"Layers", "Placement", "First language", "Second, before", "Second, after, chosen rate",
                 "Chosen rate", "Above that, mean over rates", "First language rises by", "Diverged runs"}};
  for (const std::int64_t layers : grid.depths)
    for (const std::string& placement : kPlacements) {
      if (finite(ends(results, placement, layers)).empty()) continue;
      double diverged = 0;
      for (const std::vector<double>& of_rate : by_rate(results, placement, layers, "diverged"))
        for (const double one : finite(of_rate)) diverged += one;
      const auto words = [&](OfSeeds of) { return mean_and_range(of(results, placement, layers)); };
      const Runs runs(results, grid.seeds,
                      [&](std::uint64_t seed) { return run_name(placement, layers, seed); });
      const auto number = [&](const char* name) { return mean_and_range(runs.numbers(name)); };
      table.rows.push_back({std::to_string(layers), placement, number("first-loss"), number("second-start"),
                            words(ends), chosen_of(results, placement, layers), words(sensitivities),
                            words(forgetting), kit::number_text(diverged, 3)});
    }
  page.html.table(table);
}

/// "6 layers: Post-LN's loss is 0.1 nats higher on average, and higher on 8 of 10 seeds."
std::string difference_sentence(const StudyResults& results, std::int64_t layers, OfSeeds of,
                                const char* what, const char* above = "higher", const char* below = "lower") {
  const Difference d =
      difference_of(paired_difference(of(results, "Post-LN", layers), of(results, "Pre-LN", layers)));
  if (d.count == 0) return {};
  return fmt::format("{} layers: {} is {} nats {} on average, and {} on {} of {} seeds. ", layers, what,
                     kit::number_text(std::abs(d.mean), 2), d.mean > 0 ? above : below,
                     d.side() > 0 ? above : below, d.agreeing(), d.count);
}

void add_charts(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  const kit::Panels loss = panels_of(results, "loss", "Loss on the second language after fine-tuning",
                                     "loss (nats per character)");
  if (loss.panels.empty()) return page.html.paragraph("No run is done yet.");
  std::string lower, cares, forgets;
  for (const std::int64_t layers : grid.depths) {
    lower += difference_sentence(results, layers, ends, "at the best rate, Post-LN's loss");
    cares += difference_sentence(results, layers, sensitivities,
                                 "averaged over the rates, Post-LN's excess over its best loss", "larger",
                                 "smaller");
    forgets += difference_sentence(results, layers, forgetting, "at the best rate, Post-LN's rise in loss",
                                   "larger", "smaller");
  }
  page.html.heading("After fine-tuning");
  page.figure("loss", loss, lower + cares + describe_bands(grid.seeds.size()));
  page.figure("forgetting",
              panels_of(results, "forgetting", "Forgetting of the first language", "rise of its loss (nats)"),
              forgets + "A model that learned the first language less well has less to forget. " +
                  describe_bands(grid.seeds.size()));
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  add_settings(page, grid_of(results.options));
  add_table(page, results);
  add_charts(page, results);
  report_matched(page, results);
  page.limits(
      {"Fine-tuning of large models on small sets, where papers report failing seeds: here data is "
       "unlimited.",
       "Warm-up in fine-tuning, frozen layers, adapters, weight decay.",
       "A placement that was pre-trained less well begins behind: the first column of losses shows by how "
       "much. The comparison is of the whole recipe, not of fine-tuning from equal models, which two "
       "placements cannot have.",
       "At each placement's own best rate, forgetting is not compared fairly: a higher rate forgets more in "
       "either, and a model that learned less has less to forget. Forgetting at equal losses avoids both; "
       "there, Post-LN's pre-training takes more steps, and equal losses are not equal models."});
}

}  // namespace gradus::lab::fine_tuning
