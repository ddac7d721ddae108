// The figure of chapter 36: its table of losses, from the output that the page quotes.

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "docs/draw/course_figure.h"
#include "docs/draw/page_lines.h"

namespace gradus::docs {

namespace {

kit::BarChart draw(const std::filesystem::path& folder) {
  kit::BarChart chart{.title = "What is left of copying?",
                      .description = "Only old documents preserve copying.",
                      .value_label = "loss on copying (nats): five seeds, smallest to largest",
                      .references = {{.at = std::log(8.0), .label = "guessing"}},
                      .decimals = 1};
  kit::BarSeries losses;
  for (const char* const name :
       {"everything  ", "the last block", "LoRA, rank 2", "and 8 old documents", "from random weights"})
    for (const std::string& line : lines_of(folder / "README.md", name)) {
      std::size_t at = 0;
      number_after(line, at, name);  // how many weights
      const double rate = number_after(line, at, "");
      number_after(line, at, "");  // steps
      losses.values.push_back(number_after(line, at, ""));
      losses.low.push_back(number_after(line, at, "("));
      losses.high.push_back(number_after(line, at, "to"));
      const std::string words = std::string(name).substr(0, std::string(name).find("  "));
      chart.categories.push_back(words == "everything" ? fmt::format("everything, rate {:g}", rate) : words);
    }
  if (losses.values.size() != 7) throw std::runtime_error("README.md does not have the expected rows");
  chart.series = {losses};
  return chart;
}

const CourseFigure figure(__FILE__, draw);

}  // namespace

}  // namespace gradus::docs
