#include "lab/studies/compare/compare.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "lab/program/study_page.h"
#include "lab/studies/studies.h"
#include "lab/study/runner.h"
#include "lab/training/trial.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;

namespace {

Settings tiny_grid() {
  Settings settings;
  settings.depths = {1};
  settings.lrs = {0.01};
  settings.warmups = {0, 3};
  settings.seeds = 1;
  settings.steps = 5;
  return settings;
}

StudyConfig config_of(const Settings& settings) {
  return {.study = "compare",
          .options = {.seed = settings.seed, .data = {}, .settings = json_of(settings)},
          .shard = {},
          .machine = {{"gradus", "0.1.0"}}};
}

/// Runs a small comparison in a folder.
void run_in(const std::filesystem::path& folder, std::int64_t threads = 2) {
  kit::make_folder(folder);
  write_study(folder, config_of(tiny_grid()));
  CHECK(run_study(study_named("compare"), read_study(folder), folder, threads));
}

Results results_in(const std::filesystem::path& folder) {
  return results_of(read_folder(folder, study_named).results).value();
}

std::string message_of(const std::filesystem::path& folder) {
  try {
    read_folder(folder, study_named);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("measurements are read back, the same for any number of threads") {
  const test::ScratchFolder folder;
  run_in(folder / "one", 1), run_in(folder / "two", 2);
  const Results one = results_in(folder / "one"), two = results_in(folder / "two");
  CHECK(one.complete());
  CHECK(one.settings.depths == std::vector<std::int64_t>{1});
  CHECK(one.settings.warmups == std::vector<std::int64_t>{0, 3});
  CHECK(one.task.name == "recall language");
  CHECK(one.task.entropy == facts_of(recall_task()).entropy);  // every bit
  CHECK(one.task.ngram.loss == recall_task().ngram().loss);
  REQUIRE(one.initialisation);
  CHECK(one.initialisation->states.size() == 12);
  CHECK(one.initialisation->schemes.size() == 10);
  CHECK(one.initialisation->jacobian.max_error == check_layer_norm_jacobian(6, 0).max_error);
  REQUIRE(one.runs.size() == 8);
  REQUIRE(two.runs.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(one.runs[i].losses.size() == 5);
    CHECK(one.runs[i].final_loss == two.runs[i].final_loss);
    CHECK(one.runs[i].losses == two.runs[i].losses);
    CHECK(one.runs[i].parameters_sha256 == two.runs[i].parameters_sha256);
  }
  CHECK(one.runs[0].parameters_sha256 != one.runs[1].parameters_sha256);
}

TEST_CASE("a killed and resumed comparison equals an unbroken one") {
  const test::ScratchFolder folder;
  run_in(folder / "whole");
  const std::string all = kit::read_file(folder / "whole" / "runs.jsonl");
  run_in(folder / "cut");
  kit::replace_file(folder / "cut" / "runs.jsonl", all.substr(0, all.find("-L1-lr") + 40));
  run_in(folder / "cut");
  const Results whole = results_in(folder / "whole"), cut = results_in(folder / "cut");
  REQUIRE(cut.runs.size() == whole.runs.size());
  for (std::size_t i = 0; i < whole.runs.size(); ++i)
    CHECK(cut.runs[i].parameters_sha256 == whole.runs[i].parameters_sha256);
}

TEST_CASE("the page is drawn from the files, the same each time, and summary.json with it") {
  const test::ScratchFolder folder;
  run_in(folder / "compare");
  const auto draw = [&] { return write_index(folder.path(), studies_in(folder.path())).at("compare"); };
  const std::string sentence = draw();
  CHECK(sentence.starts_with("One seed shows no spread to judge by: "));
  const std::string html = kit::read_file(folder / "compare" / "report.html");
  const std::string summary = kit::read_file(folder / "compare" / "summary.json");
  CHECK(html.find("Pre-LN or Post-LN?") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "compare" / "plots" / "loss_by_rate.svg"));
  for (const char* file : {"report.html", "summary.json"}) std::filesystem::remove(folder / "compare" / file);
  CHECK(draw() == sentence);
  CHECK(kit::read_file(folder / "compare" / "report.html") == html);
  CHECK(kit::read_file(folder / "compare" / "summary.json") == summary);
  // There is also a page before the first run has finished.
  kit::replace_file(folder / "compare" / "runs.jsonl", "");
  CHECK(draw() == "Nothing has been measured yet.");
}

TEST_CASE("the pages of a part say that it is one") {
  const test::ScratchFolder folder;
  kit::make_folder(folder / "compare");
  StudyConfig config = config_of(tiny_grid());
  config.shard = {1, 3};
  write_study(folder / "compare", config);
  const std::string sentence = "Part 1 of 3. Nothing has been measured yet.";
  CHECK(write_index(folder.path(), studies_in(folder.path())).at("compare") == sentence);
  for (const char* page : {"index.html", "compare/report.html"})
    CHECK(kit::read_file(folder / page).find(sentence) != std::string::npos);
}

TEST_CASE("the plan has first the measurements at the start, then its seeds one after the other") {
  Settings settings = tiny_grid();
  settings.seeds = 2, settings.seed = 7;
  const std::vector<StudyRun> plan = study_named("compare").plan(config_of(settings).options);
  for (const StudyRun& run : plan) {
    CAPTURE(run.name);
    const bool training = run.name.find("-lr") != std::string::npos;
    CHECK(run.round == (!training ? 0 : run.name.find("-s7") != std::string::npos ? 1 : 2));
  }
}

TEST_CASE("a folder of an older version is reported") {
  const test::ScratchFolder folder;
  kit::replace_file(folder / "config.json", "{}");
  CHECK(message_of(folder.path()).find("a lab of an older version wrote it") != std::string::npos);
  CHECK(message_of(folder / "missing").find("it has no study.json") != std::string::npos);
}

TEST_CASE("settings are read back; without any they are those of the budget") {
  Settings settings = tiny_grid();
  settings.seed = 3;
  settings.placements = {nn::placement_named("deepnorm"), nn::placement_named("peri")};
  const Settings back = settings_of(config_of(settings).options);
  CHECK(back.placements == settings.placements);
  CHECK(back.lrs == settings.lrs);
  CHECK(back.steps == 5);
  CHECK(back.seed == 3);
  CHECK(settings_of({.budget = Budget::quick}).depths == std::vector<std::int64_t>{2, 8});
  CHECK(settings_of({.budget = Budget::standard}).seeds == 6);
  CHECK(settings_of({.budget = Budget::full}).seeds == 9);
}

TEST_CASE("invalid settings are refused, each with its name") {
  const test::ScratchFolder folder;
  const Json good = json_of(tiny_grid());
  const auto with = [&](const char* pointer, const Json& value) {
    StudyConfig config = config_of(tiny_grid());
    config.options.settings[Json::json_pointer(pointer)] = value;
    write_study(folder.path(), config);
    return message_of(folder.path());
  };
  CHECK(with("/seeds", 2) == "");
  for (const char* pointer : {"/seeds", "/depths/0", "/warmups/0", "/steps"}) {
    CAPTURE(pointer);
    for (const Json& bad : {Json(-1), Json(INT64_MAX + std::uint64_t{1}), Json(UINT64_MAX), Json(1e308),
                            Json(2.5), Json(true), Json("2"), Json(), Json::array({2}), Json::object()}) {
      const std::string message = with(pointer, bad);
      CAPTURE(message);
      CHECK(message.find("study.json: not as the lab writes it (") != std::string::npos);
      CHECK(message.find(" expects a whole number from ") != std::string::npos);
    }
  }
  for (const char* pointer : {"/seeds", "/depths/0"})
    CHECK(with(pointer, 99'999'999).find(" expects a whole number from ") != std::string::npos);
  for (const double lr : {0.0, -0.1}) CHECK(with("/lrs/0", lr).find("numbers above 0") != std::string::npos);
  for (const char* pointer : {"/depths", "/lrs", "/warmups"})
    CHECK(with(pointer, Json::array()).find("expects a list") != std::string::npos);
  for (const char* list : {"depths", "lrs", "warmups"})
    for (const Json& bad : {Json::array({1, 1}), Json::array({1, 2, 2}), Json::array({2, 1})}) {
      const std::string message = with(("/" + std::string(list)).c_str(), bad);
      CAPTURE(message);
      CHECK(message.find("study.json: not as the lab writes it (" + std::string(list) +
                         " expects each number once, in rising order)") != std::string::npos);
    }
  CHECK(with("/placements", Json::array({"pre", "pre"})).find("expects two names") != std::string::npos);
  CHECK(with("/placements/1", "mid").find("study.json: not as the lab writes it") != std::string::npos);
  CHECK(with("", Json::array()).find("study.json: not as the lab writes it") != std::string::npos);
  // Short lists whose product is not short.
  Json many = Json::array();
  for (int i = 1; i <= 1000; ++i) many.push_back(i);
  Json all = good;
  all["depths"] = all["lrs"] = all["warmups"] = many;
  CHECK(with("", all).find("make 2000000004 runs, expects at most 100000") != std::string::npos);
}
