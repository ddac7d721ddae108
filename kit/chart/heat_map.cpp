#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/detail/chart_style.h"
#include "gradus/kit/chart/detail/heat_data.h"
#include "gradus/kit/data/detail/png.h"

namespace gradus::kit {
namespace {

constexpr double row_height = 34;
// Shades are light enough (dark mode: dark enough) for legible numbers.
constexpr double weakest_shade = 0.04;
constexpr double strongest_shade = 0.62;
// Without numbers: the colours of .heat and of values that are not finite.
constexpr std::array<std::uint8_t, 3> heat_color = {0x3f, 0x86, 0xd0}, missing_color = {0xb8, 0x4a, 0x00};
constexpr double shades_low = 24, shades_high = 480;  // the least and the largest height of all rows

double opacity(double shade) { return weakest_shade + shade * (1 - weakest_shade); }

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
  if (!map.numbers) {
    text += fmt::format(" {} rows, {} columns", map.rows.size(), map.columns.size());
    if (std::isfinite(cells.darkest()))
      text += fmt::format(", from {} to {}", cells.text(std::min(cells.darkest(), cells.lightest())),
                          cells.text(std::max(cells.darkest(), cells.lightest())));
    return text + ".";
  }
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

/// A pixel for each value, whose opacity is its shade, so that it fits light and dark pages.
std::string shades_png(const HeatMap& map, const HeatCells& cells) {
  Pixels pixels{.width = static_cast<std::int64_t>(map.columns.size()),
                .height = static_cast<std::int64_t>(map.rows.size()),
                .channels = 4};
  for (const double value : map.values) {
    const bool finite = std::isfinite(value);
    for (const std::uint8_t part : finite ? heat_color : missing_color) pixels.values.push_back(part);
    const double alpha = finite ? opacity(std::clamp(cells.shade(value), 0.0, 1.0)) : 1;
    pixels.values.push_back(static_cast<std::uint8_t>(std::lround(255 * alpha)));
  }
  return to_png(pixels);
}

/// Which names have room: every first, second, fifth, tenth, ... if each needs `wanted` of `given` units.
std::size_t name_step(double wanted, double given) {
  std::size_t step = 1;
  for (std::size_t power = 1; static_cast<double>(step) * given < wanted; power *= 10)
    for (const std::size_t times : {1, 2, 5})
      if (static_cast<double>(step) * given < wanted) step = times * power;
  return step;
}

/// The meaning of the shades, in a line of this width at `top`.
void draw_shades_key(Svg& svg, const HeatMap& map, const HeatCells& cells, double top) {
  constexpr double swatch = 22, height = 12;
  double x = margin;
  const auto write = [&](const std::string& text) {
    svg.text("soft", x, top + 14, Anchor::start, text);
    x += text_width(text, text_size) + 6;
  };
  if (std::isfinite(cells.darkest())) {
    write(cells.text(cells.lightest()));
    for (const double shade : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      svg.rect("heat", x, top + 4, swatch, height, fmt::format("fill-opacity=\"{:.2f}\"", opacity(shade)));
      x += swatch;
    }
    x += 6;
    write(cells.text(cells.darkest()));
    x += 12;
  }
  if (std::all_of(map.values.begin(), map.values.end(), [](double value) { return std::isfinite(value); }))
    return;
  svg.rect("", x, top + 4, swatch, height,
           fmt::format("fill=\"#{:02x}{:02x}{:02x}\"", missing_color[0], missing_color[1], missing_color[2]));
  x += swatch + 6;
  write(map.missing == HeatMap().missing ? "NaN or infinite" : map.missing);
}

}  // namespace

std::string draw(const HeatMap& map) {
  const HeatCells cells(map);
  const auto columns = static_cast<double>(map.columns.size());
  double label_room = text_width(map.y_label, text_size);
  for (const std::string& row : map.rows) label_room = std::max(label_room, text_width(row, text_size));
  const double left = margin + label_room + 8;
  const double width =
      std::max(400.0, left + (map.numbers ? columns * narrowest_cell(map, cells) : 200) + margin);
  const double cell = (width - left - margin) / columns;
  const double all_rows = static_cast<double>(map.rows.size());
  const double row_size =
      map.numbers ? row_height : std::clamp(cell * all_rows, shades_low, shades_high) / all_rows;
  double widest_name = 0;
  for (const std::string& name : map.columns)
    widest_name = std::max(widest_name, text_width(name, text_size));
  const std::size_t row_step = map.numbers ? 1 : name_step(15, row_size);
  const std::size_t column_step = map.numbers ? 1 : name_step(widest_name + 6, cell);

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
  if (!map.numbers) {
    draw_shades_key(svg, map, cells, top);
    top += 24;
  }
  svg.text("soft", left - 8, top + 14, Anchor::end, map.y_label);
  for (std::size_t i = 0; i < map.columns.size(); i += column_step) {
    svg.text("soft", left + (static_cast<double>(i) + 0.5) * cell, top + 14, Anchor::middle, map.columns[i]);
  }
  top += 20;
  if (!map.numbers)
    svg.image(left, top, columns * cell, all_rows * row_size, shades_png(map, cells), cell < 0.5);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    if (row % row_step == 0) svg.text("", left - 8, top + row_size / 2 + 4.5, Anchor::end, map.rows[row]);
    for (std::size_t column = 0; map.numbers && column < map.columns.size(); ++column) {
      draw_cell(svg, cells, map.values[row * map.columns.size() + column],
                left + static_cast<double>(column) * cell, top, cell);
    }
    top += row_size;
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
