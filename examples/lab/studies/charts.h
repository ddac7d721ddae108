#pragma once
// The common parts of the studies' pages. A line is the mean over seeds, with a band or bars from the lowest
// to the highest; values that are NaN or infinite are left out. A compared thing is an item: a string, or
// something with a title or a name. Its index in its list is its style, unless the item has a style.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/chart/chart.h"
#include "lab/statistics/format.h"
#include "lab/study/page.h"

namespace gradus::lab {

// --- items

/// A name in runs and figures, and its title on pages.
struct Titled {
  std::string name, title;
};

/// The label of an item on pages: "Pre-LN", "12 layers", "0.003".
inline std::string label_of(const std::string& text) { return text; }
inline std::string label_of(std::int64_t layers) { return counted(layers, "layer"); }
inline std::string label_of(double rate) { return kit::number_text(rate); }
template <class Item>
requires requires(const Item& item) { item.name; }
std::string label_of(const Item& item) {
  if constexpr (requires { item.title; })
    return item.title;
  else
    return item.name;
}
template <class Item>
requires requires(const Item& item) { item.name; }
std::string label_of(const Item* item) { return label_of(*item); }

template <class Item>
int style_of(const Item& item, std::size_t place) {
  if constexpr (requires { item.style; })
    return item.style;
  else
    return static_cast<int>(place);
}

/// Converts numbers for the x of a chart.
template <class Number>
std::vector<double> as_doubles(const std::vector<Number>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// --- lines and panels

/// The finite values.
std::vector<double> finite(const std::vector<double>& values);

/// The center that a line goes through: mean() by default, or geometric_mean().
using Center = double (*)(const std::vector<double>& seeds);
/// exp of the mean of the logarithms, without values that are 0: for ratios.
double geometric_mean(const std::vector<double>& values);

/// values[i] are those of all seeds at x[i]: `chart.series.push_back(band("Pre-LN", depths, values, 0));`
kit::Series band(const std::string& name, const std::vector<double>& x,
                 const std::vector<std::vector<double>>& values, int style, Center center = nullptr);

/// The same for whole curves, one per seed, over 1, 2, ... or over `x` if given. Shorter curves count as far
/// as they go.
kit::Series band_of_curves(const std::string& name, const std::vector<std::vector<double>>& curves, int style,
                           const std::vector<double>& x = {}, Center center = nullptr);

/// A line for each item that has values, with bars: values(item, x) are those of all seeds at one of `xs`.
template <class Items, class X, class Values>
std::vector<kit::Series> lines(const Items& items, const std::vector<X>& xs, const Values& values,
                               kit::Spread spread = kit::Spread::error_bars, Center center = nullptr) {
  std::vector<kit::Series> all;
  std::size_t place = 0;
  for (const auto& item : items) {
    std::vector<std::vector<double>> seeds;
    for (const X& x : xs) seeds.push_back(values(item, x));
    kit::Series line = band(label_of(item), as_doubles(xs), seeds, style_of(item, place++), center);
    line.spread = spread;
    if (!line.x.empty()) all.push_back(std::move(line));
  }
  return all;
}

/// A line with a band for each item that has curves: curves(item) are those of all seeds.
template <class Items, class Curves>
std::vector<kit::Series> lines_of_curves(const Items& items, const Curves& curves,
                                         const std::vector<double>& x = {}, Center center = nullptr) {
  std::vector<kit::Series> all;
  std::size_t place = 0;
  for (const auto& item : items) {
    kit::Series line = band_of_curves(label_of(item), curves(item), style_of(item, place++), x, center);
    if (!line.x.empty()) all.push_back(std::move(line));
  }
  return all;
}

/// Means alone, for lines whose bands would cover each other.
std::vector<kit::Series> without_bands(std::vector<kit::Series> lines);

/// A panel for each item whose chart has lines: chart(item) makes it.
template <class Items, class Chart>
kit::Panels panels(const std::string& title, const Items& items, const Chart& chart) {
  kit::Panels all{.title = title};
  for (const auto& item : items)
    if (kit::LineChart one = chart(item); !one.series.empty()) all.panels.push_back(std::move(one));
  return all;
}

/// Each reference is labelled in the first panel that has it.
kit::Panels label_once(kit::Panels panels);

/// Positions on the axis of steps: of the values that thinned() keeps, and of the middles and the ends of
/// equal slices.
std::vector<double> thinned_steps(std::int64_t steps, std::size_t count);
std::vector<double> middles_of_slices(std::int64_t steps, std::size_t count);
std::vector<double> ends_of_slices(std::int64_t steps, std::size_t count);
std::size_t longest(const std::vector<std::vector<double>>& curves);

// --- maps, bars and tables

/// Adds rows, columns and values to the map: value(row, column).
template <class Rows, class Columns, class Value>
kit::HeatMap filled(kit::HeatMap map, const Rows& rows, const Columns& columns, const Value& value) {
  for (const auto& column : columns) map.columns.push_back(label_of(column));
  for (const auto& row : rows) {
    map.rows.push_back(label_of(row));
    for (const auto& column : columns) map.values.push_back(value(row, column));
  }
  return map;
}

/// A bar with the mean, and an error bar from the lowest to the highest seed.
void add_bar(kit::BarSeries& bars, const std::vector<double>& values);

/// A table of rows and columns with their labels: cell(row, column) is a text.
template <class Rows, class Columns, class Cell>
kit::Table cross_table(const std::string& caption, const std::string& corner, const Rows& rows,
                       const Columns& columns, const Cell& cell) {
  kit::Table table{.caption = caption, .header = {corner}};
  for (const auto& column : columns) table.header.push_back(label_of(column));
  for (const auto& row : rows) {
    table.rows.push_back({label_of(row)});
    for (const auto& column : columns) table.rows.back().push_back(cell(row, column));
  }
  return table;
}

// --- texts

/// "0.12 (0.05 to 0.19)": mean, lowest and highest seed; a dash for none.
std::string mean_and_range(const std::vector<double>& values, int digits = 3);

/// For captions: "Lines are means over 10 seeds; bands range from the lowest to the highest."
std::string describe_bands(std::size_t seeds);
/// "Lines are means over seeds; bars range from the lowest to the highest of 10 seeds."
std::string describe_bars(std::size_t seeds);
/// "10 seeds"
std::string count_seeds(std::size_t seeds);

/// Labels of items in ascending order of the mean of their values; items without values are left out.
template <class Items, class Values>
std::vector<std::pair<double, std::string>> ranked(const Items& items, const Values& values) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& item : items) {
    const std::vector<double> seeds = finite(values(item));
    if (!seeds.empty()) order.emplace_back(mean(seeds), label_of(item));
  }
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace gradus::lab
