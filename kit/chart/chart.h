#pragma once
// Charts as SVG, drawn to be read on a phone, in dark mode, without colour and by screen readers.
//
//   LineChart chart{.title = "Loss", .x_label = "step", .y_label = "nats per character"};
//   chart.series.push_back({.name = "Pre-LN", .x = steps, .y = losses});
//   chart.save("loss.svg");  // or loss.html; in an HtmlReport: report.figure(chart, "Falls."); here:
//   terminal.h
//
// plot.h makes a chart from tensors and vectors in one line.

#include <optional>
#include <string>
#include <vector>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/report/table.h"

namespace gradus::kit {

// Members are all initialised so that designated initializers may leave any of them out.

/// How `low` and `high` are drawn: as an area, or as a bar at each point.
enum class Spread { band, error_bars };

/// Points of one kind. A y that is not finite breaks the line.
struct Series {
  std::string name{};       // in the legend
  std::vector<double> x{};  // ascending, for a line
  std::vector<double> y{};  // one for each x
  std::vector<double>
      low{};  // optional, for each point: the ends of a band or bar, such as minimum and maximum
  std::vector<double> high{};    // as low: the upper ends
  Spread spread = Spread::band;  // how these are drawn
  bool line = true;              // points are joined
  bool every_marker = false;     // a marker on each point even when there are many
  bool markers = true;           // false: none at all, for lines to compare with
  /// Colour, dashes and marker (0..7); its place in the chart unless given. Give it to keep one look for one
  /// thing through all charts.
  std::optional<int> style{};
};

/// Of a line across the chart: horizontal stands at a y, vertical at an x.
enum class Direction { horizontal, vertical };

/// A line at a value to compare with, such as the best possible loss.
struct Reference {
  Direction direction = Direction::horizontal;  // how it runs
  double at = 0;                                // the value
  std::string label{};                          // beside the line
};

/// Lines or points over numbers. Axis labels should name the unit: "loss (nats per character)".
struct LineChart {
  std::string title{};                 // above the chart
  std::string description{};           // for screen readers; a summary of each series is added
  std::string x_label{};               // what x is, with its unit
  std::string y_label{};               // what y is, with its unit
  AxisKind x_axis = AxisKind::linear;  // linear or log
  AxisKind y_axis = AxisKind::linear;  // linear or log
  std::optional<double> x_low{}, x_high{}, y_low{}, y_high{};  // limits; from the data where not given
  std::vector<double> x_ticks{};                               // values to mark instead of round numbers
  std::vector<Series> series{};                                // what is drawn, in the order of the legend
  std::vector<Reference> references{};                         // values to compare with
  double plot_height = 200;  // of the area inside the axes; the whole is 400 wide

  /// Writes the drawing: `chart.save("loss.svg")`. "loss.html" is a page with the numbers in a table, too.
  /// Throws at any other ending, and what draw() and replace_file() throw.
  void save(const std::string& path) const;
};

/// Charts side by side that share both axes and the legend; each panel's title stands above it. Two columns
/// are legible on a phone; more make the drawing wider, and a report scrolls it sideways there.
struct Panels {
  std::string title{};              // above all panels
  std::string description{};        // for screen readers
  std::vector<LineChart> panels{};  // labels, axes and limits of the first hold for all
  int columns = 2;                  // panels side by side

  void save(const std::string& path) const;  // as of a LineChart
};

/// One bar in each category. A value that is not finite is written, not drawn.
struct BarSeries {
  std::string name{};            // in the legend
  std::vector<double> values{};  // one for each category
  std::vector<double> low{};     // optional, for each value: the ends of an error bar
  std::vector<double> high{};    // the upper ends
  std::optional<int> style{};    // colour and hatching (0..7); its place in the chart unless given
};

/// Values by name, as bars from zero that lie, so that long names fit a phone. Each has its number beside it.
/// There is no log axis, which has no zero to start from: use a LineChart there, with `.line = false`.
struct BarChart {
  std::string title{};                    // above the chart
  std::string description{};              // for screen readers
  std::string value_label{};              // what the numbers are, with the unit
  std::vector<std::string> categories{};  // names of the groups of bars
  std::vector<BarSeries> series{};        // bars of one category lie together
  std::vector<Reference> references{};    // lines across all bars, whatever their direction
  std::optional<int> decimals{};          // of the numbers; as many as the largest value needs

  void save(const std::string& path) const;  // as of a LineChart
};

/// A value for each row and column, such as loss by depth and learning rate, shown as shade and number.
struct HeatMap {
  std::string title{};                 // above the map
  std::string description{};           // for screen readers
  std::string x_label{};               // what the columns are
  std::string y_label{};               // what the rows are
  std::vector<std::string> columns{};  // their names, from the left
  std::vector<std::string> rows{};     // their names, from above
  std::vector<double> values{};        // row by row; one that is not finite is crossed out
  std::string value_label{};           // what the numbers are, with the unit
  std::optional<int> decimals{};       // of the numbers; as many as the largest value needs
  std::string missing = "\u2013";      // written in the cells that are crossed out, such as "div."
  /// Whether low or high values are good: those are dark, the best has a frame. Not given: no judgement,
  /// large values are dark.
  std::optional<bool> low_is_good{};
  /// With low_is_good: values worse than this are as light as this one; the worst of all where not given.
  std::optional<double> lightest{};

  void save(const std::string& path) const;  // as of a LineChart
};

/// The <svg> element. Throws naming the chart when sizes do not match (x and y, low and high, values and
/// cells, values and categories) or a limit cannot be shown.
std::string draw(const LineChart& chart);
std::string draw(const Panels& panels);
std::string draw(const BarChart& chart);
std::string draw(const HeatMap& map);

/// The numbers as drawn, for a table under the chart. A line of more than 120 points whose x never falls is
/// drawn, and listed, as its first and last point and, between these, the mean, minimum and maximum of 120
/// equal slices of the x axis. Points without a line, and a line whose x falls back, as on a circle, are
/// drawn as they are; of more than 2000 only every k-th.
Table numbers_of(const LineChart& chart);
std::vector<Table> numbers_of(const Panels& panels);
Table numbers_of(const BarChart& chart);
Table numbers_of(const HeatMap& map);

/// The style sheet all charts of a page share.
std::string chart_style();

/// A file that can be opened alone: the drawing with its style sheet and background.
std::string svg_file(const std::string& drawing);

}  // namespace gradus::kit
