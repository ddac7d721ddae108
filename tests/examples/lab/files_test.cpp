#include "lab/files.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "lab/studies/compare/report/report.h"
#include "made_up.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

/// A small lab as it stands on disk.
void write_lab(const std::filesystem::path& folder) {
  LabOptions options = test::small_grid(2);
  options.seed = 3;
  const Results results = test::made_up(options, [](const RunOptions& run) { return 1 + test::jitter(run); });
  write_config(folder, results.config);
  write_initialisation(folder, test::made_up_start());
  kit::RunLog metrics(folder / "metrics.jsonl");
  for (const RunRecord& run : results.runs) {
    for (std::size_t i = 0; i < run.losses.size(); ++i)
      metrics.write(step_line(run.options, {.step = static_cast<std::int64_t>(i + 1),
                                            .loss = run.losses[i],
                                            .grad_norm = run.grad_norms[i],
                                            .lr = run.options.lr}));
    metrics.write(result_line(run.options, run.result));
  }
}

std::string message_on(const std::filesystem::path& folder) {
  try {
    read_results(folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("what is written is read back") {
  const test::ScratchFolder folder;
  write_lab(folder.path());
  const Results results = read_results(folder.path());
  CHECK(results.complete());
  const LabOptions& options = results.config.options;
  CHECK(options.depths == std::vector<std::int64_t>{2, 6, 12});
  CHECK(options.lrs == std::vector<double>{0.001, 0.003, 0.01});
  CHECK(options.seed == 3);
  CHECK(options.initialisation.seed == 3);
  CHECK(options.model.steps == 60);
  CHECK(results.config.task.entropy == 0.9);
  CHECK(results.config.task.context_free_loss == 3.1);
  CHECK(results.config.task.ngram.losses == std::vector<double>{3.0, 2.0, 1.4, 1.41});
  CHECK(results.config.machine == Facts{{"gradus", "0.1.0"}});
  REQUIRE(results.initialisation);
  const Initialisation start = test::made_up_start();
  CHECK(results.initialisation->jacobian.wrong_mean_only == 0.5);
  REQUIRE(results.initialisation->schemes.size() == 4);
  CHECK(results.initialisation->schemes[3].scheme == Scheme::gpt2);
  CHECK(results.initialisation->schemes[3].placement == Placement::post);
  CHECK(results.initialisation->schemes[3].low == std::vector<double>{0.25, 0.5, 1});
  REQUIRE(results.initialisation->states.size() == start.states.size());
  for (std::size_t i = 0; i < start.states.size(); ++i) {
    CHECK(results.initialisation->states[i].placement == start.states[i].placement);
    CHECK(results.initialisation->states[i].gradient == start.states[i].gradient);
    CHECK(results.initialisation->states[i].norm_squared == start.states[i].norm_squared);
    CHECK(results.initialisation->states[i].weight_share == start.states[i].weight_share);
    CHECK(results.initialisation->states[i].activation_share == start.states[i].activation_share);
    CHECK(results.initialisation->states[i].activation_gradient == start.states[i].activation_gradient);
  }
  CHECK(results.runs[5].losses.size() == 60);
  CHECK(results.runs[5].result.start_loss == 4);
}

TEST_CASE("the report is drawn from the files, the same each time") {
  const test::ScratchFolder folder;
  write_lab(folder.path());
  const Verdict verdict = write_report(folder.path());
  CHECK_FALSE(verdict.sentence.empty());
  const std::string html = kit::read_file(folder / "report.html");
  const std::string summary = kit::read_file(folder / "summary.json");
  CHECK(std::filesystem::exists(folder / "plots" / "loss_by_rate.svg"));
  std::filesystem::remove_all(folder / "plots");
  std::filesystem::remove(folder / "report.html");
  std::filesystem::remove(folder / "summary.json");
  CHECK(write_report(folder.path()).sentence == verdict.sentence);
  CHECK(kit::read_file(folder / "report.html") == html);
  CHECK(kit::read_file(folder / "summary.json") == summary);
}

TEST_CASE("a folder that holds no lab, or a damaged one, is named") {
  const test::ScratchFolder folder;
  CHECK(message_on(folder / "missing").find("config.json") != std::string::npos);
  write_lab(folder.path());
  kit::replace_file(folder / "initialisation.json", "{\"seconds\": 1}");
  CHECK(message_on(folder.path()).find("initialisation.json: not as the lab writes it") != std::string::npos);
  kit::replace_file(folder / "initialisation.json", "{");
  CHECK(message_on(folder.path()).find("initialisation.json") != std::string::npos);
  std::filesystem::remove(folder / "initialisation.json");
  CHECK(message_on(folder.path()) == "");  // phase 1 may be missing
  for (const char* content : {"{}", "[]", "3", "{\"quick\": 1}", "nonsense", ""}) {
    CAPTURE(content);
    kit::replace_file(folder / "config.json", content);
    CHECK(message_on(folder.path()).find("config.json") != std::string::npos);
  }
}

TEST_CASE("the facts of the machine name no user and no folder") {
  const Facts facts = machine_facts();
  REQUIRE(facts.size() >= 5);
  CHECK(facts[0].first == "gradus");
  CHECK(facts[1].first == "kernels");
  for (const auto& [name, value] : facts) {
    CHECK_FALSE(value.empty());
    CHECK(value.find("/home") == std::string::npos);
  }
}

TEST_CASE("settings that no lab has are refused: each whole number, with its name") {
  const test::ScratchFolder folder;
  write_lab(folder.path());
  const kit::Json good = kit::read_json(folder / "config.json");
  const auto with = [&](const char* pointer, const kit::Json& value) {
    kit::Json changed = good;
    changed[kit::Json::json_pointer(pointer)] = value;
    kit::write_json(folder / "config.json", changed);
    return message_on(folder.path());
  };
  CHECK(with("/seeds", 2) == "");
  for (const char* pointer : {"/seed",
                              "/seeds",
                              "/threads",
                              "/depths/0",
                              "/warmups/0",
                              "/model/d_model",
                              "/model/heads",
                              "/model/batch",
                              "/model/steps",
                              "/recall/boxes",
                              "/recall/things",
                              "/recall/length",
                              "/initialisation/depths/0",
                              "/initialisation/d_model",
                              "/initialisation/positions",
                              "/initialisation/classes",
                              "/initialisation/seeds",
                              "/task/vocabulary",
                              "/task/context",
                              "/task/ngram/n"}) {
    CAPTURE(pointer);
    for (const kit::Json& bad : {kit::Json(-1), kit::Json(INT64_MAX + std::uint64_t{1}),
                                 kit::Json(UINT64_MAX), kit::Json(1e308), kit::Json(2.5), kit::Json(true),
                                 kit::Json("2"), kit::Json(), kit::Json::array({2}), kit::Json::object()}) {
      const std::string message = with(pointer, bad);
      CAPTURE(message);
      CHECK(message.find("config.json: not as the lab writes it (") != std::string::npos);
      CHECK(message.find(" expects a whole number from ") != std::string::npos);
    }
  }
  for (const char* pointer : {"/seeds", "/threads", "/depths/0", "/model/d_model", "/model/batch",
                              "/recall/length", "/initialisation/d_model", "/initialisation/depths/0"})
    CHECK(with(pointer, 99'999'999).find(" expects a whole number from ") != std::string::npos);
  for (const double lr : {0.0, -0.1}) CHECK(with("/lrs/0", lr).find("numbers above 0") != std::string::npos);
  for (const char* pointer : {"/depths", "/lrs", "/warmups"})
    CHECK(with(pointer, kit::Json::array()).find("expects a list") != std::string::npos);
  CHECK(with("/model/heads", 5).find("heads 5 does not divide d_model") != std::string::npos);
  // Short lists whose product is not short.
  kit::Json many = kit::Json::array();
  for (int i = 1; i <= 1000; ++i) many.push_back(i);
  CHECK(with("/depths", many).find("runs, expects at most 100000") == std::string::npos);
  kit::Json all = good;
  all["depths"] = all["lrs"] = all["warmups"] = many;
  kit::write_json(folder / "config.json", all);
  CHECK(message_on(folder.path()).find("make 4000000008 runs, expects at most 100000") != std::string::npos);
}

TEST_CASE("measurements that do not fit together are refused") {
  const test::ScratchFolder folder;
  write_lab(folder.path());
  const kit::Json good = kit::read_json(folder / "initialisation.json");
  const auto with = [&](const char* pointer, const kit::Json& value) {
    kit::Json changed = good;
    changed[kit::Json::json_pointer(pointer)] = value;
    kit::write_json(folder / "initialisation.json", changed);
    return message_on(folder.path());
  };
  for (const kit::Json& bad : {kit::Json(99'999'999), kit::Json(1e300), kit::Json(-2), kit::Json()})
    CHECK(with("/states/0/layers", bad).find("layers expects a whole number") != std::string::npos);
  CHECK(with("/states/0/layers", 3).find("norm_squared expects 3 numbers, got 2") != std::string::npos);
  CHECK(with("/states/0/gradient", kit::Json::array()).find("gradient expects 2 numbers, got 0") !=
        std::string::npos);
  kit::Json older = good;  // written before shares were kept
  for (kit::Json& state : older.at("states")) state.erase("weight_share"), state.erase("activation_share");
  kit::write_json(folder / "initialisation.json", older);
  CHECK(message_on(folder.path()).empty());
  CHECK(with("/states/0/placement", "mid").find("initialisation.json: not as the lab writes it") !=
        std::string::npos);
}

TEST_CASE("a line of metrics that is missing, doubled or of another run is noticed") {
  const test::ScratchFolder folder;
  write_lab(folder.path());
  const std::filesystem::path path = folder / "metrics.jsonl";
  const std::string good = kit::read_file(path);
  const std::string first = good.substr(0, good.find('\n') + 1);
  const auto with = [&](const std::string& text) {
    kit::replace_file(path, text);
    return message_on(folder.path());
  };
  CHECK(with(good).empty());
  CHECK(with(first + good).find("metrics.jsonl: line 2 is not as the lab writes it (") != std::string::npos);
  CHECK(with(first + good).find("expects step 2, got '1'") != std::string::npos);
  CHECK(with(good.substr(first.size())).find("expects step 1, got '2'") != std::string::npos);
  // No steps at all: a record of results, which must be asked for.
  std::string results_only;
  for (std::size_t at = 0; at < good.size();) {
    const std::size_t next = good.find('\n', at) + 1;
    const std::string line = good.substr(at, next - at);
    if (line.find("\"final_loss\"") != std::string::npos) results_only += line;
    at = next;
  }
  CHECK(with(results_only).find("expects 60 steps, got 0") != std::string::npos);
  CHECK(read_results(folder.path(), Steps::left_out).complete());
  // The last step of the first run.
  const std::size_t end = good.find("\"final_loss\"");
  const std::size_t result = good.rfind('\n', end) + 1, last = good.rfind('\n', result - 2) + 1;
  CHECK(with(good.substr(0, last) + good.substr(result)).find("expects 60 steps, got 59") !=
        std::string::npos);
}
