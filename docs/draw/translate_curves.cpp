#include "docs/draw/translate_curves.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gradus/kit/data/run_log.h"
#include "gradus/kit/program/detail/check.h"

namespace gradus::docs {

namespace {

// As the legend names them, in its order.
const std::pair<const char*, const char*> placements[] = {{"pre", "Pre-LN"}, {"post", "Post-LN"}};

std::vector<kit::LogLines> logs_of(const std::filesystem::path& folder, const std::string& placement) {
  std::vector<kit::LogLines> logs;
  for (int seed = 0;; ++seed) {
    const auto file = folder / (placement + "-" + std::to_string(seed) + ".jsonl");
    if (!std::filesystem::exists(file)) return logs;
    logs.push_back(kit::read_run_log(file).with("bleu"));
    kit::check(logs.back().column("step") == logs[0].column("step"),
               "{}: was not validated at the steps of seed 0", file.string());
  }
}

kit::Series series_of(const char* name, const std::vector<kit::LogLines>& logs) {
  kit::Series series{.name = name};
  for (std::size_t i = 0; i < logs[0].size(); ++i) {
    double minutes = 0, bleu = 0, low = 100, high = 0;
    for (const kit::LogLines& log : logs) {
      const double here = log[i]["bleu"].number();
      minutes += log[i]["minutes"].number();
      bleu += here;
      low = std::min(low, here), high = std::max(high, here);
    }
    const auto count = static_cast<double>(logs.size());
    series.x.push_back(minutes / count);
    series.y.push_back(bleu / count);
    series.low.push_back(low);
    series.high.push_back(high);
  }
  return series;
}

}  // namespace

std::optional<kit::LineChart> translation_curves(const std::filesystem::path& folder) {
  kit::LineChart chart{.title = "BLEU on the validation set while it trains",
                       .description = "Lines: the mean of the seeds; bands: the worst to the best.",
                       .x_label = "minutes of training",
                       .y_label = "BLEU, greedy",
                       .x_low = 0,
                       .y_low = 0};
  for (const auto& [placement, name] : placements)
    if (const auto logs = logs_of(folder, placement); !logs.empty())
      chart.series.push_back(series_of(name, logs));
  if (chart.series.empty()) return std::nullopt;
  return chart;
}

}  // namespace gradus::docs
