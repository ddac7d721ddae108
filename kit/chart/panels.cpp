#include <fmt/format.h>
#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/kit/chart/detail/chart_data.h"
#include "gradus/kit/chart/detail/chart_style.h"
#include "gradus/kit/chart/detail/plot_area.h"

namespace gradus::kit {
namespace {

constexpr double column_width = 200;
constexpr double gap = 14;
constexpr double head_line = 15;  // of a panel's title, which is wrapped to the panel's width
constexpr double panel_height = 120;

// The shared legend: all series by name and style, each once.
std::vector<Series> legend_of(const std::vector<LineChart>& panels) {
  std::vector<Series> entries;
  for (const LineChart& panel : panels) {
    for (const Series& series : panel.series) {
      const bool known = std::any_of(entries.begin(), entries.end(), [&](const Series& entry) {
        return entry.name == series.name && entry.style == series.style;
      });
      if (!known && !series.name.empty()) entries.push_back(series);
    }
  }
  return entries;
}

std::vector<LineChart> prepared_panels(const Panels& panels) {
  check(!panels.panels.empty(), "Panels \"{}\": expects at least one panel", panels.title);
  check(panels.columns >= 1, "Panels \"{}\": expects at least one column, got {}", panels.title,
        panels.columns);
  std::vector<LineChart> charts;
  for (const LineChart& panel : panels.panels) {
    LineChart chart = panel;
    const LineChart& first = panels.panels.front();
    chart.x_axis = first.x_axis, chart.y_axis = first.y_axis;
    chart.x_low = first.x_low, chart.x_high = first.x_high;
    chart.y_low = first.y_low, chart.y_high = first.y_high;
    charts.push_back(prepared(chart));
  }
  return charts;
}

}  // namespace

std::string draw(const Panels& panels) {
  const std::vector<LineChart> charts = prepared_panels(panels);
  const Range x_values = x_range(charts);
  const Range y_values = y_range(charts);
  const int columns = std::min(panels.columns, static_cast<int>(charts.size()));
  const double width = std::max(400.0, column_width * columns);

  Svg svg;
  double top = margin;
  for (const std::string& line : wrapped(panels.title, 1.1 * title_size, width - 2 * margin)) {
    svg.text("title", margin, top + 14, Anchor::start, line);
    top += 19;
  }
  top += 3;
  top += draw_legend(&svg, legend_of(charts), margin, top, width - 2 * margin);
  const LineChart& first = charts.front();
  if (!first.y_label.empty()) {
    svg.text("soft", margin, top + 14, Anchor::start, first.y_label);
    top += 22;
  }

  const double left = margin + y_tick_room(first.y_axis, y_values, panel_height);
  const double panel_width = (width - left - margin - 2 - gap * (columns - 1)) / columns;
  std::vector<std::vector<std::string>> heads;
  std::size_t head_lines = 1;
  for (const LineChart& chart : charts) {
    heads.push_back(wrapped(chart.title, text_size, panel_width + gap / 2));
    head_lines = std::max(head_lines, heads.back().size());
  }
  const double head_height = 3 + head_line * static_cast<double>(head_lines);
  std::string description = panels.description;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const int column = static_cast<int>(i) % columns;
    const int row = static_cast<int>(i) / columns;
    Box box;
    box.left = left + column * (panel_width + gap);
    box.right = box.left + panel_width;
    box.top = top + head_height + row * (panel_height + head_height + 12);
    box.bottom = box.top + panel_height;
    const bool lowest = i + static_cast<std::size_t>(columns) >= charts.size();
    const Plot plot(box, first, x_values, y_values, first.x_ticks);
    double head = box.top - 6 - head_line * (static_cast<double>(heads[i].size()) - 1);
    for (const std::string& line : heads[i]) {
      svg.text("head", box.left, head, Anchor::start, line);
      head += head_line;
    }
    draw_axes(svg, plot, {.below = lowest, .beside = column == 0, .inward = true});
    draw_contents(svg, plot, charts[i]);
    description += fmt::format(" {}: {}", charts[i].title, describe(charts[i]));
  }
  const int rows = (static_cast<int>(charts.size()) + columns - 1) / columns;
  double bottom = top + rows * (panel_height + head_height + 12) - 12 + 20;
  if (!first.x_label.empty()) {
    svg.text("soft", (left + width) / 2, bottom + 12, Anchor::middle, first.x_label);
    bottom += 16;
  }
  return svg.finish(width, bottom + margin, panels.title, description);
}

}  // namespace gradus::kit
