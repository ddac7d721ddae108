// The page of the study `size`: charts against width and depth, losses against the rate, tables.

#include <fmt/format.h>

#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/statistics/outcomes.h"
#include "lab/studies/best/best.h"
#include "lab/studies/size/size.h"

namespace gradus::lab::sizes {

namespace {

using kit::fixed_text;
using kit::number_text;

const std::string kDash = "\u2013";

void add_setting(Page& page, const Grid& grid) {
  page.html.heading("The setting");
  page.html.key_values(
      "Settings of all runs",
      {{"model", "GPT, heads of 8 channels, FFN four times as wide, final norm as in each placement"},
       {"initial weights", "N(0, 1/fan_in), matrices into the stream over sqrt(2L)"},
       {"task", "recall language, 32 characters, 10 boxes of 5 things, a chain of two"},
       {"optimizer", "Adam, betas 0.9 and 0.999, no decay, no clipping"},
       {"steps and batch", fmt::format("{} steps of 4 lines", grid.steps)},
       {"warm-up", fmt::format("{} steps, linear; the rate is constant after it", grid.warmup)},
       {"rates", listed(grid.rates())},
       {"z-loss", "0.0001 times the mean of (log Z)\u00b2 is added to the loss of training"}});
  kit::Table table{.caption = "Sizes, and the numbers of their seeds",
                   .header = {"", "All rates, warm-up", "The other variants", "Search for the best rate"}};
  for (const SizeSeeds& one : grid.sizes)
    table.rows.push_back({one.size.title(), std::to_string(one.judging),
                          one.others > 0 ? std::to_string(one.others) : kDash,
                          std::to_string(one.searching)});
  page.html.table(table);
  page.html.paragraph(fmt::format(
      "Sizes, rates, steps and seeds were fixed before the first run. Rates and steps are the same in all "
      "sizes, so that sensitivities can be compared; large models have fewer seeds, which smaller models "
      "have, too. Each variant differs from training with warm-up in one thing. A run **fails** when it "
      "ends at {} or above, the loss of predicting without context; it **trains** when it ends below {}, "
      "that of the best n-gram; the language's own loss is {}.",
      fixed_text(best::task().context_free_loss(), 3), fixed_text(best::learned_loss(), 3),
      fixed_text(best::task().entropy().value(), 3)));
  page.html.paragraph(fmt::format(
      "Two figures say how much the rate matters. **Sensitivity** is the mean loss over the rates minus the "
      "lowest (Wortsman et al. 2023). A mean over failed and surviving runs is no figure, so a seed on which "
      "a run fails has no sensitivity. The **range near the best** reaches over the rates whose loss is "
      "within {} nats of the lowest on the same seed, in steps of half a decade, with ends interpolated "
      "between rates: a failed run is not near, so this range also exists where rates fail. "
      "Slopes are by least squares over the logarithm of the size, one for each seed, from the sizes that "
      "are run with it, at least three.",
      number_text(kNear)));
}

/// A figure against the width or the depth: a panel for each variant.
kit::Panels by_size(const StudyResults& results, const Grid& grid, const Line& line, const std::string& title,
                    const std::string& y_label, BySeed (Sweep::*figure)() const) {
  return panels(title, kVariants, [&](const Titled& variant) {
    kit::LineChart chart{.title = variant.title,
                         .x_label = line.name == "width" ? "width" : "layers",
                         .y_label = y_label,
                         .x_axis = kit::AxisKind::log,
                         .y_low = 0,
                         .x_ticks = line.x};
    chart.series = lines(kPlacements, line.x, [&](const std::string& placement, double x) {
      const auto place = std::find(line.x.begin(), line.x.end(), x) - line.x.begin();
      const Size& size = line.sizes[static_cast<std::size_t>(place)];
      return (Sweep(results, grid, {placement, size, variant.name}).*figure)().values;
    });
    return chart;
  });
}

/// Loss against the rate: a line for each of some arms, without failed runs.
kit::LineChart loss_by_rate(const StudyResults& results, const Grid& grid, const std::string& title,
                            const std::vector<std::pair<std::string, Arm>>& arms) {
  kit::LineChart chart{.title = title,
                       .x_label = "learning rate",
                       .y_label = "nats per character",
                       .x_axis = kit::AxisKind::log,
                       .x_ticks = {1e-4, 1e-3, 1e-2}};
  int style = 0;
  for (const auto& [name, arm] : arms) {
    std::vector<std::vector<double>> losses = Sweep(results, grid, arm).by_rate();
    for (std::vector<double>& at_rate : losses) at_rate = best::without_failed(at_rate);
    kit::Series series = band(name, grid.rates(), losses, style++);
    series.spread = kit::Spread::error_bars;
    if (!series.x.empty()) chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return chart;
  chart.references = {{.at = best::learned_loss(), .label = "best n-gram"},
                      {.at = best::task().entropy().value(), .label = "language"}};
  return chart;
}

kit::Panels losses_of_sizes(const StudyResults& results, const Grid& grid) {
  return label_once(panels("Loss against rate, with warm-up", grid.sizes, [&](const SizeSeeds& one) {
    return loss_by_rate(
        results, grid, one.size.title(),
        {{kPlacements[0], {kPlacements[0], one.size}}, {kPlacements[1], {kPlacements[1], one.size}}});
  }));
}

/// At the sizes with all variants that are widest and deepest.
kit::Panels losses_of_variants(const StudyResults& results, const Grid& grid) {
  std::vector<std::pair<std::string, Size>> all;
  for (const Line& line : grid.both_lines()) {
    const auto has_all = [&](const Size& size) {
      return !grid.judging({kPlacements[0], size, kVariants.back().name}).empty();
    };
    const auto last = std::find_if(line.sizes.rbegin(), line.sizes.rend(), has_all);
    if (last == line.sizes.rend()) continue;
    for (const std::string& placement : kPlacements)
      if (std::none_of(all.begin(), all.end(),
                       [&](const auto& one) { return one.first == placement && one.second == *last; }))
        all.emplace_back(placement, *last);
  }
  return label_once(panels("Loss against rate, by variant", all, [&](const auto& one) {
    std::vector<std::pair<std::string, Arm>> arms;
    for (const Titled& variant : kVariants)
      arms.emplace_back(variant.title, Arm{one.first, one.second, variant.name});
    return loss_by_rate(results, grid, one.first + ", " + one.second.title(), arms);
  }));
}

kit::Table figures_table(const StudyResults& results, const Grid& grid) {
  kit::Table table{.caption = "Figures of each model, mean and range over seeds",
                   .header = {"", "Sensitivity", "Range near the best", "Best rate, searched",
                              "Loss there, surviving runs", "At an edge"}};
  for (const Arm& arm : grid.arms()) {
    const Sweep sweep(results, grid, arm);
    if (sweep.losses().empty()) continue;
    std::vector<std::string> row = {arm.title(),
                                    mean_and_range(sweep.sensitivities().values),
                                    mean_and_range(sweep.near_best().values),
                                    kDash,
                                    kDash,
                                    kDash};
    if (const Chosen chosen = chosen_of(results, grid, arm); arm.variant == "warm" && chosen.rate) {
      row[3] = number_text(*chosen.rate);
      row[4] = mean_and_range(chosen.surviving().values);
      row[5] = chosen.searched.at_edge ? "yes" : "no";
    }
    table.rows.push_back(row);
  }
  return table;
}

kit::Table failed_table(const StudyResults& results, const Grid& grid) {
  kit::Table table{.caption = "Failed runs by rate", .header = {""}};
  for (const double lr : grid.rates()) table.header.push_back(number_text(lr));
  for (const Arm& arm : grid.arms()) {
    const Sweep sweep(results, grid, arm);
    if (sweep.losses().empty()) continue;
    table.rows.push_back({arm.title()});
    for (const std::vector<double>& losses : sweep.by_rate()) {
      const Survival survival = survival_of(finite(losses), best::task().context_free_loss());
      table.rows.back().push_back(
          survival.runs == 0 ? kDash : fmt::format("{} of {}", survival.failed, survival.runs));
    }
  }
  return table;
}

void add_charts(Page& page, const StudyResults& results, const Grid& grid) {
  for (const Line& line : grid.both_lines()) {
    const std::string against = " against " + line.name;
    page.figure("sensitivity-by-" + line.name,
                by_size(results, grid, line, "Sensitivity to the rate" + against, "nats per character",
                        &Sweep::sensitivities),
                "Means over the seeds on which no run fails; bars range from the lowest to the highest. A "
                "size has no point where a rate fails on every seed: see the next chart.");
    page.figure(
        "near-by-" + line.name,
        by_size(results, grid, line, "Range of rates near the best" + against, "half decades",
                &Sweep::near_best),
        fmt::format("How far the rates reach that end within {} nats of the best one, of {} half decades. "
                    "Means over seeds; bars range from the lowest to the highest.",
                    number_text(kNear), grid.rates().size() - 1));
  }
  page.figure("loss", losses_of_sizes(results, grid),
              "Means over the seeds whose runs did not fail; bars range from the lowest to the highest. The "
              "shares of failed runs are in the table.");
  page.figure("variants", losses_of_variants(results, grid),
              "The same for training without warm-up, with QK-norm and with z-loss.");
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  add_setting(page, grid);
  page.html.heading("Sensitivity and loss by size");
  add_charts(page, results, grid);
  for (const kit::Table& table : {figures_table(results, grid), failed_table(results, grid)})
    if (!table.rows.empty()) page.html.table(table);
  page.limits(
      {"**Large models.** 256 channels with 6 layers are 5 million parameters; Wortsman et al. go "
       "up to 4.8 billion. Width and depth vary separately, from one small model.",
       "**Rates that scale with width.** The rates are the same in all sizes, as in Wortsman et al. Where "
       "the best rate falls with width, the range of rates does not move with it.",
       "**Seeds that fail.** Sensitivity is that of seeds without failed runs: where the highest rates fail "
       "on all seeds, only the range of rates near the best compares the placements.",
       "**An unbiased sensitivity.** The minimum over rates is taken on the judging seeds themselves, and "
       "the lowest of several noisy losses looks lower than it is. The best loss is at a rate that other "
       "seeds chose.",
       "**A search over everything.** One kind of initial weights and one warm-up for all sizes; QK-norm "
       "and z-loss each alone, and not at the largest width.",
       "**Few seeds.** Five at width 256: an interval of five seeds reaches far.",
       "**Equal training.** All sizes have as many steps: a small model may be further from its end than a "
       "large one."});
}

}  // namespace gradus::lab::sizes
