// What programs write and read again: run logs, the folders of studies, a learner's progress.

#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/kit/data/run_log.h"
#include "lab/study/records.h"
#include "learn/program/progress.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

const std::string kRuns = R"({"run":"a","seconds":1.5,"loss":2,"note":"x","curve":[1,null,3]})"
                          "\n"
                          R"({"run":"b","seconds":2,"loss":null})"
                          "\n";

/// What is read is what a log that is appended to keeps, with the new line after it.
void use_log(const fs::path& path) {
  const kit::LogLines before = kit::read_run_log(path);
  kit::RunLog(path).write({{"new", 1}});
  const kit::LogLines after = kit::read_run_log(path);
  promise(after.size() == before.size() + 1, "a line is lost");
  for (std::size_t i = 0; i < before.size(); ++i)
    promise(after[i].json() == before[i].json(), "a line has changed");
}

std::string study_seed(const fs::path& folder) {
  lab::StudyConfig config;
  config.study = "rates";
  config.shard = {1, 2};
  config.machine = {{"gradus", "0.1"}, {"kernels", "avx2"}};
  config.extensions.push_back({2, {{"kernels", "avx512"}}, "2:0f"});
  lab::write_study(folder, config);
  return bytes_of(folder / "study.json");
}

void use_study(const fs::path& folder) {
  const lab::StudyConfig config = lab::read_study(folder);
  promise(config.shard.index >= 1 && config.shard.index <= config.shard.count, "no such part");
  lab::has_recorded_bands(config);
  lab::other_machine(config.machine, config.current_machine());
}

void use_progress(const fs::path& folder) {
  learn::Exercise exercise;
  exercise.name = "11_layer_norm";
  exercise.folder = source_file("examples/course/11_layer_norm");
  const learn::Progress progress(exercise, folder);
  progress.cases();
  progress.hints();
  progress.done();
  progress.changed();
  progress.said("Why?");
}

}  // namespace

std::vector<Reader> readers_of_records() {
  return {
      {"run_log", "x.jsonl",
       [](const fs::path&) {
         return Seeds{kRuns, kRuns + R"({"run":"cut o)", kRuns + std::string(20, '\0'), ""};
       },
       [](const fs::path& folder) { use_log(folder / "x.jsonl"); }, 1 << 20, 300},
      {"records", "runs.jsonl", [](const fs::path&) { return Seeds{kRuns}; },
       [](const fs::path& folder) {
         const std::vector<lab::StudyRun> plan = {{.name = "a", .measure = {}}, {.name = "b", .measure = {}}};
         lab::read_records(folder, plan);
       },
       1 << 20, 300},
      {"study", "study.json", [](const fs::path& folder) { return Seeds{study_seed(folder)}; }, use_study,
       1 << 20, 300, true},
      {"progress", "11_layer_norm.json",
       [](const fs::path&) {
         return Seeds{R"({"cases":[3,5],"graded":15,"hints":2,"said":{"Why?":{"number":0.5,"sure":1}}})",
                      "{}"};
       },
       use_progress, 1 << 20, 300, true},
  };
}

}  // namespace gradus::test
