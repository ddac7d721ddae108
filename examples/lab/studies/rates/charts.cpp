// The pictures of the study `rates`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/rates/rates.h"
#include "lab/study/outcome.h"

namespace gradus::lab::rates {

namespace {

using kit::AxisKind;
using kit::LineChart;

double entropy() { return recall_task().entropy().value(); }

std::vector<double> as_doubles(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

/// A line a placement, and at each of `x` what every seed has there: value(placement, place in x, seed).
template <class Value>
void add_lines(LineChart& chart, const View& view, const std::vector<double>& x, const Value& value) {
  for (std::size_t p = 0; p < kPlacements.size(); ++p) {
    std::vector<std::vector<double>> points(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      for (const std::uint64_t seed : view.grid.seeds)
        if (const std::optional<double> one = value(kPlacements[p], i, seed)) points[i].push_back(*one);
    kit::Series line = band(kPlacements[p], x, points, static_cast<int>(p));
    line.spread = kit::Spread::error_bars;
    chart.series.push_back(std::move(line));
  }
}

/// For a panel, which is narrow.
std::string short_title(std::int64_t warmup) {
  return warmup == 0 ? "no warm-up" : fmt::format("warm-up {}", warmup);
}

LineChart by_depth(const View& view, const std::string& title, const std::string& y_label) {
  return {.title = title,
          .x_label = "layers",
          .y_label = y_label,
          .x_axis = AxisKind::log,
          .x_ticks = as_doubles(view.grid.depths)};
}

/// A number of one seed's sweep, by rate.
using OfSweep = View::Numbers (View::*)(const Sweep&, std::uint64_t) const;
std::optional<double> at_rate(const View& view, OfSweep numbers, const Sweep& sweep, std::size_t rate,
                              std::uint64_t seed) {
  const View::Numbers all = (view.*numbers)(sweep, seed);
  return all ? std::optional((*all)[rate]) : std::nullopt;
}

}  // namespace

std::string warmup_title(std::int64_t warmup) {
  return warmup == 0 ? "without warm-up" : fmt::format("with {} steps of warm-up", warmup);
}

kit::Panels loss_by_rate(const View& view, std::int64_t warmup) {
  kit::Panels panels{.title = "Final loss against the rate, " + warmup_title(warmup)};
  for (const std::int64_t layers : view.grid.depths) {
    LineChart chart{.title = counted(layers, "layer"),
                    .x_label = "learning rate",
                    .y_label = "loss above the entropy (nats per character)",
                    .x_axis = AxisKind::log,
                    .y_axis = AxisKind::log,
                    .x_ticks = view.grid.lrs};
    add_lines(chart, view, view.grid.lrs,
              [&](const std::string& placement, std::size_t i, std::uint64_t seed) -> std::optional<double> {
                const auto loss = at_rate(view, &View::losses, {placement, layers, warmup}, i, seed);
                return loss ? std::optional(*loss - entropy()) : std::nullopt;
              });
    chart.references.push_back(
        {.at = learned_loss() - entropy(), .label = panels.panels.empty() ? "best n-gram" : ""});
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

kit::HeatMap learned_map(const View& view, std::int64_t warmup) {
  kit::HeatMap map{.title = "Seeds that trained, " + warmup_title(warmup),
                   .x_label = "learning rate",
                   .y_label = "layers",
                   .value_label = fmt::format("seeds of {}", view.grid.seeds.size()),
                   .decimals = 0};
  for (const double lr : view.grid.lrs) map.columns.push_back(kit::number_text(lr));
  for (const std::int64_t layers : view.grid.depths)
    for (const std::string& placement : kPlacements) {
      map.rows.push_back(fmt::format("{} {}", layers, placement));
      for (std::size_t i = 0; i < view.grid.lrs.size(); ++i) {
        double learned = kit::nothing;
        for (const std::uint64_t seed : view.grid.seeds)
          if (const auto loss = at_rate(view, &View::losses, {placement, layers, warmup}, i, seed))
            learned = (std::isnan(learned) ? 0 : learned) + (*loss < learned_loss() ? 1 : 0);
        map.values.push_back(learned);
      }
    }
  return map;
}

kit::Panels sensitivity_by_depth(const View& view) {
  kit::Panels panels{.title = "Sensitivity to the rate against depth"};
  for (const std::int64_t warmup : view.grid.warmups) {
    LineChart chart = by_depth(view, short_title(warmup), "sensitivity (nats per character)");
    chart.y_low = 0;
    add_lines(chart, view, as_doubles(view.grid.depths),
              [&](const std::string& placement, std::size_t i, std::uint64_t seed) -> std::optional<double> {
                const auto losses = view.losses({placement, view.grid.depths[i], warmup}, seed);
                return losses ? std::optional(sensitivity_of(*losses)) : std::nullopt;
              });
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

kit::Panels largest_by_depth(const View& view) {
  kit::Panels panels{.title = "Largest rate that trains against depth"};
  for (const std::int64_t warmup : view.grid.warmups) {
    LineChart chart = by_depth(view, short_title(warmup), "largest rate that trains");
    chart.y_axis = AxisKind::log;
    add_lines(chart, view, as_doubles(view.grid.depths),
              [&](const std::string& placement, std::size_t i, std::uint64_t seed) -> std::optional<double> {
                const auto largest = view.largest({placement, view.grid.depths[i], warmup}, seed);
                return largest ? std::optional(largest->first) : std::nullopt;
              });
    chart.references.push_back(
        {.at = view.grid.lrs.front(), .label = panels.panels.empty() ? "lowest tried" : ""});
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

kit::Panels loss_by_warmup(const View& view) {
  kit::Panels panels{.title = "Loss at the best rate against warm-up"};
  for (const std::int64_t layers : view.grid.depths) {
    const std::vector<std::int64_t>& warmups = view.grid.warmups;
    LineChart chart{.title = counted(layers, "layer"),
                    .x_label = "steps of warm-up",
                    .y_label = "loss at the best rate (nats per character)",
                    .x_ticks = as_doubles(view.grid.warmups)};
    add_lines(chart, view, as_doubles(warmups),
              [&](const std::string& placement, std::size_t i, std::uint64_t seed) -> std::optional<double> {
                const auto best = view.best(placement, layers, {warmups[i]}, seed);
                return best ? std::optional(best->value) : std::nullopt;
              });
    chart.references.push_back({.at = learned_loss(), .label = panels.panels.empty() ? "best n-gram" : ""});
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

kit::Panels curves_at_best(const View& view) {
  kit::Panels panels{.title = "Training loss at the best rate and warm-up"};
  for (const std::int64_t layers : view.grid.depths) {
    LineChart chart{.title = counted(layers, "layer"),
                    .x_label = "step",
                    .y_label = "training loss (nats per character)",
                    .x_low = 0,
                    .x_high = static_cast<double>(view.grid.steps)};
    for (std::size_t p = 0; p < kPlacements.size(); ++p) {
      std::vector<std::vector<double>> curves;
      std::vector<double> x;
      for (const std::uint64_t seed : view.grid.seeds) {
        const auto best = view.best(kPlacements[p], layers, seed);
        if (!best) continue;
        curves.push_back(
            view.results.series(run_name({kPlacements[p], layers, best->warmup}, best->lr, seed), "losses"));
        x.resize(std::max(x.size(), curves.back().size()));
      }
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = (static_cast<double>(i) + 0.5) * static_cast<double>(view.grid.steps) /
               static_cast<double>(x.size());
      chart.series.push_back(band_of_curves(kPlacements[p], curves, static_cast<int>(p), x));
    }
    chart.references.push_back({.at = target_loss(), .label = panels.panels.empty() ? "target" : ""});
    panels.panels.push_back(std::move(chart));
  }
  return panels;
}

}  // namespace gradus::lab::rates
