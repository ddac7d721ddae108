#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/detail/chart_style.h"
#include "gradus/kit/chart/detail/heat_data.h"

namespace gradus::kit {
namespace {

constexpr double row_height = 34;
// Shades are light enough (dark mode: dark enough) for legible numbers.
constexpr double weakest_shade = 0.04;
constexpr double strongest_shade = 0.62;

void draw_cell(Svg& svg, const HeatCells& cells, double value, double x, double y, double width) {
  const double inner = width - 2;
  const double height = row_height - 2;
  if (std::isfinite(value)) {
    const double shade = weakest_shade + cells.shade(value) * (strongest_shade - weakest_shade);
    svg.rect("heat", x + 1, y + 1, inner, height, fmt::format("rx=\"3\" fill-opacity=\"{:.2f}\"", shade));
    if (cells.is_best(value)) svg.rect("best", x + 2, y + 2, inner - 2, height - 2, "rx=\"3\"");
  } else {
    svg.line("grid", x + 2, y + row_height - 2, x + width - 2, y + 2);
    svg.rect("axis", x + 1, y + 1, inner, height, "rx=\"3\" stroke-dasharray=\"2 3\"");
  }
  svg.text(std::isfinite(value) ? "" : "halo soft", x + width / 2, y + row_height / 2 + 4.5, Anchor::middle,
           cells.text(value));
}

std::string describe(const HeatMap& map, const HeatCells& cells) {
  std::string text = map.value_label.empty() ? "Values" : map.value_label;
  if (!map.y_label.empty()) text += fmt::format(" by {} (rows)", map.y_label);
  if (!map.x_label.empty())
    text += fmt::format(" {} {} (columns)", map.y_label.empty() ? "by" : "and", map.x_label);
  text += '.';
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    text += fmt::format(" {}:", map.rows[row]);
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      text += fmt::format(" {}", cells.text(map.values[row * map.columns.size() + column]));
    }
    text += '.';
  }
  return text;
}

double narrowest_cell(const HeatMap& map, const HeatCells& cells) {
  double widest = 46;
  for (const std::string& name : map.columns) widest = std::max(widest, text_width(name, text_size) + 6);
  for (const double value : map.values) {
    widest = std::max(widest, text_width(cells.text(value), text_size) + 6);
  }
  return widest;
}

}  // namespace

std::string draw(const HeatMap& map) {
  const HeatCells cells(map);
  const auto columns = static_cast<double>(map.columns.size());
  double label_room = text_width(map.y_label, text_size);
  for (const std::string& row : map.rows) label_room = std::max(label_room, text_width(row, text_size));
  const double left = margin + label_room + 8;
  const double width = std::max(400.0, left + columns * narrowest_cell(map, cells) + margin);
  const double cell = (width - left - margin) / columns;

  Svg svg;
  double top = margin;
  for (const std::string& line : wrapped(map.title, 1.1 * title_size, width - 2 * margin)) {
    svg.text("title", margin, top + 14, Anchor::start, line);
    top += 19;
  }
  for (const std::string& line : wrapped(map.value_label, text_size, width - 2 * margin)) {
    svg.text("soft", margin, top + 14, Anchor::start, line);
    top += 17;
  }
  top += 6;
  svg.text("soft", left - 8, top + 14, Anchor::end, map.y_label);
  for (std::size_t i = 0; i < map.columns.size(); ++i) {
    svg.text("soft", left + (static_cast<double>(i) + 0.5) * cell, top + 14, Anchor::middle, map.columns[i]);
  }
  top += 20;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    svg.text("", left - 8, top + row_height / 2 + 4.5, Anchor::end, map.rows[row]);
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      draw_cell(svg, cells, map.values[row * map.columns.size() + column],
                left + static_cast<double>(column) * cell, top, cell);
    }
    top += row_height;
  }
  if (!map.x_label.empty()) {
    svg.text("soft", left + columns * cell / 2, top + 16, Anchor::middle, map.x_label);
    top += 18;
  }
  const std::string summary = describe(map, cells);
  return svg.finish(width, top + margin, map.title,
                    map.description.empty() ? summary : map.description + " " + summary);
}

Table numbers_of(const HeatMap& map) {
  const HeatCells checked(map);
  Table table{map.value_label, {map.y_label + " \\ " + map.x_label}, {}};
  table.header.insert(table.header.end(), map.columns.begin(), map.columns.end());
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    std::vector<std::string> cells{map.rows[row]};
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row * map.columns.size() + column];
      cells.push_back(std::isfinite(value) ? number_text(value, 5) : map.missing);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace gradus::kit
