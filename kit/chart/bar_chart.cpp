#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/detail/bar_data.h"
#include "gradus/kit/chart/detail/bar_style.h"
#include "gradus/kit/chart/detail/chart_style.h"

namespace gradus::kit {
namespace {

constexpr double bars_width = 400;
constexpr double bar_height = 13;
constexpr double bar_pitch = 16;
constexpr double category_gap = 8;
constexpr double line_height = 15;
constexpr double widest_beside = 150;  // longer names are above their bars

constexpr double half_a_tick = 10;  // room for half of "0.0" under the first line

// The layout: names at `margin`, bars by `scale`, which leaves room for the numbers.
struct BarPlan {
  std::vector<std::vector<std::string>> names;  // in lines
  bool beside = true;
  Scale scale;
};

BarPlan plan_of(const BarChart& chart, const BarNumbers& numbers) {
  BarPlan plan;
  double widest = 0;
  for (const std::string& name : chart.categories) widest = std::max(widest, text_width(name, text_size));
  plan.beside = widest <= widest_beside;
  for (const std::string& name : chart.categories) {
    plan.names.push_back(plan.beside ? std::vector<std::string>{name}
                                     : wrapped(name, text_size, bars_width - 2 * margin));
  }
  double left_room = 0;
  double right_room = 0;
  for (const BarSeries& series : chart.series) {
    for (const double value : series.values) {
      double& room = value < 0 && std::isfinite(value) ? left_room : right_room;
      room = std::max(room, text_width(numbers.value(value), text_size) + 6);
    }
  }
  const double left = margin + (plan.beside ? widest + 8 : half_a_tick) + left_room;
  plan.scale = Scale(AxisKind::linear, bar_range(chart), left, bars_width - margin - right_room);
  return plan;
}

void draw_error_bar(Svg& svg, double low, double high, double y) {
  constexpr double cap = 3.5;
  PathData path;
  path.move_to(low, y - cap).line_to(low, y + cap);
  path.move_to(low, y).line_to(high, y);
  path.move_to(high, y - cap).line_to(high, y + cap);
  svg.path("halo", path, "fill=\"none\"");
  svg.path("axis", path);
}

void draw_value(Svg& svg, const BarSeries& series, std::size_t i, const Scale& scale,
                const BarNumbers& numbers, double top) {
  const double zero = scale(0);
  const double end = std::isfinite(series.values[i]) ? scale(series.values[i]) : zero;
  const int style = series.style.value_or(0);
  svg.begin_group(style_class(style));
  if (end != zero) draw_bar(svg, style, {std::min(zero, end), top, std::max(zero, end), top + bar_height});
  svg.end_group();
  double left = end;
  double right = end;
  if (!numbers.spread(series, i).empty()) {
    const double low = scale(series.low[i]);
    const double high = scale(series.high[i]);
    draw_error_bar(svg, low, high, top + bar_height / 2);
    left = std::min(left, low), right = std::max(right, high);
  }
  const bool negative = end < zero;
  svg.text("halo", negative ? left - 4 : right + 4, top + bar_height / 2 + 4.4,
           negative ? Anchor::end : Anchor::start, numbers.value(series.values[i]));
}

void draw_categories(Svg& svg, const BarChart& chart, const BarPlan& plan, const BarNumbers& numbers,
                     double top) {
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    const double bars = bar_pitch * static_cast<double>(chart.series.size());
    if (plan.beside) {
      svg.text("", margin, top + bars / 2 + 3, Anchor::start, chart.categories[i]);
    } else {
      const double right_of_zero = plan.scale.values().low < 0 ? margin : plan.scale(0) + 4;
      for (const std::string& line : plan.names[i]) {
        svg.text("halo", right_of_zero, top + 10, Anchor::start, line);
        top += line_height;
      }
    }
    for (const BarSeries& series : chart.series) {
      draw_value(svg, series, i, plan.scale, numbers, top);
      top += bar_pitch;
    }
    top += category_gap;
  }
}

double categories_height(const BarChart& chart, const BarPlan& plan) {
  double height = 3 - category_gap;
  for (const auto& lines : plan.names) {
    height += (plan.beside ? 0 : line_height * static_cast<double>(lines.size())) + category_gap;
    height += bar_pitch * static_cast<double>(chart.series.size());
  }
  return height;
}

void draw_bar_axis(Svg& svg, const BarPlan& plan, double top, double bottom) {
  const double room = plan.scale.to() - plan.scale.from();
  double taken = -1e9;
  for (const Tick& tick :
       nice_ticks(AxisKind::linear, plan.scale.values(), std::max(2, static_cast<int>(room / 70)))) {
    const double x = plan.scale(tick.value);
    const double half = text_width(tick.label, text_size) / 2;
    if (x - half < taken + 5) continue;
    taken = x + half;
    svg.line("grid", x, top, x, bottom);
    svg.text("soft", x, bottom + 14, Anchor::middle, tick.label);
  }
}

// Draws the references' labels above the bars, in several rows if they would touch; returns the height.
double draw_bar_reference_labels(Svg& svg, const BarChart& chart, const BarPlan& plan, double top) {
  std::vector<double> taken;  // right end of each row
  for (const Reference& reference : chart.references) {
    if (reference.label.empty()) continue;
    const double width = text_width(reference.label, text_size);
    const double left = std::clamp(plan.scale(reference.at) - width / 2, margin,
                                   std::max(margin, bars_width - margin - width));
    std::size_t row = 0;
    while (row < taken.size() && taken[row] + 8 > left) ++row;
    if (row == taken.size()) taken.push_back(0);
    taken[row] = left + width;
    svg.text("", left, top + 11 + line_height * static_cast<double>(row), Anchor::start, reference.label);
  }
  return line_height * static_cast<double>(taken.size());
}

double draw_bar_head(Svg& svg, const BarChart& chart) {
  double top = margin;
  for (const std::string& line : wrapped(chart.title, 1.1 * title_size, bars_width - 2 * margin)) {
    svg.text("title", margin, top + 14, Anchor::start, line);
    top += 19;
  }
  for (const std::string& line : wrapped(chart.value_label, text_size, bars_width - 2 * margin)) {
    svg.text("soft", margin, top + 14, Anchor::start, line);
    top += 17;
  }
  const bool named = std::any_of(chart.series.begin(), chart.series.end(),
                                 [](const BarSeries& series) { return !series.name.empty(); });
  if (named) top += 3 + draw_bar_legend(svg, chart.series, margin, top + 3, bars_width - 2 * margin);
  return top + 6;
}

}  // namespace

std::string draw(const BarChart& original) {
  const BarChart chart = prepared(original);
  const BarNumbers numbers(chart);
  const BarPlan plan = plan_of(chart, numbers);
  Svg svg;
  double top = draw_bar_head(svg, chart);
  top += draw_bar_reference_labels(svg, chart, plan, top);
  const double bottom = top + 3 + categories_height(chart, plan);
  draw_bar_axis(svg, plan, top, bottom);
  const double zero = plan.scale(0);
  svg.line("axis", zero, top, zero, bottom);
  draw_categories(svg, chart, plan, numbers, top + 3);
  for (const Reference& reference : chart.references) {
    const double x = plan.scale(reference.at);
    svg.line("ref", x, top, x, bottom);
  }
  const std::string summary = describe(chart);
  return svg.finish(bars_width, bottom + 20 + margin, chart.title,
                    chart.description.empty() ? summary : chart.description + " " + summary);
}

Table numbers_of(const BarChart& original) {
  const BarChart chart = prepared(original);
  const BarNumbers numbers(chart);
  Table table{chart.value_label, {""}, {}};
  for (const BarSeries& series : chart.series) table.header.push_back(series.name);
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    std::vector<std::string> cells{chart.categories[i]};
    for (const BarSeries& series : chart.series) {
      cells.push_back(numbers.value(series.values[i]) + numbers.spread(series, i));
    }
    table.rows.push_back(std::move(cells));
  }
  for (const Reference& reference : chart.references) {
    std::vector<std::string> cells{reference.label, number_text(reference.at, 5)};
    cells.resize(table.header.size());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace gradus::kit
