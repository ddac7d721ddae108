// The charts of docs/many_machines_speed.md.

#include <fmt/format.h>

#include "docs/draw/ranks.h"
#include "gradus/kit/chart/chart.h"
#include "gradus/kit/data/files.h"

namespace gradus::docs {

namespace {

constexpr double kBucket = 25;  // MiB

/// Efficiency over tokens, by the model as lines; as markers what was simulated.
kit::LineChart efficiency_chart(const char* model, double gbit, const nlohmann::json& record) {
  kit::LineChart chart{
      .title = fmt::format("{}, {:.0f} Gbit/s", model, gbit),
      .description = "With more tokens in a rank's step, computing hides more of the communication.",
      .x_label = "tokens per rank and step",
      .y_label = "efficiency, %",
      .x_axis = kit::AxisKind::log,
      .y_low = 0,
      .y_high = 100};
  int style = 0;
  for (const int ranks : {64, 256, 1024}) {
    kit::Series line{.name = fmt::format("{} ranks", ranks), .markers = false, .style = style};
    kit::Series points{.name = fmt::format("{} simulated", ranks), .line = false, .every_marker = true, .style = style++};
    for (double tokens = 32; tokens <= 16384; tokens *= 1.25) {
      line.x.push_back(tokens);
      line.y.push_back(100 * predicted_efficiency(model, gbit, ranks, tokens, kBucket));
    }
    if (!record.is_null())
      for (const nlohmann::json& row : record["steps"]) {
        if (row["model"] != model || row["gbit"] != gbit || row["ranks"] != ranks ||
            row["bucket_bytes"] != kBucket * (1 << 20))
          continue;
        points.x.push_back(row["tokens"]);
        points.y.push_back(100 * row["computing_s"].get<double>() / row["step_s"].get<double>());
      }
    chart.series.push_back(std::move(line));
    if (!points.x.empty()) chart.series.push_back(std::move(points));
  }
  return chart;
}

}  // namespace

void draw_ranks(const std::filesystem::path& folder) {
  const nlohmann::json record = read_ranks("simulated.json");
  kit::Panels panels{.title = "Efficiency of a step with buckets of 25 MiB",
                     .description = "With enough tokens all are near 100%; the number of ranks hardly matters."};
  for (const char* model : {"gpt2-124m", "gpt2-1.5b"})
    for (const double gbit : {10.0, 100.0}) panels.panels.push_back(efficiency_chart(model, gbit, record));
  kit::replace_file(folder / "ranks_efficiency.svg", kit::svg_file(kit::draw(panels)));
}

}  // namespace gradus::docs
