#include "gradus/kit/chart/detail/bar_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/core/check.h"
#include "gradus/kit/chart/detail/number_writer.h"

namespace gradus::kit {
namespace {

void check_bar_series(const BarChart& chart, const BarSeries& series) {
  const std::size_t n = chart.categories.size();
  const bool spread = series.low.empty() == series.high.empty() &&
                      (series.low.empty() || (series.low.size() == n && series.high.size() == n));
  check(series.values.size() == n && spread,
        "BarChart \"{}\": series \"{}\" has {} values, {} low and {} high for {} categories; "
        "expects a value for each, and low and high for all or none",
        chart.title, series.name, series.values.size(), series.low.size(), series.high.size(), n);
  check(!series.style || (*series.style >= 0 && *series.style < 8),
        "BarChart \"{}\": series \"{}\" has style {}, expects 0 to 7", chart.title, series.name,
        series.style.value_or(0));
}

}  // namespace

BarChart prepared(const BarChart& chart) {
  check(!chart.categories.empty() && !chart.series.empty(),
        "BarChart \"{}\": expects at least one category and one series, got {} and {}", chart.title,
        chart.categories.size(), chart.series.size());
  check(chart.decimals.value_or(0) >= 0 && chart.decimals.value_or(0) <= 20,
        "BarChart \"{}\": expects 0 to 20 decimals, got {}", chart.title, chart.decimals.value_or(0));
  for (const BarSeries& series : chart.series) check_bar_series(chart, series);
  for (const Reference& reference : chart.references) {
    check(std::isfinite(reference.at),
          "BarChart \"{}\": the reference \"{}\" is at {}, expects a finite value", chart.title,
          reference.label, reference.at);
  }
  BarChart result = chart;
  for (std::size_t i = 0; i < result.series.size(); ++i) {
    if (!result.series[i].style) result.series[i].style = static_cast<int>(i % 8);
  }
  return result;
}

Range bar_range(const BarChart& chart) {
  Range range{0, 0};
  const auto add = [&](double value) {
    if (!std::isfinite(value)) return;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  };
  for (const BarSeries& series : chart.series) {
    for (const auto* values : {&series.values, &series.low, &series.high}) {
      std::for_each(values->begin(), values->end(), add);
    }
  }
  for (const Reference& reference : chart.references) add(reference.at);
  return range.low == range.high ? Range{0, 1} : range;
}

BarNumbers::BarNumbers(const BarChart& chart) {
  NumberWriter written(3);
  for (const BarSeries& series : chart.series) written.see(series.values);
  decimals_ = chart.decimals.value_or(written.all_whole() ? -1 : written.decimals());
}

std::string BarNumbers::value(double value) const {
  if (!std::isfinite(value) || decimals_ < 0) return number_text(value, 6);
  return std::abs(value) < 1e15 ? fixed_text(value, decimals_) : number_text(value);
}

std::string BarNumbers::spread(const BarSeries& series, std::size_t i) const {
  if (series.low.empty() || !std::isfinite(series.low[i]) || !std::isfinite(series.high[i])) return "";
  return fmt::format(" ({} to {})", value(series.low[i]), value(series.high[i]));
}

std::string describe(const BarChart& chart) {
  const BarNumbers numbers(chart);
  std::string text = chart.value_label.empty() ? "Bars." : chart.value_label + ".";
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    text += fmt::format(" {}:", chart.categories[i]);
    const char* separator = " ";
    for (const BarSeries& series : chart.series) {
      text += fmt::format("{}{}{}{}{}", separator, series.name, series.name.empty() ? "" : " ",
                          numbers.value(series.values[i]), numbers.spread(series, i));
      separator = ", ";
    }
    text += '.';
  }
  for (const Reference& reference : chart.references) {
    text += fmt::format(" {}: {}.", reference.label.empty() ? "Line" : reference.label,
                        numbers.value(reference.at));
  }
  return text;
}

}  // namespace gradus::kit
