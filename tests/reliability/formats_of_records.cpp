// What programs write about their runs, as formats.h has it: run logs, the folders of studies, a learner's
// progress.

#include <doctest/doctest.h>

#include <limits>

#include "gradus/kit/data/run_log.h"
#include "lab/study/records.h"
#include "learn/program/progress.h"
#include "reliability/formats.h"
#include "reliability/reader_lists.h"
#include "support.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<kit::LogLine> lines_of_log() {
  return {{{"step", 1}, {"loss", 2.5}, {"note", "na\u00efve \"x\""}, {"best", true}},
          {{"step", std::int64_t{1} << 60}, {"loss", kNaN}, {"curve", std::vector<double>{1, kNaN, 1e-300}}}};
}

void write_log(const fs::path& folder) {
  kit::RunLog log(folder / "run.jsonl");
  for (const kit::LogLine& line : lines_of_log()) log.write(line);
}

void read_log(const fs::path& folder) {
  const kit::LogLines lines = kit::read_run_log(folder / "run.jsonl");
  const std::vector<kit::LogLine> expected = lines_of_log();
  REQUIRE(lines.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(lines[i].json() == expected[i].json());
}

/// A study of three runs, of which two are done.
const lab::Study& study_of_files() {
  static const lab::Study study{.name = "a-study",
                                .title = "A study",
                                .question = "Which is better?",
                                .plan =
                                    [](const lab::StudyOptions&) {
                                      return std::vector<lab::StudyRun>{{.name = "a-s5", .measure = {}},
                                                                        {.name = "b-s5", .measure = {}},
                                                                        {.name = "a-s6", .measure = {}}};
                                    },
                                .figures = {},
                                .report = {}};
  return study;
}

void write_study_folder(const fs::path& folder) {
  lab::StudyConfig config;
  config.study = "a-study";
  config.options.budget = lab::Budget::full;
  config.options.seed = 5;
  config.options.data = "book.txt";
  config.options.settings["rates"] = {0.5, 1e-3};
  config.shard = {2, 3};
  config.machine = {{"gradus", "0.2.0"}, {"arithmetic", "0f3c"}, {"kernels", "avx2"}};
  config.data_sha256 = std::string(64, 'd');
  config.bands_sha256 = "2:" + std::string(64, 'b');
  config.extensions.push_back({1, {{"gradus", "0.2.0"}, {"kernels", "avx512"}}, "2:" + std::string(64, 'e')});
  lab::write_study(folder, config);
  kit::RunLog log(folder / "runs.jsonl");
  log.write(lab::line_of("a-s5", {.measured = {.numbers = {{"loss", 1.0 / 3}, {"diverged_at", kNaN}},
                                               .series = {{"curve", {4.25, kNaN}}},
                                               .texts = {{"sha256", std::string(64, 'a')}}},
                                  .seconds = 1.5}));
  log.write(lab::line_of("a-s6", {.measured = {.numbers = {{"loss", 0.25}}}, .seconds = 2}));
}

void read_study_folder(const fs::path& folder) {
  const lab::StudyFolder found =
      lab::read_folder(folder, [](const std::string&) -> const lab::Study& { return study_of_files(); });
  const lab::StudyConfig& config = found.config;
  CHECK(config.study == "a-study");
  CHECK(config.options.budget == lab::Budget::full);
  CHECK(config.options.seed == 5);
  CHECK(config.options.data == "book.txt");
  CHECK(config.options.settings.dump() == R"({"rates":[0.5,0.001]})");
  CHECK(config.shard == lab::Shard{2, 3});
  CHECK(lab::other_machine(config.machine, {{"kernels", "avx512"}}) == "kernels avx2");
  CHECK(config.data_sha256 == std::string(64, 'd'));
  REQUIRE(config.extensions.size() == 1);
  CHECK(config.extensions[0].after == 1);
  CHECK(config.current_bands() == "2:" + std::string(64, 'e'));
  CHECK(config.current_machine().size() == 2);
  const lab::StudyResults& results = found.results;
  CHECK(results.planned == 3);
  CHECK(results.records.size() == 2);
  CHECK(results.number("a-s5", "loss") == 1.0 / 3);
  CHECK(std::isnan(results.number("a-s5", "diverged_at")));
  CHECK(results.series("a-s5", "curve").at(0) == 4.25);
  CHECK(std::isnan(results.series("a-s5", "curve").at(1)));
  CHECK(results.text("a-s5", "sha256") == std::string(64, 'a'));
  CHECK(results.records.at("a-s6").seconds == 2);
}

learn::Exercise exercise_of_files() {
  learn::Exercise one;
  one.name = "11_layer_norm";
  one.folder = source_file("examples/course/11_layer_norm");
  return one;
}

void write_progress(const fs::path& folder) {
  put(folder / "11_layer_norm.h", "int answer = 42;\n");
  learn::Progress progress(exercise_of_files(), folder);
  progress.set_cases(3, 5);
  progress.set_hints(2);
  progress.say("How many?", {{"number", 0.5}, {"sure", 0.75}});
  progress.say("Which?", {{"option", "the second"}, {"right", true}});
}

void read_progress(const fs::path& folder) {
  const learn::Progress progress(exercise_of_files(), folder);
  CHECK(progress.begun());
  CHECK_FALSE(progress.done());
  CHECK_FALSE(progress.changed());
  CHECK(progress.cases() == "3 of 5 cases");
  CHECK(progress.hints() == 2);
  CHECK(progress.said("How many?")["sure"] == 0.75);
  CHECK(progress.said("Which?")["option"] == "the second");
}

}  // namespace

std::vector<Format> formats_of_records() {
  return {{"run_log", write_log, read_log},
          {"study", write_study_folder, read_study_folder},
          {"progress", write_progress, read_progress}};
}

}  // namespace gradus::test
