// Heat maps as text: shades with numbers, or only shades.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "gradus/kit/chart/detail/heat_data.h"
#include "gradus/kit/chart/detail/screen.h"

namespace gradus::kit {
namespace {

// The layout of the cells: with numbers if all columns fit, else as shades two columns wide, or one.
struct HeatLayout {
  bool numbers = true;
  int names = 0;           // width of the rows' names
  int cell = 0;            // width of a cell
  std::size_t across = 0;  // cells side by side
};

char32_t shade_of(const Screen& screen, double dark) {
  constexpr std::u32string_view shades = U" \u2591\u2592\u2593\u2588";
  constexpr std::u32string_view plain_shades = U" .:+#";
  const auto level = static_cast<std::size_t>(std::clamp(std::lround(dark * 4), 0L, 4L));
  return screen.ascii() ? plain_shades[level] : shades[level];
}

HeatLayout layout_of(const Screen& screen, const HeatMap& map, const HeatCells& cells) {
  HeatLayout layout;
  for (const std::string& row : map.rows) layout.names = std::max(layout.names, columns_of(screen.text(row)));
  layout.names = std::min(layout.names, screen.width() / 3);
  for (const double value : map.values) {
    layout.cell = std::max(layout.cell, 5 + columns_of(screen.text(cells.text(value))));
  }
  for (const std::string& name : map.columns) {
    layout.cell = std::max(layout.cell, 1 + columns_of(screen.text(name)));
  }
  const int room = screen.width() - layout.names - 1;
  const auto columns = static_cast<int>(map.columns.size());
  layout.across = map.columns.size();
  if (map.numbers && layout.cell * columns <= room) return layout;
  layout.numbers = false;
  layout.cell = 2 * columns <= room ? 2 : 1;
  layout.across = std::min(layout.across, static_cast<std::size_t>(room));
  return layout;
}

// Shortens a name to the available columns.
std::u32string shortened_name(const Screen& screen, const std::string& name, int columns) {
  std::u32string text = screen.text(name);
  if (columns_of(text) <= columns) return padded(text, columns);
  while (columns_of(text) > columns - 1) text.pop_back();
  return padded(text + screen.either(U'\u2026', '~'), columns);
}

std::u32string heat_cell(const Screen& screen, const HeatCells& cells, const HeatLayout& layout,
                         double value) {
  const bool finite = std::isfinite(value);
  const char32_t shade = finite           ? shade_of(screen, cells.shade(value))
                         : layout.numbers ? U' '
                                          : screen.either(U'\u00D7', 'x');
  if (!layout.numbers) return std::u32string(static_cast<std::size_t>(layout.cell), shade);
  const std::u32string number = screen.text(cells.text(value));
  const std::u32string framed = cells.is_best(value) ? U'[' + number + U']' : U' ' + number + U' ';
  return padded(U' ' + std::u32string(2, shade) + framed, layout.cell);
}

// Names above their columns; for shades, only the first and the last.
void column_names(Screen& screen, const HeatMap& map, const HeatLayout& layout, std::size_t from,
                  std::size_t to) {
  if (!layout.numbers) {
    return screen.paragraph(
        screen.text(fmt::format("columns {} to {}", map.columns[from], map.columns[to - 1])));
  }
  std::u32string names(static_cast<std::size_t>(layout.names + 1), U' ');
  for (std::size_t i = from; i < to; ++i) names += padded(U' ' + screen.text(map.columns[i]), layout.cell);
  screen.line(names);
}

std::string labels_of(const HeatMap& map) {
  std::string text = map.value_label;
  for (const auto& [label, place] : {std::pair(map.y_label, "rows"), std::pair(map.x_label, "columns")}) {
    if (!label.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", place, label);
  }
  return text;
}

// The legend of the shades.
void heat_key(Screen& screen, const HeatMap& map, const HeatCells& cells, const HeatLayout& layout) {
  if (!std::isfinite(cells.darkest()) || (layout.numbers && !cells.judged())) return;
  const auto sample = [&](double dark) { return std::u32string(2, shade_of(screen, dark)) + U' '; };
  std::vector<std::u32string> entries;
  if (layout.numbers) {
    entries = {U"[best]"};
  } else {
    entries = {sample(1) + screen.text(cells.text(cells.darkest())), sample(0.75), sample(0.5), sample(0.25),
               sample(0) + screen.text(cells.text(cells.lightest()))};
    const bool missing =
        std::any_of(map.values.begin(), map.values.end(), [](double value) { return !std::isfinite(value); });
    if (missing)
      entries.push_back(std::u32string{screen.either(U'\u00D7', 'x'), U' '} + screen.text(map.missing));
  }
  screen.legend(entries);
}

}  // namespace

std::string terminal(const HeatMap& map, const TerminalOptions& options) {
  const HeatCells cells(map);
  Screen screen(options);
  const HeatLayout layout = layout_of(screen, map, cells);
  screen.paragraph(screen.text(map.title));
  screen.paragraph(screen.text(labels_of(map)));
  heat_key(screen, map, cells, layout);
  for (std::size_t from = 0; from < map.columns.size(); from += layout.across) {
    const std::size_t to = std::min(from + layout.across, map.columns.size());
    column_names(screen, map, layout, from, to);
    for (std::size_t row = 0; row < map.rows.size(); ++row) {
      std::u32string line = shortened_name(screen, map.rows[row], layout.names) + U' ';
      for (std::size_t column = from; column < to; ++column) {
        line += heat_cell(screen, cells, layout, map.values[row * map.columns.size() + column]);
      }
      screen.line(line);
    }
  }
  return screen.result();
}

std::ostream& operator<<(std::ostream& out, const HeatMap& map) { return out << terminal(map); }

}  // namespace gradus::kit
