// The figure of chapter 32: loss against rate for three widths, in standard scaling and with muP.

#include <fstream>
#include <string>

#include "docs/draw/course_figure.h"
#include "gradus/core/check.h"

namespace gradus::docs {

namespace {

/// From a table of the program's output: the losses of three widths at the rates 2^-8 to 2^-3.
kit::LineChart panel(std::ifstream& output, const std::string& heading, const char* title) {
  std::string line;
  while (std::getline(output, line) && line != heading) {
  }
  check(output.good(), "the figure of chapter 32: expected.txt has no line \"{}\"", heading);
  std::getline(output, line);  // the heads of the columns
  kit::LineChart chart{.title = title,
                       .x_label = "rate, as a power of 2",
                       .y_label = "loss, mean of five seeds",
                       .y_axis = kit::AxisKind::log,
                       .y_low = 0.05,
                       .y_high = 2,
                       .x_ticks = {-8, -7, -6, -5, -4, -3}};
  for (int style = 0; style < 3; ++style) {
    int width = 0;
    output >> width;
    kit::Series series{.name = "width " + std::to_string(width), .style = style};
    for (int power = -8; power <= -3; ++power) {
      series.x.push_back(power);
      output >> series.y.emplace_back();
    }
    chart.series.push_back(series);
    std::getline(output, line);
  }
  return chart;
}

kit::Panels draw(const std::filesystem::path& folder) {
  const std::filesystem::path root = folder.parent_path().parent_path().parent_path();
  std::ifstream output(root / "examples" / "course" / folder.filename() / "expected.txt");
  kit::Panels panels{.title = "Loss against rate, by width",
                     .description =
                         "In standard scaling the lowest loss moves to lower rates in wider nets; "
                         "with muP it stays at 2^-5 and falls."};
  panels.panels.push_back(panel(output, "Standard, by width", "Standard"));
  panels.panels.push_back(panel(output, "muP, by width", "muP"));
  return panels;
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
