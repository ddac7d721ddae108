// Line charts as text: Braille dots inside axes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "gradus/kit/chart/detail/chart_data.h"
#include "gradus/kit/chart/detail/dots.h"
#include "gradus/kit/chart/detail/screen.h"

namespace gradus::kit {
namespace {

constexpr int least_columns = 4;  // inside the axes

// The mark of a series in the picture and the legend.
char32_t mark_of(const Screen& screen, std::size_t series, std::size_t all) {
  if (screen.ascii()) return U"*o+x#@%&"[series % 8];
  return all == 1 ? U'\u2022' : U'A' + static_cast<char32_t>(series % 26);
}

char32_t reference_mark(const Screen& screen, Direction direction) {
  return direction == Direction::horizontal ? screen.either(U'\u2504', '-') : screen.either(U'\u250A', ':');
}

// The frame of the data: a grid of dots with its two scales and the axes' labels.
struct LineFrame {
  Dots dots;
  Scale x, y;
  std::vector<std::u32string> beside;  // the y axis, for each row
  std::u32string axis, below;          // the lines below the picture
};

std::vector<Tick> marks_along_x(const LineChart& chart, Range values, int columns) {
  if (chart.x_ticks.empty()) return nice_ticks(chart.x_axis, values, std::max(2, columns / 12));
  return ticks_at(chart.x_ticks, values);
}

// Writes labels below their marks, except those that would touch the one before.
void number_x_axis(const Screen& screen, const LineChart& chart, LineFrame& frame, int left, int columns) {
  frame.axis = std::u32string(static_cast<std::size_t>(left - 1), U' ') + screen.either(U'\u2514', '+') +
               std::u32string(static_cast<std::size_t>(columns), screen.either(U'\u2500', '-'));
  for (const Tick& tick : marks_along_x(chart, frame.x.values(), columns)) {
    const int column = left + std::clamp(frame.dots.column_of(frame.x(tick.value)), 0, columns - 1);
    frame.axis[static_cast<std::size_t>(column)] = screen.either(U'\u252C', '+');
    const std::u32string label = screen.text(tick.label);
    const int size = columns_of(label);
    const int start = std::clamp(column - (size - 1) / 2, 0, left + columns - size);
    const int taken = columns_of(frame.below);
    if (size == 0 || (taken > 0 && start < taken + 2)) continue;
    frame.below = padded(frame.below, start) + label;
  }
}

LineFrame frame_of(const Screen& screen, const LineChart& chart) {
  const std::vector<LineChart> alone{chart};
  const Range x_values = x_range(alone);
  const Range y_values = y_range(alone);
  const std::vector<Tick> ticks = nice_ticks(chart.y_axis, y_values, std::max(2, screen.height() / 3));
  int widest = 0;
  for (const Tick& tick : ticks) widest = std::max(widest, columns_of(screen.text(tick.label)));
  if (screen.width() - widest - 2 < least_columns) widest = 0;
  const int left = widest + 2;
  const int columns = screen.width() - left;

  LineFrame frame{Dots(columns, screen.height(), !screen.ascii()), {}, {}, {}, {}, {}};
  const Box box = frame.dots.box();
  frame.x = Scale(chart.x_axis, x_values, box.left, box.right);
  frame.y = Scale(chart.y_axis, y_values, box.bottom, box.top);
  const char32_t upright = screen.either(U'\u2502', '|');
  frame.beside.assign(static_cast<std::size_t>(screen.height()),
                      std::u32string(static_cast<std::size_t>(left - 1), U' ') + upright);
  for (const Tick& tick : ticks) {
    const int row = std::clamp(frame.dots.row_of(frame.y(tick.value)), 0, screen.height() - 1);
    const std::u32string label = widest > 0 ? screen.text(tick.label) : U"";
    std::u32string& beside = frame.beside[static_cast<std::size_t>(row)];
    const bool free = beside.back() == upright;
    if (free || !label.empty())
      beside = right_aligned(label, left - 2) + U' ' + screen.either(U'\u2524', '+');
  }
  number_x_axis(screen, chart, frame, left, columns);
  return frame;
}

void draw_reference_under(const Screen& screen, LineFrame& frame, const Reference& reference) {
  const bool horizontal = reference.direction == Direction::horizontal;
  const Box box = frame.dots.box();
  const double place = horizontal ? frame.y(reference.at) : frame.x(reference.at);
  if (!(place >= 0 && place <= (horizontal ? box.bottom : box.right))) return;  // also if it is NaN
  const int last = horizontal ? frame.dots.column_of(box.right) : frame.dots.row_of(box.bottom);
  for (int i = 0; i <= last; ++i) {
    const int column = horizontal ? i : frame.dots.column_of(place);
    const int row = horizontal ? frame.dots.row_of(place) : i;
    frame.dots.put_under(column, row, reference_mark(screen, reference.direction));
  }
}

// The points of a series. For a line, keeps only the first, lowest, highest and last of consecutive points in
// one column of dots, which draw the same dots. Gaps remain as points that are not drawable.
std::vector<Point> thinned(const LineFrame& frame, const Series& series) {
  std::vector<Point> points;
  std::size_t run = 0;  // the number of points of the last column in `points`: up to four
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Point p{frame.x(series.x[i]), frame.y(series.y[i])};
    const bool same = run > 0 && drawable(p) && std::lround(points.back().x) == std::lround(p.x);
    if (!same) run = 0;
    points.push_back(p);
    run = drawable(p) ? run + 1 : 0;
    if (run < 5 || !series.line) continue;
    // first, two in the middle, last, new: the last is now one of the middle points.
    Point* five = &points[points.size() - 5];
    const auto [low, high] =
        std::minmax({five[1], five[2], five[3]}, [](Point a, Point b) { return a.y < b.y; });
    const Point kept[] = {low, high, p};
    std::copy(std::begin(kept), std::end(kept), five + 1);
    points.pop_back();
    run = 4;
  }
  return points;
}

// Points that no line joins, which must be marked.
bool stands_alone(const std::vector<Point>& points, std::size_t i) {
  const bool before = i > 0 && drawable(points[i - 1]);
  const bool after = i + 1 < points.size() && drawable(points[i + 1]);
  return !before && !after;
}

void draw_points(LineFrame& frame, const Series& series, char32_t mark, bool braille, std::size_t place,
                 std::size_t all) {
  const std::vector<Point> points = thinned(frame, series);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (series.line && i > 0) frame.dots.segment(points[i - 1], points[i], mark);
    if (!series.line || stands_alone(points, i)) frame.dots.put(points[i], mark);
  }
  if (!braille || all == 1 || !series.line || points.empty()) return;
  // Letters along the line, at different positions for each series.
  for (int i = 0; i < 5; ++i) {
    const double share = (i + 0.2 + 0.2 * static_cast<double>(place % 4)) / 5;
    frame.dots.put(points[static_cast<std::size_t>(share * static_cast<double>(points.size() - 1))], mark);
  }
}

std::vector<std::u32string> line_legend(const Screen& screen, const LineChart& chart) {
  std::vector<std::u32string> entries;
  const std::size_t all = chart.series.size();
  for (std::size_t i = 0; i < all; ++i) {
    const std::u32string name = screen.text(chart.series[i].name);
    if (all > 1) entries.push_back(std::u32string{mark_of(screen, i, all), U' '} + name);
    if (all == 1 && !name.empty()) entries.push_back(name);
  }
  for (const Reference& reference : chart.references) {
    const std::string text = fmt::format(" {} ({})", reference.label, number_text(reference.at));
    entries.push_back(reference_mark(screen, reference.direction) + screen.text(text));
  }
  if (all == 0) entries.push_back(U"no data");
  return entries;
}

}  // namespace

std::string terminal(const LineChart& original, const TerminalOptions& options) {
  Screen screen(options);
  LineChart chart = checked(original);
  for (Series& series : chart.series) series.low.clear(), series.high.clear();
  LineFrame frame = frame_of(screen, chart);
  for (const Reference& reference : chart.references) draw_reference_under(screen, frame, reference);
  const std::size_t all = chart.series.size();
  for (std::size_t i = 0; i < all; ++i) {
    draw_points(frame, chart.series[i], mark_of(screen, i, all), !screen.ascii(), i, all);
  }
  screen.paragraph(screen.text(chart.title));
  screen.legend(line_legend(screen, chart));
  screen.paragraph(screen.text(chart.y_label));
  for (int row = 0; row < screen.height(); ++row) {
    screen.line(frame.beside[static_cast<std::size_t>(row)] + frame.dots.row(row));
  }
  screen.line(frame.axis);
  screen.line(frame.below);
  const std::u32string x_label = screen.text(chart.x_label);
  screen.paragraph(x_label, std::max(0, (screen.width() - columns_of(x_label)) / 2));
  return screen.result();
}

std::ostream& operator<<(std::ostream& out, const LineChart& chart) { return out << terminal(chart); }

}  // namespace gradus::kit
