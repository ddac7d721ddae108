// The charts of docs/performance.md.

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "docs/draw/performance.h"
#include "gradus/kit/chart/chart.h"
#include "gradus/kit/data/files.h"

namespace gradus::docs {

namespace {

using kit::AxisKind;
using kit::LineChart;
using kit::Series;
using nlohmann::json;

/// y over x of the rows that have both, y times `unit`.
Series series_of(const json& rows, const char* name, const char* x, const char* y, double unit, int style) {
  Series series{.name = name, .every_marker = true, .style = style};
  for (const json& row : rows) {
    if (!row.contains(y)) continue;
    series.x.push_back(row[x].get<double>());
    series.y.push_back(row[y].get<double>() * unit);
  }
  return series;
}

/// A reference line that grows like x^power, through the last point of `through`.
Series growth(const char* name, const Series& through, double power) {
  Series series{.name = name, .markers = false, .style = 7};
  for (const double x : {through.x.front(), through.x.back()}) {
    series.x.push_back(x);
    series.y.push_back(through.y.back() * std::pow(x / through.x.back(), power));
  }
  return series;
}

// --- where the time goes

const std::map<std::string, std::string> kKinds = {{"linear", "linear"},
                                                   {"self_attention_packed", "attention"},
                                                   {"linear_cross_entropy", "head and loss"},
                                                   {"layer_norm", "layer norm"},
                                                   {"gelu", "activation"},
                                                   {"relu", "activation"},
                                                   {"AdamW step", "optimizer"},
                                                   {"Adam step", "optimizer"}};

kit::HeatMap time_chart(const json& profiles) {
  kit::HeatMap map{
      .title = "Share of a training step",
      .description = "Matrix products take most of it in all three models.",
      .rows = {"linear", "attention", "head and loss", "layer norm", "activation", "optimizer", "rest"},
      .value_label = "% of the step",
      .decimals = 0,
      .low_is_good = false};
  std::map<std::pair<std::string, std::string>, double> share;
  for (const json& profile : profiles) {
    const std::string name = profile["case"];
    map.columns.push_back(name);
    double rest = 1;
    for (const json& row : profile["rows"]) {
      const auto kind = kKinds.find(row["op"].get<std::string>());
      if (kind == kKinds.end()) continue;
      share[{kind->second, name}] += row["share"].get<double>();
      rest -= row["share"].get<double>();
    }
    share[{"rest", name}] = rest;
  }
  for (const std::string& kind : map.rows)
    for (const std::string& name : map.columns) map.values.push_back(100 * share[{kind, name}]);
  return map;
}

// --- the roofline

/// The highest rate at `flops_per_byte`: limited by memory bandwidth, then by the arithmetic units.
Series roof(const char* name, double gbytes, double gflops, int style) {
  Series series{.name = name, .markers = false, .style = style};
  const double ridge = gflops / gbytes;
  for (const double x : {0.05, ridge, 500.0}) {
    series.x.push_back(x);
    series.y.push_back(std::min(gflops, x * gbytes));
  }
  return series;
}

double bandwidth(const json& peak) {
  double most = 0;
  for (const char* key : {"read_gbytes", "update_gbytes", "copy_gbytes"})
    most = std::max<double>(most, peak[key]);
  return most;
}

LineChart roofline_chart(const json& peaks, const json& points) {
  LineChart chart{.title = "Roofline of two cores, f32",
                  .description =
                      "Products of large matrices are near the flat roof, GELU near the corner, the other "
                      "ops at the slanted roof, the limit of memory.",
                  .x_label = "operations per byte that must be moved",
                  .y_label = "operations per second / 10⁹",
                  .x_axis = AxisKind::log,
                  .y_axis = AxisKind::log,
                  .x_low = 0.05,
                  .x_high = 500,
                  .y_low = 1,
                  .y_high = 800,
                  .plot_height = 260};
  chart.series.push_back(roof("roof", bandwidth(peaks[1]), peaks[1]["gflops"], 7));
  int style = 0;
  for (const json& point : points) {
    const std::string group = point["group"];
    if (chart.series.back().name != group)
      chart.series.push_back({.name = group, .line = false, .every_marker = true, .style = style++});
    chart.series.back().x.push_back(point["flops_per_byte"]);
    chart.series.back().y.push_back(point["gflops"]);
  }
  return chart;
}

// --- growth

LineChart attention_chart(const json& rows, bool time) {
  const double unit = time ? 1e3 : 1.0 / (1 << 20);
  LineChart chart{
      .title = time ? "Attention: time over T" : "Attention: memory over T",
      .description = time ? "Both grow with T squared once T is long; the fused op is faster by a factor."
                          : "Written out, memory grows with T squared; fused, with T.",
      .x_label = "T (8 heads of 64, causal, forward and backward)",
      .y_label = time ? "ms" : "peak MiB",
      .x_axis = AxisKind::log,
      .y_axis = AxisKind::log,
      .x_ticks = {128, 512, 2048, 8192}};
  chart.series.push_back(series_of(rows, "fused op", "tokens", time ? "fused_s" : "fused_bytes", unit, 0));
  chart.series.push_back(series_of(rows, "matmul, softmax, matmul", "tokens",
                                   time ? "written_out_s" : "written_out_bytes", unit, 1));
  chart.series.push_back(time ? growth("∝ T²", chart.series[0], 2) : growth("∝ T", chart.series[0], 1));
  return chart;
}

LineChart depth_chart(const json& rows) {
  LineChart chart{.title = "A step over depth",
                  .description = "A straight line: each layer costs the same.",
                  .x_label = "layers (d 64, 16 x 64 tokens)",
                  .y_label = "ms",
                  .x_axis = AxisKind::log,
                  .y_axis = AxisKind::log,
                  .x_ticks = {1, 2, 4, 8, 16, 48}};
  chart.series.push_back(series_of(rows, "step", "layers", "seconds", 1e3, 0));
  chart.series.push_back(growth("∝ layers", chart.series[0], 1));
  return chart;
}

LineChart width_chart(const json& rows) {
  LineChart chart{.title = "A step over width",
                  .description = "Wide models grow with the square of the width, narrow ones more slowly.",
                  .x_label = "d (4 layers, 16 x 64 tokens)",
                  .y_label = "ms",
                  .x_axis = AxisKind::log,
                  .y_axis = AxisKind::log,
                  .x_ticks = {32, 64, 128, 256, 512, 1024}};
  chart.series.push_back(series_of(rows, "step", "width", "seconds", 1e3, 0));
  chart.series.push_back(growth("∝ d²", chart.series[0], 2));
  return chart;
}

LineChart threads_chart(const json& rows) {
  LineChart chart{
      .title = "Threads on two cores",
      .description = "Two threads are almost twice as fast as one; more threads than cores do not help.",
      .x_label = "threads",
      .y_label = "times as fast as one thread",
      .y_low = 0,
      .x_ticks = {1, 2, 3, 4}};
  double one = 0;
  for (const json& row : rows) {
    const std::string name = row["case"];
    if (row["threads"] == 1) {
      chart.series.push_back({.name = name, .every_marker = true});
      one = row["seconds"];
    }
    chart.series.back().x.push_back(row["threads"]);
    chart.series.back().y.push_back(one / row["seconds"].get<double>());
  }
  return chart;
}

}  // namespace

json read_performance(const std::string& file) {
  return json::parse(kit::read_file(std::string(GRADUS_DOCS_DATA) + file));
}

void draw_performance(const std::filesystem::path& folder) {
  const json data = read_performance("performance.json");
  const auto put = [&](const char* name, const auto& chart) {
    kit::replace_file(folder / (std::string("performance_") + name + ".svg"),
                      kit::svg_file(kit::draw(chart)));
  };
  put("time", time_chart(data["profile"]));
  put("roofline", roofline_chart(data["peaks"], data["points"]));
  put("attention_time", attention_chart(data["attention"], true));
  put("attention_memory", attention_chart(data["attention"], false));
  put("depth", depth_chart(data["depth"]));
  put("width", width_chart(data["width"]));
  put("threads", threads_chart(data["threads"]));
}

}  // namespace gradus::docs
