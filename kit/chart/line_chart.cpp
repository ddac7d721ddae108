#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "gradus/kit/chart/detail/chart_data.h"
#include "gradus/kit/chart/detail/chart_style.h"
#include "gradus/kit/chart/detail/plot_area.h"

namespace gradus::kit {
namespace {

constexpr double chart_width = 400;
constexpr double label_height = 15;
constexpr double name_offset = 14;  // from the plot to a name

// A series' name at the end of its curve.
struct EndLabel {
  const Series* series;
  double end;    // y of the curve's last point
  double place;  // y of the name, moved so that names do not touch
};

bool can_stand_on(AxisKind axis, double value) {
  return std::isfinite(value) && (axis == AxisKind::linear || value > 0);
}

// The last drawn point.
std::optional<std::pair<double, double>> last_point(const LineChart& chart, const Series& series) {
  for (std::size_t i = series.y.size(); i-- > 0;) {
    if (can_stand_on(chart.x_axis, series.x[i]) && can_stand_on(chart.y_axis, series.y[i]))
      return std::pair{series.x[i], series.y[i]};
  }
  return std::nullopt;
}

// Names at the ends of curves are easier to read than a legend, if they are short and all curves reach the
// end.
bool names_fit_at_ends(const LineChart& chart, Range x_values) {
  if (chart.series.size() > 5) return false;
  const Scale place(chart.x_axis, x_values, 0, 1);
  return std::all_of(chart.series.begin(), chart.series.end(), [&](const Series& series) {
    const auto last = last_point(chart, series);
    return series.line && last && place(last->first) > 0.94 && text_width(series.name, text_size) < 85;
  });
}

double widest_name(const LineChart& chart) {
  double widest = 0;
  for (const Series& series : chart.series)
    widest = std::max(widest, text_width(series.name, 1.1 * text_size));
  return widest;
}

std::vector<EndLabel> end_labels(const LineChart& chart, const Plot& plot) {
  std::vector<EndLabel> labels;
  for (const Series& series : chart.series) {
    const auto last = last_point(chart, series);
    if (series.name.empty() || !last) continue;
    const double end = std::clamp(plot.y(last->second), plot.box.top, plot.box.bottom);
    labels.push_back({&series, end, end});
  }
  std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
  // Move names down if they touch the one above, then up if they leave the plot.
  for (std::size_t i = 1; i < labels.size(); ++i) {
    labels[i].place = std::max(labels[i].place, labels[i - 1].place + label_height);
  }
  double lowest = plot.box.bottom;
  for (std::size_t i = labels.size(); i-- > 0;) {
    labels[i].place = std::min(labels[i].place, lowest);
    lowest = labels[i].place - label_height;
  }
  return labels;
}

void draw_end_labels(Svg& svg, const LineChart& chart, const Plot& plot) {
  for (const EndLabel& label : end_labels(chart, plot)) {
    const double right = plot.box.right;
    svg.begin_group(style_class(label.series->style.value_or(0)));
    svg.line("lead", right + 3, label.end, right + 11, label.place);
    svg.text("name", right + name_offset, label.place + 4.4, Anchor::start, label.series->name);
    svg.end_group();
  }
}

double last_tick_overhang(const LineChart& chart, Range x_values) {
  const std::vector<Tick> ticks = nice_ticks(chart.x_axis, x_values, 5);
  return ticks.empty() ? 0 : text_width(ticks.back().label, text_size) / 2;
}

}  // namespace

std::string draw(const LineChart& original) {
  const LineChart chart = prepared(original);
  const std::vector<LineChart> alone{chart};
  const Range x_values = x_range(alone);
  const Range y_values = y_range(alone);
  const bool at_ends = names_fit_at_ends(chart, x_values);
  const bool named =
      std::any_of(chart.series.begin(), chart.series.end(), [](const auto& s) { return !s.name.empty(); });

  Svg svg;
  double top = margin;
  for (const std::string& line : wrapped(chart.title, 1.1 * title_size, chart_width - 2 * margin)) {
    svg.text("title", margin, top + 14, Anchor::start, line);
    top += 19;
  }
  top += 3;
  if (named && !at_ends) top += draw_legend(&svg, chart.series, margin, top, chart_width - 2 * margin) + 3;
  if (!chart.y_label.empty()) {
    svg.text("soft", margin, top + 12, Anchor::start, chart.y_label);
    top += 16;
  }
  top += 6;

  Box box;
  box.left = margin + y_tick_room(chart.y_axis, y_values, chart.plot_height);
  box.right = chart_width - std::max(margin + 2, last_tick_overhang(chart, x_values));
  if (named && at_ends) box.right = chart_width - margin - widest_name(chart) - name_offset;
  box.top = top;
  box.bottom = top + chart.plot_height;
  const Plot plot(box, chart, x_values, y_values, chart.x_ticks);
  draw_axes(svg, plot);
  draw_contents(svg, plot, chart);
  if (named && at_ends) draw_end_labels(svg, chart, plot);
  if (chart.series.empty())
    svg.text("soft", (box.left + box.right) / 2, (box.top + box.bottom) / 2, Anchor::middle, "no data");

  double bottom = box.bottom + 20;
  if (!chart.x_label.empty()) {
    svg.text("soft", (box.left + box.right) / 2, bottom + 12, Anchor::middle, chart.x_label);
    bottom += 16;
  }
  const std::string description =
      chart.description.empty() ? describe(chart) : chart.description + " " + describe(chart);
  return svg.finish(chart_width, bottom + margin, chart.title, description);
}

}  // namespace gradus::kit
