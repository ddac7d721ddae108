// Pictures of chapters 23 and 28, from the output that their pages quote; a test holds that against the
// programs.

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "docs/draw/course_charts.h"

namespace gradus::docs {

namespace {

/// The lines of a page that begin with `start`, in their order.
std::vector<std::string> lines_of(const std::filesystem::path& page, const std::string& start) {
  std::ifstream file(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(start)) lines.push_back(line);
  return lines;
}

/// The next number of a line after `words`.
double number_after(const std::string& line, std::size_t& at, const std::string& words) {
  const std::size_t found = line.find(words, at);
  if (found == std::string::npos) throw std::runtime_error("no '" + words + "' in: " + line);
  std::size_t length = 0;
  const double number = std::stod(line.substr(found + words.size()), &length);
  at = found + words.size() + length;
  return number;
}

}  // namespace

kit::LineChart course_23(const std::filesystem::path& folder) {
  kit::Series intervals{.name = "95% interval", .spread = kit::Spread::error_bars, .line = false, .style = 0};
  for (const char* const start : {"   3 seeds", "  10 seeds", "  30 seeds"}) {
    const std::string line = lines_of(folder / "23_lab.md", start).at(0);  // of the first sentence
    std::size_t at = 0;
    intervals.x.push_back(number_after(line, at, ""));
    intervals.low.push_back(number_after(line, at, "seeds"));
    intervals.high.push_back(number_after(line, at, "to"));
    intervals.y.push_back((intervals.low.back() + intervals.high.back()) / 2);
  }
  return {.title = "Does the whole interval lie in the band?",
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

kit::BarChart course_28(const std::filesystem::path& folder) {
  kit::BarChart chart{.title = "What is left of copying?",
                      .description = "Only with old documents is copying kept.",
                      .value_label = "loss of copying (nats): five seeds, least to largest",
                      .references = {{.at = std::log(8.0), .label = "guessing"}},
                      .decimals = 1};
  kit::BarSeries losses;
  for (const char* const name :
       {"everything  ", "the last block", "LoRA, rank 2", "and 8 old documents", "from random weights"})
    for (const std::string& line : lines_of(folder / "28_fine_tuning.md", name)) {
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
  if (losses.values.size() != 7) throw std::runtime_error("28_fine_tuning.md has other rows than it had");
  chart.series = {losses};
  return chart;
}

}  // namespace gradus::docs
