#pragma once
// Charts as lines of text, for a terminal or a log.
//
//   std::cout << kit::plot(losses);
//   std::string text = kit::terminal(chart, {.width = 60, .ascii = true});

#include <iosfwd>
#include <optional>
#include <string>

#include "gradus/kit/chart/chart.h"

namespace gradus::kit {

struct TerminalOptions {
  int width = 0;    // columns, 20 to 1000; 0: 80, or what the terminal on stdout has if that is less
  int height = 15;  // rows inside the axes of a LineChart, 2 to 1000
  /// Nothing but ASCII; unless given, where the locale (LC_ALL, LC_CTYPE, LANG) is none of UTF-8.
  std::optional<bool> ascii{};
};

/// The chart in lines no wider than asked, each ending in a newline; without colour. Throws what draw() does,
/// and at options out of range.
///
/// Lines are dots of Braille, all points of all series; of several, each is marked with letters, in ASCII
/// drawn with a character of its own. Bands and error bars are left out, of bars written in numbers. A heat
/// map too wide for numbers is shades alone, and one too wide for these comes in pieces.
std::string terminal(const LineChart& chart, const TerminalOptions& options = {});
std::string terminal(const BarChart& chart, const TerminalOptions& options = {});
std::string terminal(const HeatMap& map, const TerminalOptions& options = {});

/// terminal(chart), into a stream.
std::ostream& operator<<(std::ostream& out, const LineChart& chart);
std::ostream& operator<<(std::ostream& out, const BarChart& chart);
std::ostream& operator<<(std::ostream& out, const HeatMap& map);

}  // namespace gradus::kit
