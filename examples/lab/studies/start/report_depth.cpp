#include <fmt/format.h>

#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/slope.h"
#include "lab/studies/start/report.h"
#include "lab/training/weights.h"

namespace gradus::lab::start {

namespace {

using Values = std::vector<double>;

Values depths(const StudyResults& results) {
  Values x;
  for (const std::int64_t layers : depths_of(results.options)) x.push_back(static_cast<double>(layers));
  return x;
}

kit::Series by_depth(const StudyResults& results, const std::string& placement, const char* scheme,
                     const char* number, int style) {
  std::vector<Values> values;
  for (const std::int64_t layers : depths_of(results.options))
    values.push_back(over_seeds(results, placement, scheme, layers, number));
  return geometric(band(title_of(placement), depths(results), values, style), values);
}

/// values[block][seed] of curves[seed][block].
std::vector<Values> by_block(const std::vector<Values>& curves) {
  std::vector<Values> blocks;
  for (const Values& curve : curves) {
    blocks.resize(std::max(blocks.size(), curve.size()));
    for (std::size_t i = 0; i < curve.size(); ++i) blocks[i].push_back(curve[i]);
  }
  return blocks;
}

/// band_of_curves() through geometric means.
kit::Series geometric_curves(const std::string& name, const std::vector<Values>& curves, int style) {
  return geometric(band_of_curves(name, curves, style), by_block(curves));
}

const Values kBlockTicks = {1, 8, 16, 24, 32};

void add_series(kit::LineChart& chart, kit::Series series) {
  if (!series.x.empty()) chart.series.push_back(std::move(series));
}

std::string seeds_words(const StudyResults& results) { return band_words(seeds_of(results.options).size()); }

std::string geometric_words(const StudyResults& results) {
  return fmt::format("Lines are geometric means over {}, bands go from the lowest to the highest.",
                     counted(std::ssize(seeds_of(results.options)), "seed"));
}

kit::Series bound(const char* name, double slope, int style) {
  kit::Series series{.name = name, .markers = false, .style = style};
  for (std::int64_t l = 1; l <= kDepth; ++l) {
    series.x.push_back(static_cast<double>(l));
    series.y.push_back(1 + slope * static_cast<double>(l));
  }
  return series;
}

/// What theorem 1's own loss makes of it.
std::string top_sentence(const StudyResults& results) {
  std::vector<std::string> words;
  for (const char* placement : kPlacements) {
    Values tops;
    for (const std::int64_t layers : depths_of(results.options))
      tops.push_back(geometric_mean(over_seeds(results, placement, "xiong", layers, "mean.top")));
    if (finite(tops).size() != tops.size()) return "";
    words.push_back(
        fmt::format("{} in {}", kit::number_text(log_slope(depths(results), tops), 2), title_of(placement)));
  }
  return fmt::format("With the mean over the 8 positions the exponent of L is {}. ", listed(words));
}

/// "grows by 1.3 from 16 to 32 blocks"
std::string size_sentence(const StudyResults& results) {
  const double half = mean(finite(over_seeds(results, "pre", "xiong", kDepth, "size.half")));
  const double last = mean(finite(over_seeds(results, "pre", "xiong", kDepth, "size.last")));
  const double post = mean(finite(over_seeds(results, "post", "xiong", kDepth, "size.last")));
  if (!std::isfinite(half) || !std::isfinite(last)) return "";
  return fmt::format(
      "In Pre-LN |x|²/d is {} after block 16 and {} after block 32: the second half adds {} the first, as {} "
      "growth would. In Post-LN it is {} before the last norm. ",
      kit::number_text(half, 3), kit::number_text(last, 3),
      last - half < 2 * half ? "about as much as" : "more than twice as much as",
      last - half < 2 * half ? "linear" : "faster than linear", kit::number_text(post, 3));
}

}  // namespace

void add_signal(Page& page, const StudyResults& results) {
  page.html.heading("Signal");
  kit::LineChart sizes{.title = "Mean |x|²/d after each block, Xiong et al.'s weights",
                       .x_label = "block",
                       .y_label = "|x|²/d (log scale)",
                       .y_axis = kit::AxisKind::log,
                       .x_ticks = kBlockTicks};
  add_series(sizes, band_of_curves("Pre-LN", curves_of(results, "pre", "xiong", "sizes"), 0));
  add_series(sizes,
             band_of_curves("Post-LN, before its norm", curves_of(results, "post", "xiong", "sizes"), 1));
  if (!sizes.series.empty()) {
    sizes.series.push_back(bound("1 + l/2", 0.5, 2));
    sizes.series.push_back(bound("1 + 3l/2", 1.5, 3));
    page.figure("start-sizes", sizes,
                size_sentence(results) +
                    "1 + l/2 and 1 + 3l/2 are Lemma 2's bounds for Pre-LN. Exponential growth would be a "
                    "straight line. " +
                    seeds_words(results));
  }
  kit::Panels panels{.title = "Cosine between the stream and the input"};
  for (const char* scheme : {"fan_in", "gpt2"}) {
    kit::LineChart chart{.title = weight_scheme(scheme).title,
                         .x_label = "block",
                         .y_label = "cosine",
                         .x_ticks = kBlockTicks};
    for (std::size_t p = 0; p < kPlacements.size(); ++p)
      add_series(chart,
                 band_of_curves(title_of(kPlacements[p]),
                                curves_of(results, kPlacements[p], scheme, "cosines"), static_cast<int>(p)));
    if (!chart.series.empty()) panels.panels.push_back(chart);
  }
  if (panels.panels.size() == 2)
    page.figure("start-cosines", panels,
                "1: the input passes unaltered; 0: nothing of its direction is left. Small weights change "
                "little in either placement, and do little. " +
                    seeds_words(results));
}

void add_gradients(Page& page, const StudyResults& results) {
  page.html.heading("Gradient");
  kit::LineChart tops{.title = "|dL/dW2| of the last block, Xiong et al.'s weights",
                      .x_label = "layers (log scale)",
                      .y_label = "norm (log scale)",
                      .x_axis = kit::AxisKind::log,
                      .y_axis = kit::AxisKind::log,
                      .x_ticks = depths(results)};
  for (std::size_t p = 0; p < kPlacements.size(); ++p)
    add_series(tops, by_depth(results, kPlacements[p], "xiong", "top", static_cast<int>(p)));
  if (!tops.series.empty())
    page.figure(
        "start-top", tops,
        "The loss is that of one position; theorem 1 speaks of a mean over positions: its bound for Post-LN "
        "has no depth in it, that for Pre-LN falls like 1/√L, half a decade in a decade. " +
            top_sentence(results) + geometric_words(results));
  kit::Panels panels{.title = "|dL/dW2| by block over that of the last of 32 blocks"};
  for (const char* scheme : kSchemes) {
    kit::LineChart chart{.title = weight_scheme(scheme).title,
                         .x_label = "block",
                         .y_label = "over the last (log scale)",
                         .y_axis = kit::AxisKind::log,
                         .x_ticks = kBlockTicks};
    for (std::size_t p = 0; p < kPlacements.size(); ++p)
      add_series(chart, geometric_curves(title_of(kPlacements[p]),
                                         curves_of(results, kPlacements[p], scheme, "gradients"),
                                         static_cast<int>(p)));
    if (chart.series.empty()) continue;
    kit::Series printed{.name = "(2/3)^((L−l)/2)", .markers = false, .style = 2};
    for (std::int64_t l = 1; l <= kDepth; ++l) {
      printed.x.push_back(static_cast<double>(l));
      printed.y.push_back(std::pow(2.0 / 3, static_cast<double>(kDepth - l) / 2));
    }
    chart.series.push_back(printed);
    panels.panels.push_back(chart);
  }
  if (panels.panels.size() == std::size(kSchemes))
    page.figure("start-gradients", panels, vanishing_sentence(results) + " " + geometric_words(results));
  kit::Table table{
      .caption = "Largest over least |dL/dW| of 32 layers, by kind of matrix: mean of the seeds' ratios",
      .header = {"initial weights", "placement", "in_proj", "out_proj", "linear1", "linear2"}};
  for (const char* scheme : kSchemes)
    for (const char* placement : kPlacements) {
      table.rows.push_back({weight_scheme(scheme).title, title_of(placement)});
      for (const char* matrix : kMatrices) {
        Values ratios = over_seeds(results, placement, scheme, kDepth, fmt::format("spread.{}", matrix));
        for (double& ratio : ratios) ratio = std::exp(ratio);
        table.rows.back().push_back(mean_and_range(ratios));
      }
    }
  page.html.paragraph(spread_sentence(results));
  page.html.table(table);
}

void add_shortcuts(Page& page, const StudyResults& results) {
  kit::Panels panels{.title = "|dL/dx₀| over |dL/dx_L| against depth, weights N(0, 1/fan_in)"};
  for (const bool cut : {false, true}) {
    kit::LineChart chart{.title = cut ? "without shortcuts" : "with shortcuts",
                         .x_label = "layers (log scale)",
                         .y_label = "bottom over top (log scale)",
                         .x_axis = kit::AxisKind::log,
                         .y_axis = kit::AxisKind::log,
                         .x_ticks = {2, 8, kDepth, 192}};
    int style = 0;
    for (const std::string placement : {"pre", "post", "none"}) {
      kit::Series line =
          by_depth(results, cut ? placement + "-cut" : placement, "fan_in", "activation", style++);
      line.name = title_of(placement);
      add_series(chart, line);
    }
    if (!chart.series.empty()) panels.panels.push_back(chart);
  }
  page.html.heading("Shortcuts");
  if (panels.panels.size() == 2)
    page.figure(
        "start-shortcuts", panels,
        shortcut_sentence(results) +
            "Where a line falls, gradients vanish on their way down; where it rises, they explode. Without "
            "norms values that overflow are left out. " +
            geometric_words(results));
}

void add_training(Page& page, const StudyResults& results) {
  page.html.heading("The first steps of training");
  constexpr const char* kWhat[][2] = {
      {"streams", "stream, last block"}, {"branches", "branches"}, {"outputs", "logits"}};
  kit::Panels panels{.title = "Root mean squares during training"};
  for (const auto& [series, title] : kWhat) {
    kit::LineChart chart{.title = title, .x_label = "step", .y_label = "root mean square", .y_low = 0};
    for (std::size_t p = 0; p < kPlacements.size(); ++p) {
      std::vector<Values> curves;
      for (const std::uint64_t seed : trained_seeds_of(results.options))
        if (const std::string run = trained_name(kPlacements[p], seed); results.has(run))
          curves.push_back(results.series(run, series));
      Values steps = {1};
      for (int i = 1; i <= kLater / 10; ++i) steps.push_back(10.0 * i);
      add_series(chart, band_of_curves(title_of(kPlacements[p]), curves, static_cast<int>(p), steps));
    }
    if (!chart.series.empty()) panels.panels.push_back(chart);
  }
  page.html.paragraph(fmt::format(
      "GPTs of {} layers and 32 channels on the recall language, Adam at 0.001 with 100 steps of warm-up, 16 "
      "windows a batch; measured on 8 fixed windows. After {} steps:",
      kTrainedLayers, kEarly));
  kit::Table table{.caption = fmt::format("After {} steps: mean (lowest to highest seed)", kEarly),
                   .header = {"", "Pre-LN", "Post-LN"}};
  constexpr const char* kRows[][2] = {{"share", "|dL/dW2|, first block over last"},
                                      {"spread", "ln of largest over least |dL/dW|, mean of four kinds"},
                                      {"size.first", "mean |x|²/d after block 1"},
                                      {"size.half", "after block 6"},
                                      {"size.last", "after block 12"},
                                      {"loss", "validation loss at the end of the run (nats)"}};
  for (const auto& [number, row] : kRows) {
    table.rows.push_back({row});
    for (const char* placement : kPlacements) {
      Values values;
      for (const std::uint64_t seed : trained_seeds_of(results.options))
        if (const std::string run = trained_name(placement, seed); results.has(run))
          values.push_back(results.number(run, number));
      table.rows.back().push_back(mean_and_range(values));
    }
  }
  page.html.table(table);
  if (panels.panels.size() == std::size(kWhat))
    page.figure("start-training", panels,
                training_sentence(results) + band_words(trained_seeds_of(results.options).size()));
}

}  // namespace gradus::lab::start
