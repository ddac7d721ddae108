#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/detail/chart_data.h"
#include "gradus/kit/chart/detail/number_writer.h"
#include "gradus/kit/chart/detail/thinning.h"

namespace gradus::kit {
namespace {

constexpr int digits = 5;

// Four digits for the largest value; on a log axis each value is formatted separately.
class Writer {
 public:
  explicit Writer(const LineChart& chart) : linear_(chart.y_axis == AxisKind::linear) {
    for (const Series& series : chart.series) written_.see(series.y);
  }
  std::string operator()(double value) const {
    return linear_ ? written_(value, digits) : number_text(value, digits);
  }

 private:
  bool linear_;
  NumberWriter written_{4};
};

std::string cell_of(const Series& series, std::size_t i, const Writer& written) {
  std::string text = written(series.y[i]);
  if (!series.low.empty() && std::isfinite(series.low[i])) {
    text += fmt::format(" ({} to {})", written(series.low[i]), written(series.high[i]));
  }
  return text;
}

bool any_is(const LineChart& chart, Thinning thinning) {
  return std::any_of(chart.series.begin(), chart.series.end(),
                     [&](const Series& series) { return thinning_of(series) == thinning; });
}

// Explains the rows of long series.
std::string how_thinned(const LineChart& chart) {
  std::string text;
  if (any_is(chart, Thinning::means)) {
    text = fmt::format(
        "between its first and last point, each row of a long line is the mean over one of {} equal slices "
        "of the x axis, with the smallest and largest value in it",
        most_points);
  }
  if (any_is(chart, Thinning::every_kth)) {
    text += fmt::format(
        "{}of more than {} points without a line, or of a line whose x decreases, only every k-th is drawn",
        text.empty() ? "" : "; ", most_drawn);
  }
  return text;
}

}  // namespace

Table numbers_of(const LineChart& original) {
  const LineChart chart = prepared(original);
  const Writer written(chart);
  Table table;
  table.caption = chart.y_label;
  if (const std::string how = how_thinned(original); !how.empty())
    table.caption += (table.caption.empty() ? "" : "; ") + how;
  table.header.push_back(chart.x_label.empty() ? "x" : chart.x_label);
  std::map<double, std::vector<std::string>> rows;  // by x, in order
  for (std::size_t column = 0; column < chart.series.size(); ++column) {
    const Series& series = chart.series[column];
    table.header.push_back(series.name);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.x[i])) continue;
      auto& row = rows[series.x[i]];
      row.resize(chart.series.size());
      std::string& cell = row[column];
      cell += (cell.empty() ? "" : ", ") + cell_of(series, i, written);  // several points may share an x
    }
  }
  for (auto& [x, cells] : rows) {
    cells.insert(cells.begin(), number_text(x, digits));
    table.rows.push_back(std::move(cells));
  }
  for (const Reference& reference : chart.references) {
    std::vector<std::string> row{fmt::format("{}: {} = {}", reference.label,
                                             reference.direction == Direction::horizontal ? "y" : "x",
                                             number_text(reference.at, digits))};
    row.resize(table.header.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Table> numbers_of(const Panels& panels) {
  std::vector<Table> tables;
  for (const LineChart& panel : panels.panels) {
    LineChart chart = panel;
    const LineChart& first = panels.panels.front();
    chart.x_label = first.x_label;
    chart.x_axis = first.x_axis;
    tables.push_back(numbers_of(chart));
    tables.back().caption = panel.title + (tables.back().caption.empty() ? "" : ": ") + tables.back().caption;
  }
  return tables;
}

}  // namespace gradus::kit
