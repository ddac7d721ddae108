// Bar charts as text.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "gradus/kit/chart/detail/bar_data.h"
#include "gradus/kit/chart/detail/screen.h"

namespace gradus::kit {
namespace {

constexpr int least_bar = 12;  // columns; with fewer, bars are on separate lines
constexpr int indent = 2;

struct BarRow {
  std::u32string name;
  std::u32string number;
  double value;
};

// Draws bars in a number of columns; negative ones in half characters, positive ones in eighths.
class BarPainter {
 public:
  BarPainter(const Screen& screen, const BarChart& chart, int columns)
      : screen_(screen), chart_(chart), columns_(columns) {
    const Range range = bar_range(chart);
    const bool has_axis = range.low < 0;
    scale_ = Scale(AxisKind::linear, range, 0, has_axis ? columns - 1 : columns);
    below_ = has_axis ? static_cast<int>(std::lround(scale_(0))) : 0;
    above_ = columns - below_ - (has_axis ? 1 : 0);
    axis_ = has_axis;
  }

  std::u32string operator()(double value) const {
    std::u32string bar(static_cast<std::size_t>(columns_), U' ');
    if (axis_) bar[static_cast<std::size_t>(below_)] = screen_.either(U'\u2502', '|');
    const double length = std::isfinite(value) ? scale_(value) - scale_(0) : 0;
    length < 0 ? paint_below(bar, -length) : paint_above(bar, length);
    for (const Reference& reference : chart_.references) {
      const int away = static_cast<int>(std::abs(scale_(reference.at) - scale_(0)));
      const int column = reference.at < 0 ? below_ - 1 - away : columns_ - above_ + away;
      bar[static_cast<std::size_t>(std::clamp(column, 0, columns_ - 1))] = screen_.either(U'\u250A', ':');
    }
    return bar;
  }

 private:
  void paint_above(std::u32string& bar, double length) const {
    const int eighths = static_cast<int>(std::lround(std::min<double>(length, above_) * 8));
    const auto start = static_cast<std::size_t>(columns_ - above_);
    const int full = screen_.ascii() ? (eighths + 4) / 8 : eighths / 8;
    std::fill_n(bar.begin() + static_cast<std::ptrdiff_t>(start), full, screen_.either(U'\u2588', '#'));
    const int rest = eighths % 8;  // U+258F is one eighth, U+2589 seven
    if (!screen_.ascii() && rest > 0)
      bar[start + static_cast<std::size_t>(full)] = U'\u2590' - static_cast<char32_t>(rest);
  }

  void paint_below(std::u32string& bar, double length) const {
    const int halves = static_cast<int>(std::lround(std::min<double>(length, below_) * 2));
    const int full = screen_.ascii() ? (halves + 1) / 2 : halves / 2;
    std::fill_n(bar.begin() + below_ - full, full, screen_.either(U'\u2588', '#'));
    if (!screen_.ascii() && halves % 2 == 1) bar[static_cast<std::size_t>(below_ - full - 1)] = U'\u2590';
  }

  const Screen& screen_;
  const BarChart& chart_;
  int columns_;
  Scale scale_;
  int below_ = 0, above_ = 0;  // columns on the two sides of zero
  bool axis_ = false;
};

std::vector<std::vector<BarRow>> rows_of(const Screen& screen, const BarChart& chart) {
  const BarNumbers numbers(chart);
  std::vector<std::vector<BarRow>> rows(chart.categories.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const BarSeries& series : chart.series) {
      const std::string number = numbers.value(series.values[i]) + numbers.spread(series, i);
      const std::string& name = chart.series.size() > 1 ? series.name : chart.categories[i];
      rows[i].push_back({screen.text(name), screen.text(number), series.values[i]});
    }
  }
  return rows;
}

void bar_legend(Screen& screen, const BarChart& chart) {
  std::vector<std::u32string> entries;
  if (chart.series.size() == 1 && !chart.series[0].name.empty())
    entries.push_back(screen.text(chart.series[0].name));
  const BarNumbers numbers(chart);
  for (const Reference& reference : chart.references) {
    entries.push_back(screen.either(U'\u250A', ':') +
                      screen.text(fmt::format(" {} ({})", reference.label, numbers.value(reference.at))));
  }
  screen.legend(entries);
}

}  // namespace

std::string terminal(const BarChart& original, const TerminalOptions& options) {
  Screen screen(options);
  const BarChart chart = prepared(original);
  const bool grouped = chart.series.size() > 1;
  const auto categories = rows_of(screen, chart);
  int name_room = 0;
  int number_room = 0;
  for (const auto& rows : categories) {
    for (const BarRow& row : rows) {
      name_room = std::max(name_room, columns_of(row.name));
      number_room = std::max(number_room, columns_of(row.number));
    }
  }
  const int left = grouped ? indent : 0;
  const int beside = screen.width() - left - name_room - number_room - 3;
  const bool in_one_line = beside >= least_bar;
  const BarPainter bar(screen, chart, in_one_line ? beside : screen.width() - indent);

  screen.paragraph(screen.text(chart.title));
  screen.paragraph(screen.text(chart.value_label));
  bar_legend(screen, chart);
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (grouped) screen.paragraph(screen.text(chart.categories[i]));
    for (const BarRow& row : categories[i]) {
      if (in_one_line) {
        screen.line(std::u32string(static_cast<std::size_t>(left), U' ') + padded(row.name, name_room) +
                    U"  " + right_aligned(row.number, number_room) + U' ' + bar(row.value));
      } else {
        screen.paragraph(row.name.empty() ? row.number : row.name + U": " + row.number, left);
        screen.line(std::u32string(indent, U' ') + bar(row.value));
      }
    }
  }
  return screen.result();
}

std::ostream& operator<<(std::ostream& out, const BarChart& chart) { return out << terminal(chart); }

}  // namespace gradus::kit
