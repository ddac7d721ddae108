#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/report/charts.h"

namespace gradus::lab::compare {

namespace {

using kit::AxisKind;
using kit::LineChart;
using kit::Series;

constexpr const char* kTrainingLoss = "training loss (nats per character)";

std::string layers_title(std::int64_t layers) { return counted(layers, "layer"); }

/// For loss axes: the baseline, and the entropy or, where that is unknown, the best n-gram tried. The axis
/// starts at `floor`; only the first panel names its lines.
void add_references(LineChart& chart, const Analysis& analysis, double floor, bool named) {
  const auto add = [&](double at, const std::string& label) {
    chart.references.push_back({.at = at - floor, .label = named ? label : ""});
  };
  add(analysis.baseline.loss, fmt::format("{}-gram", analysis.baseline.n));
  if (!analysis.task.entropy)
    add(analysis.task.ngram.loss, fmt::format("{}-gram", analysis.task.ngram.n));
  else if (floor < *analysis.task.entropy)
    add(*analysis.task.entropy, "entropy");
}

void add_point(Series& series, double x, const Spread& spread) {
  series.x.push_back(x);
  series.y.push_back(spread.mean);
  series.low.push_back(spread.low);
  series.high.push_back(spread.high);
}

/// Lines of both placements with error bars: value(placement, x) at each x.
template <class X, class Value>
std::vector<Series> bars_of(const Settings& settings, const std::vector<X>& xs, const Value& value) {
  std::vector<Series> both;
  for (const nn::Placement& placement : settings.placements) {
    Series& series = both.emplace_back(Series{.name = placement.name,
                                              .spread = kit::Spread::error_bars,
                                              .style = style_of(settings.placements, placement)});
    for (const X x : xs) add_point(series, static_cast<double>(x), value(placement, x));
  }
  return both;
}

/// An empty chart against the steps of training.
LineChart step_chart(const Settings& settings, const std::string& title, const std::string& y_label) {
  return {.title = title,
          .x_label = "step",
          .y_label = y_label,
          .x_low = 0,
          .x_high = static_cast<double>(settings.steps)};
}

/// A panel for each depth and warm-up, with both placements against the rate.
template <class Value>
kit::Panels panels_by_rate(const Analysis& analysis, LineChart axes, const Value& value) {
  kit::Panels panels;
  const Settings& settings = analysis.settings;
  panels.columns = static_cast<int>(settings.warmups.size());
  axes.x_label = "learning rate";
  axes.x_axis = AxisKind::log;
  axes.x_ticks = settings.lrs;
  for (const std::int64_t layers : settings.depths)
    for (const std::int64_t warmup : settings.warmups) {
      LineChart chart = axes;
      chart.title = fmt::format("{}, {}", layers_title(layers), warmup_title(warmup));
      chart.series = bars_of(settings, settings.lrs, [&](const nn::Placement& placement, double lr) {
        return value(analysis.cell(placement, layers, lr, warmup));
      });
      panels.panels.push_back(std::move(chart));
    }
  return panels;
}

/// Steps in equal slices, one point each: the mean over the slice and over runs, with the smallest and
/// largest run. A run that diverged is left out from that step on.
Series curve_of(const Cell& cell, std::vector<double> RunRecord::*values, const Settings& settings,
                std::size_t points) {
  Series series{.name = cell.setting.placement.name,
                .style = style_of(settings.placements, cell.setting.placement)};
  const auto all = static_cast<std::size_t>(settings.steps);
  points = std::min(points, all);
  for (std::size_t slice = 0; slice < points; ++slice) {
    const std::size_t begin = slice * all / points, end = (slice + 1) * all / points;
    std::vector<double> means;
    for (const RunRecord& run : cell.runs) {
      const std::vector<double>& v = run.*values;
      if (v.size() < end) continue;
      const double value = mean(std::span(v).subspan(begin, end - begin));
      if (std::isfinite(value)) means.push_back(value);
    }
    add_point(series, static_cast<double>(begin + 1 + end) / 2, spread_of(means));
  }
  return series;
}

/// So many points that all curves of a figure together stay light.
std::size_t points_for(std::size_t series) {
  return std::clamp<std::size_t>(1200 / std::max<std::size_t>(series, 1), 10, 60);
}

}  // namespace

std::string warmup_title(std::int64_t warmup) {
  return warmup == 0 ? "no warm-up" : fmt::format("warm-up {}", warmup);
}

kit::Panels loss_by_rate(const Analysis& analysis) {
  const double floor = analysis.floor();
  const bool known = analysis.task.entropy.has_value();
  kit::Panels panels = panels_by_rate(analysis,
                                      {.y_label = known ? "final loss above the entropy (nats per character)"
                                                        : "final loss (nats per character)",
                                       .y_axis = known ? AxisKind::log : AxisKind::linear},
                                      [&](const Cell& cell) {
                                        Spread above = cell.loss;
                                        above.mean -= floor, above.low -= floor, above.high -= floor;
                                        return above;
                                      });
  panels.title = "Final loss against learning rate";
  for (std::size_t i = 0; i < panels.panels.size(); ++i)
    add_references(panels.panels[i], analysis, floor, i == 0);
  return panels;
}

kit::HeatMap loss_map(const Analysis& analysis, std::int64_t warmup) {
  const Settings& settings = analysis.settings;
  kit::HeatMap map{
      .title = fmt::format("Final loss, {}", warmup_title(warmup)),
      .x_label = "learning rate",
      .y_label = "layers",
      .value_label = analysis.task.entropy ? "nats per character above the entropy" : "nats per character",
      .decimals = 3,
      .missing = "–",
      .low_is_good = true};
  for (const double lr : settings.lrs) map.columns.push_back(kit::number_text(lr));
  for (const std::int64_t layers : settings.depths)
    for (const nn::Placement& placement : analysis.settings.placements) {
      map.rows.push_back(fmt::format("{} {}", layers, placement.name));
      for (const double lr : settings.lrs) {
        const Cell& cell = analysis.cell(placement, layers, lr, warmup);
        const bool lost = !cell.any() || cell.diverged == static_cast<std::int64_t>(cell.runs.size());
        map.values.push_back(lost ? kit::nothing : cell.loss.mean - analysis.floor());
      }
    }
  return map;
}

kit::Panels loss_curves(const Analysis& analysis, std::int64_t warmup) {
  const Settings& settings = analysis.settings;
  kit::Panels panels{.title = fmt::format("Training loss, {}", warmup_title(warmup)),
                     .columns = static_cast<int>(settings.lrs.size())};
  const std::size_t points = points_for(2 * settings.depths.size() * settings.lrs.size());
  for (const std::int64_t layers : settings.depths)
    for (const double lr : settings.lrs) {
      LineChart chart = step_chart(
          settings, fmt::format("{}, rate {}", layers_title(layers), kit::number_text(lr)), kTrainingLoss);
      for (const nn::Placement& placement : analysis.settings.placements)
        chart.series.push_back(
            curve_of(analysis.cell(placement, layers, lr, warmup), &RunRecord::losses, settings, points));
      add_references(chart, analysis, 0, panels.panels.empty());
      panels.panels.push_back(std::move(chart));
    }
  return panels;
}

kit::Panels sensitivity_panels(const Analysis& analysis) {
  const Settings& settings = analysis.settings;
  kit::Panels panels{.title = "Learning-rate sensitivity against depth",
                     .columns = static_cast<int>(settings.warmups.size())};
  for (const std::int64_t warmup : settings.warmups) {
    LineChart chart{.title = warmup_title(warmup),
                    .x_label = "layers",
                    .y_label = "sensitivity (nats per character)",
                    .y_low = 0};
    chart.series =
        bars_of(settings, settings.depths, [&](const nn::Placement& placement, std::int64_t layers) {
          return analysis.sensitivity(placement, layers, warmup).spread;
        });
    chart.x_ticks = chart.series.front().x;
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

kit::Panels steps_panels(const Analysis& analysis) {
  kit::Panels panels = panels_by_rate(
      analysis,
      {.y_label = fmt::format("steps to a loss of {}", kit::fixed_text(analysis.target, 3)), .y_low = 0},
      [](const Cell& cell) {
        const bool all =
            std::none_of(cell.steps.begin(), cell.steps.end(), [](double s) { return std::isnan(s); });
        return all ? spread_of(cell.steps) : spread_of({});
      });
  panels.title = "Steps to a given loss";
  return panels;
}

kit::Panels gradient_norm_panels(const Analysis& analysis, double lr) {
  const Settings& settings = analysis.settings;
  kit::Panels panels{.title = fmt::format("Gradient norm in training, rate {}", kit::number_text(lr)),
                     .columns = static_cast<int>(settings.warmups.size())};
  const std::size_t points = points_for(2 * settings.depths.size() * settings.warmups.size());
  for (const std::int64_t layers : settings.depths)
    for (const std::int64_t warmup : settings.warmups) {
      LineChart chart =
          step_chart(settings, fmt::format("{}, {}", layers_title(layers), warmup_title(warmup)),
                     "norm of the whole gradient");
      chart.y_axis = AxisKind::log;
      for (const nn::Placement& placement : analysis.settings.placements)
        chart.series.push_back(
            curve_of(analysis.cell(placement, layers, lr, warmup), &RunRecord::grad_norms, settings, points));
      panels.panels.push_back(std::move(chart));
    }
  return panels;
}

kit::Panels ablation_curves(const Analysis& analysis) {
  kit::Panels panels{.title = "Training loss of the ablations"};
  for (const nn::Placement& placement : analysis.settings.placements) {
    RunOptions run = ablation_setting(analysis.settings);
    LineChart chart = step_chart(analysis.settings, placement.name, kTrainingLoss);
    const Cell& base = analysis.cell(placement, run.layers, run.lr, run.warmup);
    chart.series.push_back(curve_of(base, &RunRecord::losses, analysis.settings, 40));
    for (const Cell& cell : analysis.ablations) {
      if (cell.setting.placement != placement) continue;
      Series series = curve_of(cell, &RunRecord::losses, analysis.settings, 40);
      series.name = cell.setting.residual_scaling
                        ? "residual init scaled"
                        : fmt::format("{} {}", placement.name, describe_ablation(cell.setting));
      series.style = cell.setting.residual_scaling ? 2 : *cell.setting.final_norm ? 3 : 4;
      chart.series.push_back(std::move(series));
    }
    add_references(chart, analysis, 0, panels.panels.empty());
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

}  // namespace gradus::lab::compare
