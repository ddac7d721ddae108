#pragma once
// Charts as SVG, readable on a phone, in dark mode, without colour and by screen readers.
//
//   LineChart chart{.title = "Loss", .x_label = "step", .y_label = "nats per character"};
//   chart.series.push_back({.name = "Pre-LN", .x = steps, .y = losses});
//   chart.save("loss.svg");  // or loss.html; in an HtmlReport: report.figure(chart, "Falls."); in a
//   terminal: terminal.h
//
// plot.h makes a chart from tensors and vectors in one line.

#include <optional>
#include <string>
#include <vector>

#include "gradus/kit/chart/axis.h"
#include "gradus/kit/report/table.h"

namespace gradus::kit {

// All members have initializers, so that designated initializers may leave out any of them.

/// How `low` and `high` are drawn: as an area, or as a bar at each point.
enum class Spread { band, error_bars };

/// Points of one kind. A y that is not finite breaks the line.
struct Series {
  std::string name{};         // in the legend
  std::vector<double> x{};    // ascending, for a line
  std::vector<double> y{};    // one for each x
  std::vector<double> low{};  // optional, for each point: the lower end of a band or bar, such as the minimum
  std::vector<double> high{};    // the upper ends
  Spread spread = Spread::band;  // how low and high are drawn
  bool line = true;              // joins the points
  bool every_marker = false;     // a marker on each point even if there are many
  bool markers = true;           // false: no markers, for lines to compare with
  /// Colour, dashes and marker (0..7); by default its position in the chart. Set it to give a series the same
  /// look in all charts.
  std::optional<int> style{};
};

/// The direction of a reference line: horizontal at a y, vertical at an x.
enum class Direction { horizontal, vertical };

/// A line at a reference value, such as the best possible loss.
struct Reference {
  Direction direction = Direction::horizontal;  // of the line
  double at = 0;                                // the value
  std::string label{};                          // next to the line
};

/// Lines or points over numeric x. Axis labels should name the unit: "loss (nats per character)".
struct LineChart {
  std::string title{};                 // above the chart
  std::string description{};           // for screen readers; a summary of each series is added
  std::string x_label{};               // quantity and unit of x
  std::string y_label{};               // quantity and unit of y
  AxisKind x_axis = AxisKind::linear;  // linear or log
  AxisKind y_axis = AxisKind::linear;  // linear or log
  std::optional<double> x_low{}, x_high{}, y_low{}, y_high{};  // limits; not given: from the data
  std::vector<double> x_ticks{};                               // values to mark instead of round values
  std::vector<Series> series{};                                // in the order of the legend
  std::vector<Reference> references{};                         // values to compare with
  double plot_height = 200;  // of the area inside the axes; the chart is 400 wide

  /// Writes the drawing: `chart.save("loss.svg")`. "loss.html" is a page that also has a table of the values.
  /// Throws for any other ending, and when draw() or replace_file() throws.
  void save(const std::string& path) const;
};

/// Charts side by side that share both axes and the legend; each panel's title is above it. Two columns are
/// legible on a phone; more make the drawing wider, and a report scrolls it sideways there.
struct Panels {
  std::string title{};              // above all panels
  std::string description{};        // for screen readers
  std::vector<LineChart> panels{};  // labels, axes and limits of the first apply to all
  int columns = 2;                  // panels side by side

  void save(const std::string& path) const;  // as for a LineChart
};

/// One bar in each category. A value that is not finite is written but not drawn.
struct BarSeries {
  std::string name{};            // in the legend
  std::vector<double> values{};  // one for each category
  std::vector<double> low{};     // optional, for each value: the lower end of an error bar
  std::vector<double> high{};    // the upper ends
  std::optional<int> style{};    // colour and hatching (0..7); by default its position in the chart
};

/// Values by name, as horizontal bars from zero, so that long names fit on a phone, each with its value.
/// There is no log axis, because it has no zero: use a LineChart with `.line = false`.
struct BarChart {
  std::string title{};                    // above the chart
  std::string description{};              // for screen readers
  std::string value_label{};              // quantity and unit of the values
  std::vector<std::string> categories{};  // names of the groups of bars
  std::vector<BarSeries> series{};        // the bars of one category are adjacent
  std::vector<Reference> references{};    // lines across all bars; their direction is ignored
  std::optional<int> decimals{};          // of the values; not given: as many as the largest value needs

  void save(const std::string& path) const;  // as for a LineChart
};

/// A value for each row and column, such as loss by depth and learning rate, as shade and number.
struct HeatMap {
  std::string title{};                 // above the map
  std::string description{};           // for screen readers
  std::string x_label{};               // the quantity of the columns
  std::string y_label{};               // the quantity of the rows
  std::vector<std::string> columns{};  // their names, from the left
  std::vector<std::string> rows{};     // their names, from the top
  std::vector<double> values{};        // row by row; a value that is not finite is crossed out
  std::string value_label{};           // quantity and unit of the values
  std::optional<int> decimals{};       // of the values; not given: as many as the largest value needs
  std::string missing = "\u2013";      // the text of crossed-out cells, such as "div."
  /// False: only shades, for up to 1024 x 1024 values. A value that is not finite is orange, and the best has
  /// no frame.
  bool numbers = true;
  /// Whether low (or high) values are good: good values are dark, and the best has a frame. Not given: large
  /// values are dark.
  std::optional<bool> low_is_good{};
  /// With low_is_good: the ends of the shades, for outliers and for maps to compare; values beyond them are
  /// drawn like the ends. Not given: the best and the worst value.
  std::optional<double> best{}, worst{};

  void save(const std::string& path) const;  // as for a LineChart
};

/// Returns the <svg> element. Throws, naming the chart, when sizes do not match (x and y, low and high,
/// values and cells, values and categories) or a limit cannot be shown.
std::string draw(const LineChart& chart);
std::string draw(const Panels& panels);
std::string draw(const BarChart& chart);
std::string draw(const HeatMap& map);

/// The values as drawn, for a table below the chart. A line of more than 120 points whose x never decreases
/// is drawn, and listed, as its first and last point and, between these, the mean, minimum and maximum of 120
/// equal slices of the x axis. Points without a line, and a line whose x decreases, such as a circle, are
/// drawn unchanged up to 2000 points; of more, only every k-th is drawn.
Table numbers_of(const LineChart& chart);
std::vector<Table> numbers_of(const Panels& panels);
Table numbers_of(const BarChart& chart);
Table numbers_of(const HeatMap& map);

/// The style sheet shared by all charts of a page.
std::string chart_style();

/// A standalone file: the drawing with its style sheet and background.
std::string svg_file(const std::string& drawing);

}  // namespace gradus::kit
