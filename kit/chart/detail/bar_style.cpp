#include "gradus/kit/chart/detail/bar_style.h"

#include <algorithm>
#include <array>

#include "gradus/kit/chart/detail/chart_style.h"

namespace gradus::kit {
namespace {

// Distances between lines in four directions; 0: none.
struct Hatching {
  double rising = 0, falling = 0, upright = 0, level = 0;
};

constexpr std::array<Hatching, chart_styles> hatchings = {{
    {},                             // full
    {.rising = 6},                  //
    {},                             // empty
    {.rising = 7, .falling = 7},    //
    {.upright = 4},                 //
    {.falling = 4},                 //
    {.level = 4},                   //
    {.upright = 6.5, .level = 6.5}  //
}};

void diagonals(PathData& path, const Box& bar, double apart, bool rising) {
  if (apart == 0) return;
  for (double foot = bar.left - bar.height() + apart / 2; foot < bar.right; foot += apart) {
    const double from = std::max(foot, bar.left);
    const double to = std::min(foot + bar.height(), bar.right);
    if (from >= to) continue;
    const auto y = [&](double x) { return rising ? bar.bottom - (x - foot) : bar.top + (x - foot); };
    path.move_to(from, y(from)).line_to(to, y(to));
  }
}

PathData lines_in(const Box& bar, const Hatching& hatching) {
  PathData path;
  diagonals(path, bar, hatching.rising, true);
  diagonals(path, bar, hatching.falling, false);
  for (double x = bar.left + hatching.upright; hatching.upright > 0 && x < bar.right; x += hatching.upright) {
    path.move_to(x, bar.top).line_to(x, bar.bottom);
  }
  for (double y = bar.top + hatching.level; hatching.level > 0 && y < bar.bottom; y += hatching.level) {
    path.move_to(bar.left, y).line_to(bar.right, y);
  }
  return path;
}

}  // namespace

void draw_bar(Svg& svg, int style, const Box& bar) {
  const auto rect = [&](const char* css, const char* more) {
    svg.rect(css, bar.left, bar.top, bar.width(), bar.height(), more);
  };
  if (style == 0) return rect("bar", "fill=\"currentColor\"");
  rect("band", "");
  svg.path("bars", lines_in(bar, hatchings[static_cast<std::size_t>(style)]));
  rect("bars", "");
}

double draw_bar_legend(Svg& svg, const std::vector<BarSeries>& series, double left, double top,
                       double width) {
  constexpr double sample = 28;
  constexpr double row_height = 19;
  double x = left;
  double y = top + row_height / 2;
  for (const BarSeries& one : series) {
    const double needed = sample + 6 + text_width(one.name, text_size);
    if (x > left && x + needed > left + width) x = left, y += row_height;
    svg.begin_group(style_class(one.style.value_or(0)));
    draw_bar(svg, one.style.value_or(0), {x, y - 6, x + sample, y + 6});
    svg.end_group();
    svg.text("", x + sample + 6, y + 4.4, Anchor::start, one.name);
    x += needed + 16;
  }
  return y + row_height / 2 - top;
}

}  // namespace gradus::kit
