#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/norms/norms.h"

namespace gradus::lab::norms {

namespace {

std::string seeds_words(std::size_t seeds) {
  return fmt::format("Lines are means over seeds, bands and bars go from the lowest to the highest of {}.",
                     counted(static_cast<std::int64_t>(seeds), "seed"));
}

void add_figure(Page& page, const std::string& name, kit::Panels panels, const std::string& caption) {
  for (kit::LineChart& panel : panels.panels)
    std::erase_if(panel.series, [](const kit::Series& series) { return series.x.empty(); });
  std::erase_if(panels.panels, [](const kit::LineChart& panel) { return panel.series.empty(); });
  if (!panels.panels.empty()) page.figure(name, panels, caption);
}

/// One look for one norm through all charts.
int style_of(const Kind& kind) {
  int style = 0;
  while (kinds()[static_cast<std::size_t>(style)].name != kind.name) ++style;
  return style;
}

// --- rates and losses

// Losses above it are drawn there.
constexpr double kTop = 2.6;

kit::Panels rate_panels(const StudyResults& results, const Setting& setting) {
  kit::Panels panels{.title = "Final loss against learning rate"};
  for (const Stack& stack : setting.stacks) {
    kit::LineChart chart{.title = stack.title,
                         .x_label = "learning rate",
                         .y_label = "final loss (nats per character)",
                         .x_axis = kit::AxisKind::log,
                         .y_low = 0.6,
                         .y_high = kTop,
                         .x_ticks = setting.rates,
                         .references = {{.at = tiny_baseline()}, {.at = *tiny_task().entropy()}}};
    for (const Kind& kind : kinds()) {
      std::vector<std::vector<double>> losses;
      for (const double rate : setting.rates) {
        losses.push_back(finite(at_rate(results, setting.search(stack, kind.name), rate)));
        for (double& loss : losses.back()) loss = std::min(loss, kTop);
      }
      chart.series.push_back(band(kind.title, setting.rates, losses, style_of(kind)));
      chart.series.back().spread = kit::Spread::error_bars;
    }
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

/// "0.1 (7 of 10 seeds), 0.03 (3 of 10 seeds)"
/// "0.1 (7), 0.03 (3)": the largest rates that learn, with the number of seeds.
std::string largest_words(const StudyResults& results, const Search& search) {
  const std::vector<double> rates = finite(largest_rate(results, search, tiny_baseline(), 0));
  std::string words;
  std::vector<double> order = search.rates;
  order.insert(order.begin(), 0);
  for (auto rate = order.rbegin(); rate != order.rend(); ++rate)
    if (const auto count = std::count(rates.begin(), rates.end(), *rate); count > 0)
      words += fmt::format("{}{} ({})", words.empty() ? "" : ", ",
                           *rate > 0 ? kit::number_text(*rate) : std::string("none"), count);
  return words.empty() ? "\u2013" : words;
}

void add_rates(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Which norm, at which rate");
  page.html.paragraph(tiny_words(setting.steps));
  page.html.paragraph(
      "All norms have the same rates, seeds and initial weights; a seed's rate is the best of the other "
      "seeds. BatchNorm takes its statistics over documents and positions, and so lets a model in training "
      "see a little of what comes later; it is judged with running statistics. DyT has its alpha start at "
      "0.5.");
  std::string sentence;
  std::vector<kit::Table> tables;
  for (const Stack& stack : setting.stacks) {
    kit::Table table{
        .caption = stack.title + ": final loss at the chosen rate, largest rate that learns",
        .header = {"Norm", "Final loss (nats)", "Chosen rate", "Largest rate that learns (seeds)"}};
    std::vector<std::pair<double, std::string>> order;
    for (const Kind& kind : kinds()) {
      const Search search = setting.search(stack, kind.name);
      const Found found = best_of(results, search);
      table.rows.push_back(
          {kind.title, mean_and_range(found.values), chosen_rates(found), largest_words(results, search)});
      if (!finite(found.values).empty()) order.emplace_back(mean(finite(found.values)), kind.title);
    }
    std::sort(order.begin(), order.end());
    if (order.size() > 1)
      sentence += fmt::format(" Least with {}: {}, by {:.3f} nats from {}.", stack.title, order[0].second,
                              order[1].first - order[0].first, order[1].second);
    tables.push_back(std::move(table));
  }
  add_figure(page, "rates", rate_panels(results, setting),
             seeds_words(setting.seeds.size()) +
                 " The lines across are the n-gram loss, below which a run has learned, and the entropy; "
                 "losses above 2.6 are drawn at 2.6." +
                 sentence);
  for (const kit::Table& table : tables) page.html.table(table);
}

// --- shift

std::vector<double> shift_numbers(const StudyResults& results, const Setting& setting, const Kind& kind,
                                  const std::string& number) {
  std::vector<double> values;
  for (const std::uint64_t seed : setting.seeds)
    values.push_back(results.number(shift_name(kind.name, seed), number));
  return values;
}

/// Six bands on top of each other are no picture: the tables have the ranges.
kit::Series without_band(kit::Series series) {
  series.low.clear();
  series.high.clear();
  series.markers = false;
  return series;
}

/// What was measured every 20 steps.
kit::Series curve(const StudyResults& results, const Setting& setting, const Kind& kind,
                  const std::string& name, int style) {
  std::vector<std::vector<double>> curves;
  std::vector<double> steps;
  for (const std::uint64_t seed : setting.seeds)
    curves.push_back(results.series(shift_name(kind.name, seed), name));
  for (std::int64_t step = 20; step <= setting.steps; step += 20) steps.push_back(static_cast<double>(step));
  return without_band(band_of_curves(kind.title, curves, style, steps));
}

void add_shift(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Internal covariate shift");
  page.html.paragraph(fmt::format(
      "Pre-LN, 6 layers, all at the rate {}, every 20 steps, on 64 documents that are not trained on. "
      "**Inputs**: how far one update moves means and standard deviations of what each FFN is given, "
      "against its standard deviation. **Gradients**: by how much of itself a block's gradient changes "
      "when the blocks below make their update and it does not (Santurkar et al. 2018, definition 2.1). "
      "Both are means over layers of log10.",
      kit::number_text(kShiftRate)));
  kit::Panels panels{.title = "What one update moves"};
  const std::pair<const char*, const char*> kinds_of[] = {{"inputs", "Inputs of the FFNs"},
                                                          {"gradients", "Gradients of the blocks"}};
  for (const auto& [number, title] : kinds_of) {
    kit::LineChart chart{
        .title = title, .x_label = "step", .y_label = "log10 of the relative change", .series = {}};
    for (const Kind& kind : setting.looked_into)
      chart.series.push_back(curve(results, setting, kind, std::string(number) + "_by_step", style_of(kind)));
    panels.panels.push_back(std::move(chart));
  }
  kit::Table table{
      .caption = "Mean over the training: log10 of the relative change; final loss of these runs",
      .header = {"Norm", "Inputs", "Gradients", "Final loss (nats)"}};
  for (const Kind& kind : setting.looked_into)
    table.rows.push_back({kind.title, mean_and_range(shift_numbers(results, setting, kind, "inputs")),
                          mean_and_range(shift_numbers(results, setting, kind, "gradients")),
                          mean_and_range(shift_numbers(results, setting, kind, "loss"))});
  const auto steadiest = [&](const std::string& number) {
    std::pair<double, std::string> least{1e9, "none yet"};
    for (const Kind& kind : setting.looked_into)
      if (const double value = mean(finite(shift_numbers(results, setting, kind, number)));
          value < least.first)
        least = {value, kind.title};
    return least.second;
  };
  add_figure(
      page, "shift", panels,
      fmt::format("Lines are means over {}. Inputs are steadiest with: {}. The loss is least with: {}.",
                  counted(static_cast<std::int64_t>(setting.seeds.size()), "seed"), steadiest("inputs"),
                  steadiest("loss")));
  page.html.table(table);
}

// --- gradients at the start

// Larger and smaller gradients are drawn at the edge, so that the panels can share their axes.
constexpr double kEdge = 6;

void add_starts(Page& page, const StudyResults& results, const Setting& setting) {
  page.html.heading("Gradients of deep stacks");
  page.html.paragraph(fmt::format(
      "{} layers before the first step, in f64: |dL/dx_l| of each block's output, the loss a mean over 8 "
      "documents. Matrices are N(0, 1/fan_in), or twice that; norm(f(x)) has no shortcut, and without its "
      "norm it is f(x).",
      kStartLayers));
  kit::Panels panels{.title = "Gradient along the stack"};
  kit::Table table{.caption = "Decades between the largest and the smallest gradient", .header = {"Stack"}};
  for (const Kind& kind : setting.looked_into) table.header.push_back(kind.title);
  for (const Start& start : starts()) {
    kit::LineChart chart{.title = start.title, .x_label = "block", .y_label = "log10 |dL/dx|", .series = {}};
    std::vector<std::string> row{start.title};
    for (const Kind& kind : setting.looked_into) {
      std::vector<double> spreads;
      std::vector<std::vector<double>> all;
      for (const std::uint64_t seed : setting.start_seeds) {
        const std::string run = start_name(start.name, kind.name, seed);
        spreads.push_back(results.number(run, "spread"));
        all.push_back(results.series(run, "gradient"));
        for (double& value : all.back()) value = std::clamp(value, -kEdge, kEdge);
      }
      row.push_back(mean_and_range(spreads));
      std::vector<double> blocks;
      for (std::size_t i = 0; i < kStartPoints; ++i)
        blocks.push_back(1 + static_cast<double>(i * (kStartLayers - 1) / (kStartPoints - 1)));
      chart.series.push_back(without_band(band_of_curves(kind.title, all, style_of(kind), blocks)));
    }
    table.rows.push_back(std::move(row));
    panels.panels.push_back(std::move(chart));
  }
  add_figure(
      page, "gradients", panels,
      fmt::format("Lines are means over {}. A level line is a gradient that neither explodes nor vanishes; "
                  "above 10^6 and below 10^-6 it is drawn at the edge, and the table has the numbers.",
                  counted(static_cast<std::int64_t>(setting.start_seeds.size()), "seed")));
  page.html.table(table);
}

}  // namespace

void report(Page& page, const StudyResults& results) {
  const Setting setting = setting_of(results.options);
  add_rates(page, results, setting);
  add_shift(page, results, setting);
  add_starts(page, results, setting);
  page.html.heading("What this does not show");
  page.html.list(
      {"Other widths: with 16 channels a norm's statistics are of 16 numbers, and the mean that RMSNorm "
       "leaves out is a larger part of a token than in a wide model.",
       "DyT as its authors tune it: with an alpha for each place, larger for attention, and wider models.",
       "What scaled initial weights would do for the stacks without a norm; see the study of initial "
       "weights.",
       "Speed: RMSNorm is a little less work than LayerNorm, which counts where it holds a loss level."});
}

}  // namespace gradus::lab::norms
