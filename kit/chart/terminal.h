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
  int width = 0;    // columns, 20 to 1000; 0: 80, or the width of the terminal on stdout if that is less
  int height = 15;  // rows inside the axes of a LineChart, 2 to 1000
  /// Only ASCII; not given: true unless the locale (LC_ALL, LC_CTYPE, LANG) uses UTF-8.
  std::optional<bool> ascii{};
};

/// The chart as lines of text of at most this width, each ending in a newline, without colour. Throws like
/// draw(), and for options out of range.
///
/// Lines are drawn with dots of Braille, with all points of all series; letters mark each of several lines,
/// in ASCII a different character draws each. Bands and error bars are not drawn; those of bars are written
/// as numbers. A heat map too wide for numbers has only shades, and one too wide for shades is split into
/// pieces.
std::string terminal(const LineChart& chart, const TerminalOptions& options = {});
std::string terminal(const BarChart& chart, const TerminalOptions& options = {});
std::string terminal(const HeatMap& map, const TerminalOptions& options = {});

/// Writes terminal(chart) to a stream.
std::ostream& operator<<(std::ostream& out, const LineChart& chart);
std::ostream& operator<<(std::ostream& out, const BarChart& chart);
std::ostream& operator<<(std::ostream& out, const HeatMap& map);

}  // namespace gradus::kit
