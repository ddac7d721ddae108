// The figure of chapter 30: its intervals, from the output that the page quotes.

#include "docs/draw/course_figure.h"
#include "docs/draw/page_lines.h"

namespace gradus::docs {

namespace {

kit::LineChart draw(const std::filesystem::path& folder) {
  kit::Series intervals{.name = "95% interval", .spread = kit::Spread::error_bars, .line = false, .style = 0};
  for (const char* const start : {"   3 seeds", "  10 seeds", "  30 seeds"}) {
    const std::string line = lines_of(folder / "README.md", start).at(0);  // the first sentence's
    std::size_t at = 0;
    intervals.x.push_back(number_after(line, at, ""));
    intervals.low.push_back(number_after(line, at, "seeds"));
    intervals.high.push_back(number_after(line, at, "to"));
    intervals.y.push_back((intervals.low.back() + intervals.high.back()) / 2);
  }
  return {.title = "Does the whole interval lie inside the band?",
          .description =
              "With 3 seeds the interval crosses both edges, with 10 the lower one, with 30 it lies inside.",
          .x_label = "seeds",
          .y_label = "exponent of Pre-LN's top gradient",
          .x_axis = kit::AxisKind::log,
          .x_low = 2,
          .x_high = 80,
          .x_ticks = {3, 10, 30},
          .series = {intervals},
          .references = {{.at = -0.4, .label = "band's end"}, {.at = -0.6, .label = "band's end"}}};
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
