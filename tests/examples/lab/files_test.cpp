#include "lab/files.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "gradus/core/error.h"
#include "kit/files.h"
#include "lab/report.h"
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
  kit::MetricsWriter metrics(folder / "metrics.jsonl");
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
  CHECK(results.initialisation->schemes[3].placement == nn::Placement::post);
  CHECK(results.initialisation->schemes[3].low == std::vector<double>{0.25, 0.5, 1});
  REQUIRE(results.initialisation->states.size() == start.states.size());
  for (std::size_t i = 0; i < start.states.size(); ++i) {
    CHECK(results.initialisation->states[i].placement == start.states[i].placement);
    CHECK(results.initialisation->states[i].gradient == start.states[i].gradient);
    CHECK(results.initialisation->states[i].norm_squared == start.states[i].norm_squared);
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
