#pragma once
// Charts as SVG, drawn to be read on a phone, in dark mode, without colour and by screen readers.
//
//   LineChart chart{.title = "Loss", .x_label = "step", .y_label = "nats per character"};
//   chart.series.push_back({.name = "Pre-LN", .x = steps, .y = losses});
//   std::string inline_svg = draw(chart);             // for an HtmlReport, which brings the style sheet
//   replace_file("loss.svg", svg_file(draw(chart)));  // a file of its own

#include <optional>
#include <string>
#include <vector>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/report/table.h"

namespace gradus::kit {

// Members are all initialised so that designated initializers may leave any of them out.

enum class Spread { band, error_bars };

/// Points of one kind. A y that is not finite breaks the line.
struct Series {
  std::string name{};
  std::vector<double> x{};
  std::vector<double> y{};
  std::vector<double>
      low{};  // optional, for each point: the ends of a band or bar, such as minimum and maximum
  std::vector<double> high{};
  Spread spread = Spread::band;
  bool line = true;
  bool every_marker = false;  // a marker on each point even when there are many
  bool markers = true;        // false: none at all, for lines to compare with
  /// Colour, dashes and marker (0..7); its place in the chart unless given. Give it to keep one look for one
  /// thing through all charts.
  std::optional<int> style{};
};

enum class Direction { horizontal, vertical };

/// A line at a value to compare with, such as the best possible loss.
struct Reference {
  Direction direction = Direction::horizontal;
  double at = 0;
  std::string label{};
};

/// Lines or points over numbers. Axis labels should name the unit: "loss (nats per character)".
struct LineChart {
  std::string title{};
  std::string description{};  // for screen readers; a summary of each series is added
  std::string x_label{};
  std::string y_label{};
  AxisKind x_axis = AxisKind::linear;
  AxisKind y_axis = AxisKind::linear;
  std::optional<double> x_low{}, x_high{}, y_low{}, y_high{};  // limits; from the data where not given
  std::vector<double> x_ticks{};                               // values to mark instead of round numbers
  std::vector<Series> series{};
  std::vector<Reference> references{};
  double plot_height = 200;  // of the area inside the axes; the whole is 400 wide
};

/// Charts side by side that share both axes and the legend; each panel's title stands above it. Two columns
/// are legible on a phone; more make the drawing wider, and a report scrolls it sideways there.
struct Panels {
  std::string title{};
  std::string description{};
  std::vector<LineChart> panels{};  // labels, axes and limits of the first hold for all
  int columns = 2;
};

/// A value for each row and column, such as loss by depth and learning rate, shown as shade and number.
struct HeatMap {
  std::string title{};
  std::string description{};
  std::string x_label{};
  std::string y_label{};
  std::vector<std::string> columns{};
  std::vector<std::string> rows{};
  std::vector<double> values{};  // row by row; one that is not finite is crossed out
  std::string value_label{};     // what the numbers are, with the unit
  int decimals = 2;
  std::string missing = "\u2013";  // written in the cells that are crossed out, such as "div."
  bool low_is_good = true;         // dark cells and the frame mark the best values
};

/// The <svg> element. Throws naming the chart when sizes do not match (x and y, low and high, values and
/// cells) or a limit cannot be shown.
std::string draw(const LineChart& chart);
std::string draw(const Panels& panels);
std::string draw(const HeatMap& map);

/// The numbers as drawn, for a table under the chart. A series of more than 120 points is drawn, and listed,
/// as its first and last point and, between these, the mean, minimum and maximum of 120 equal slices of the x
/// axis.
Table numbers_of(const LineChart& chart);
std::vector<Table> numbers_of(const Panels& panels);
Table numbers_of(const HeatMap& map);

/// The style sheet all charts of a page share.
std::string chart_style();

/// A file that can be opened alone: the drawing with its style sheet and background.
std::string svg_file(const std::string& drawing);

}  // namespace gradus::kit
