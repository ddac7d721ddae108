// The figure of chapter 38: steps against the rate, for four sizes of the batch.

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "docs/draw/course_figure.h"
#include "gradus/core/check.h"

namespace gradus::docs {

namespace {

/// A row of the program's output, "ranks 1, batch 4 ...": steps at the rates 2^-5 to 2^0, a dash where there
/// are none.
kit::Series steps(const std::string& row, int style) {
  std::istringstream words(row);
  std::string ranks, batch, count;
  words >> ranks >> ranks >> batch >> batch;
  kit::Series series{.name = "batch " + batch, .style = style};
  for (int power = -5; power <= 0 && words >> count; ++power) {
    if (count == "-") continue;
    series.x.push_back(std::ldexp(1.0, power));
    series.y.push_back(std::stod(count));
  }
  return series;
}

kit::LineChart draw(const std::filesystem::path& folder) {
  const std::filesystem::path root = folder.parent_path().parent_path().parent_path();
  std::ifstream output(root / "examples" / "course" / folder.filename() / "expected.txt");
  kit::LineChart chart{.title = "Steps to a thousandth of the loss",
                       .description =
                           "Batches of 4 and 16 have their fewest steps at 1/16 and 1/4, and none at higher "
                           "rates; 64 has them at 1/2; 256 needs fewer and fewer steps up to a rate of 1.",
                       .x_label = "rate",
                       .y_label = "steps, mean of 10 runs",
                       .x_axis = kit::AxisKind::log,
                       .y_axis = kit::AxisKind::log,
                       .x_ticks = {1 / 32.0, 1 / 16.0, 1 / 8.0, 1 / 4.0, 1 / 2.0, 1}};
  for (std::string row; std::getline(output, row);)
    if (row.starts_with("  ranks "))
      chart.series.push_back(steps(row, static_cast<int>(chart.series.size())));
  check(chart.series.size() == 4, "the figure of chapter 38: expected.txt has {} rows of batches, not 4",
        chart.series.size());
  return chart;
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
