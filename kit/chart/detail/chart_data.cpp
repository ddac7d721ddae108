#include "gradus/kit/chart/detail/chart_data.h"
#include "gradus/core/check.h"
#include "gradus/kit/chart/detail/thinning.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace gradus::kit {
namespace {

constexpr double highest = 10000;  // the largest plot_height

bool shown(double value, AxisKind kind) {
  return std::isfinite(value) && (kind == AxisKind::linear || value > 0);
}

// The smallest range that contains all values added; empty without values.
struct Extent {
  AxisKind kind;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!shown(value, kind)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void add(const std::vector<double>& values) {
    for (const double value : values) add(value);
  }
};

using Doubles = std::numeric_limits<double>;

Range widened_log(const Extent& extent, double share) {
  const double ratio = extent.high / extent.low;
  const double factor = extent.low == extent.high ? 2
                        : std::isfinite(ratio)
                            ? std::pow(ratio, share)
                            : std::pow(10, share * (std::log10(extent.high) - std::log10(extent.low)));
  return {std::max(extent.low / factor, Doubles::denorm_min()),
          std::min(extent.high * factor, Doubles::max())};
}

// A range that is not empty, widened by a share of itself on both sides within the limits of double.
Range widened(const Extent& extent, double share) {
  if (!(extent.low <= extent.high)) return extent.kind == AxisKind::log ? Range{1, 10} : Range{0, 1};
  if (extent.kind == AxisKind::log) return widened_log(extent, share);
  const double margin = extent.low == extent.high
                            ? std::max(std::abs(extent.low) * 0.1, 0.5)
                            : std::min((extent.high - extent.low) * share, Doubles::max());
  const bool keep_zero = extent.low >= 0 && extent.low < margin;  // no negative axis for positive data
  return {keep_zero ? 0 : std::max(extent.low - margin, Doubles::lowest()),
          std::min(extent.high + margin, Doubles::max())};
}

Range limited(Range range, std::optional<double> low, std::optional<double> high) {
  if (low) range.low = *low;
  if (high) range.high = *high;
  if (range.low < range.high) return range;
  return low ? Range{range.low, range.low + 1} : Range{range.high - 1, range.high};
}

void check_limits(const LineChart& chart, const char* axis, AxisKind kind, std::optional<double> low,
                  std::optional<double> high) {
  for (const auto& limit : {low, high}) {
    check(!limit || shown(*limit, kind), "LineChart \"{}\": {} cannot be a limit of the {} axis", chart.title,
          limit.value_or(0), axis);
  }
  check(!low || !high || *low < *high,
        "LineChart \"{}\": the {} axis needs its low limit {} below its high limit {}", chart.title, axis,
        low.value_or(0), high.value_or(0));
}

void check_sizes(const LineChart& chart, const Series& series) {
  const std::size_t n = series.x.size();
  const bool spread = series.low.empty() == series.high.empty() &&
                      (series.low.empty() || (series.low.size() == n && series.high.size() == n));
  check(series.y.size() == n && spread,
        "LineChart \"{}\": series \"{}\" has {} x, {} y, {} low and {} high values; expects as many y as x, "
        "and low and high for all or none",
        chart.title, series.name, n, series.y.size(), series.low.size(), series.high.size());
  check(!series.style || (*series.style >= 0 && *series.style < 8),
        "LineChart \"{}\": series \"{}\" has style {}, expects 0 to 7", chart.title, series.name,
        series.style.value_or(0));
}

void check_references(const LineChart& chart) {
  for (const Reference& reference : chart.references) {
    const bool horizontal = reference.direction == Direction::horizontal;
    const AxisKind kind = horizontal ? chart.y_axis : chart.x_axis;
    check(shown(reference.at, kind),
          "LineChart \"{}\": the reference \"{}\" is at {}, expects a finite value{}", chart.title,
          reference.label, reference.at, kind == AxisKind::log ? " above 0, for its log axis" : "");
  }
}

}  // namespace

LineChart checked(const LineChart& chart) {
  check_limits(chart, "x", chart.x_axis, chart.x_low, chart.x_high);
  check_limits(chart, "y", chart.y_axis, chart.y_low, chart.y_high);
  check(chart.plot_height >= 1 && chart.plot_height <= highest,
        "LineChart \"{}\": expects a plot_height from 1 to {}, got {}", chart.title, highest,
        chart.plot_height);
  check_references(chart);
  for (const Series& series : chart.series) check_sizes(chart, series);
  LineChart result = chart;
  for (std::size_t i = 0; i < result.series.size(); ++i) {
    Series& series = result.series[i];
    if (!series.style) series.style = static_cast<int>(i % 8);
  }
  return result;
}

LineChart prepared(const LineChart& chart) {
  LineChart result = checked(chart);
  Extent extent{chart.x_axis};
  for (const Series& series : chart.series) extent.add(series.x);
  const Scale slices(chart.x_axis, widened(extent, 0), 0, static_cast<double>(most_points));
  for (Series& series : result.series) {
    series = with_fewer_points(series, slices);
  }
  return result;
}

Range x_range(std::span<const LineChart> charts) {
  const LineChart& first = charts.front();
  Extent extent{first.x_axis};
  bool only_points = true;
  for (const LineChart& chart : charts) {
    for (const Series& series : chart.series) {
      extent.add(series.x);
      only_points = only_points && (series.every_marker || series.x.size() <= 12);
    }
    extent.add(chart.x_ticks);
  }
  // Markers at the edge would overlap the axis.
  return limited(widened(extent, only_points ? 0.04 : 0), first.x_low, first.x_high);
}

Range y_range(std::span<const LineChart> charts) {
  const LineChart& first = charts.front();
  Extent extent{first.y_axis};
  for (const LineChart& chart : charts) {
    for (const Series& series : chart.series) {
      extent.add(series.y), extent.add(series.low), extent.add(series.high);
    }
    for (const Reference& reference : chart.references) {
      if (reference.direction == Direction::horizontal) extent.add(reference.at);
    }
  }
  return limited(widened(extent, 0.06), first.y_low, first.y_high);
}

std::string describe(const LineChart& chart) {
  std::string text = chart.y_label.empty() ? "Values" : chart.y_label;
  text += chart.x_label.empty() ? "." : fmt::format(" against {}.", chart.x_label);
  for (std::size_t number = 0; number < chart.series.size(); ++number) {
    const Series& series = chart.series[number];
    const std::string name = !series.name.empty()       ? series.name
                             : chart.series.size() == 1 ? (series.line ? "Line" : "Points")
                                                        : fmt::format("Series {}", number + 1);
    std::vector<std::size_t> finite;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (std::isfinite(series.y[i])) finite.push_back(i);
    }
    if (finite.empty()) {
      text += fmt::format(" {}: no finite values.", name);
      continue;
    }
    const auto smallest = *std::min_element(finite.begin(), finite.end(), [&](std::size_t a, std::size_t b) {
      return series.y[a] < series.y[b];
    });
    const auto point = [&](std::size_t i) {
      return fmt::format("{} at {}", number_text(series.y[i]), number_text(series.x[i]));
    };
    text +=
        fmt::format(" {}: from {} to {}, smallest {}{}.", name, point(finite.front()), point(finite.back()),
                    point(smallest), finite.size() < series.y.size() ? ", with gaps" : "");
  }
  return text;
}

}  // namespace gradus::kit
