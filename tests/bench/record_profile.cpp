// Where the time of a training step goes, by op, as Profile sees it.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/cases.h"
#include "bench/record.h"
#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string op;
  double seconds = 0, flops = 0, bytes = 0;
};

/// Ops in all modules together, the longest first.
std::vector<Row> by_op(const Profile& profile) {
  std::map<std::string, Row> rows;
  for (const ProfileEntry& entry : profile.entries()) {
    Row& row = rows[entry.name];
    row.op = entry.name;
    row.seconds += entry.seconds();
    row.flops += entry.flops;
    row.bytes += entry.bytes;
  }
  std::vector<Row> sorted;
  for (auto& [name, row] : rows) sorted.push_back(row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  return sorted;
}

Json profile_of(const std::string& name, int steps) {
  const Step step = case_called(name).make();
  for (int i = 0; i < 3; ++i) step();
  Profile profile;
  for (int i = 0; i < steps; ++i) step();
  const double all = profile.seconds();
  Json rows = Json::array();
  for (const Row& row : by_op(profile)) {
    if (row.seconds < 0.002 * all) continue;
    rows.push_back({{"op", row.op},
                    {"share", row.seconds / all},
                    {"gflops", row.flops / row.seconds / 1e9},
                    {"gbytes", row.bytes / row.seconds / 1e9}});
  }
  return {{"case", name}, {"step_s", all / steps}, {"rows", rows}};
}

}  // namespace

Json record_profile() {
  return Json::array({profile_of("char-gpt", 60), profile_of("encoder-12", 40), profile_of("gpt2-124m", 6)});
}

}  // namespace gradus::bench
