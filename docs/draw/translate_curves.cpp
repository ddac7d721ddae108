#include "docs/draw/translate_curves.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gradus/kit/data/run_log.h"

namespace gradus::docs {

namespace {

// The names in the legend, in its order.
const std::pair<const char*, const char*> placements[] = {{"pre", "Pre-LN"}, {"post", "Post-LN"}};

std::vector<kit::LogLines> logs_of(const std::filesystem::path& folder, const std::string& placement) {
  std::vector<kit::LogLines> logs;
  for (int seed = 0;; ++seed) {
    const auto file = folder / (placement + "-" + std::to_string(seed) + ".jsonl");
    if (!std::filesystem::exists(file)) return logs;
    logs.push_back(kit::read_run_log(file).with("bleu"));
  }
}

/// The points from validation `first` to `last` of the runs that have got that far. Minutes are the CPU time
/// of one core, halved: wall-clock time depends on the machine's other work.
kit::Series series_of(std::string name, int style, const std::vector<kit::LogLines>& logs, std::size_t first,
                      std::size_t last) {
  kit::Series series{.name = std::move(name), .style = style};
  for (std::size_t i = first; i < last; ++i) {
    std::vector<double> bleu;
    double seconds = 0;
    for (const kit::LogLines& log : logs)
      if (i < log.size()) {
        bleu.push_back(log[i]["bleu"].number());
        seconds += log[i]["cpu_seconds"].number();
      }
    const auto count = static_cast<double>(bleu.size());
    double sum = 0;
    for (const double one : bleu) sum += one;
    series.x.push_back(seconds / count / 2 / 60);
    series.y.push_back(sum / count);
    series.low.push_back(*std::min_element(bleu.begin(), bleu.end()));
    series.high.push_back(*std::max_element(bleu.begin(), bleu.end()));
  }
  return series;
}

}  // namespace

std::optional<kit::LineChart> translation_curves(const std::filesystem::path& folder) {
  kit::LineChart chart{.title = "BLEU on the validation set while it trains",
                       .description = "Lines: the mean of the seeds; bands: the worst to the best.",
                       .x_label = "minutes on two cores",
                       .y_label = "BLEU, greedy",
                       .x_low = 0,
                       .y_low = 0,
                       .series = {}};
  for (int style = 0; style < static_cast<int>(std::size(placements)); ++style) {
    const auto logs = logs_of(folder, placements[style].first);
    if (logs.empty()) continue;
    const auto by_length = [](const kit::LogLines& a, const kit::LogLines& b) { return a.size() < b.size(); };
    const std::size_t all = std::min_element(logs.begin(), logs.end(), by_length)->size();
    const std::size_t longest = std::max_element(logs.begin(), logs.end(), by_length)->size();
    chart.series.push_back(series_of(placements[style].second, style, logs, 0, all));
    if (longest > all) {  // the seeds that were trained further, from where the others end
      std::vector<kit::LogLines> longer;
      for (const kit::LogLines& log : logs)
        if (log.size() > all) longer.push_back(log);
      chart.series.push_back(
          series_of(placements[style].second + std::string(", one seed"), style, longer, all - 1, longest));
      chart.series.back().low.clear();
      chart.series.back().high.clear();
    }
  }
  if (chart.series.empty()) return std::nullopt;
  return chart;
}

}  // namespace gradus::docs
