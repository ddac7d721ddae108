#include "lab/training/sweep.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "lab/program/options.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

const Task& small_task() {
  static const Task task(RecallOptions{.boxes = 2, .things = 3, .length = 8});
  return task;
}

LabOptions tiny_lab() {
  LabOptions options;
  options.depths = {1, 2};
  options.lrs = {0.01};
  options.warmups = {0, 3};
  options.seeds = 1;
  options.model = {.d_model = 8, .heads = 2, .batch = 2, .steps = 6};
  return options;
}

std::vector<RunRecord> run(const std::filesystem::path& metrics, std::int64_t threads,
                           const LabOptions& options = tiny_lab()) {
  const std::vector<RunOptions> plan = plan_runs(options);
  CHECK(run_all(small_task(), options.model, plan, threads, metrics));
  std::vector<RunRecord> runs = read_runs(metrics, plan);
  CHECK(runs.size() == plan.size());
  return runs;
}

void check_equal(const std::vector<RunRecord>& a, const std::vector<RunRecord>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(a[i].options.name());
    CHECK(a[i].options.name() == b[i].options.name());
    CHECK(a[i].result.parameters_sha256 == b[i].result.parameters_sha256);
    CHECK(a[i].result.final_loss == b[i].result.final_loss);
    CHECK(a[i].losses == b[i].losses);
    CHECK(a[i].grad_norms == b[i].grad_norms);
  }
}

/// The first `lines` lines and half of the next: what a killed lab leaves.
void cut(const std::filesystem::path& path, int lines) {
  const std::string all = kit::read_file(path);
  std::size_t end = 0;
  for (int i = 0; i < lines; ++i) end = all.find('\n', end) + 1;
  kit::replace_file(path, all.substr(0, end + 20));
}

}  // namespace

TEST_CASE("one thread and two give the same bits") {
  const test::ScratchFolder folder;
  const std::vector<RunRecord> one = run(folder / "one", 1);
  check_equal(one, run(folder / "two", 2));
  CHECK(one[0].losses.size() == 6);
  CHECK(one[0].result.parameters_sha256.size() == 64);
  CHECK(one[0].result.parameters_sha256 != one[1].result.parameters_sha256);
}

TEST_CASE("a killed lab that goes on equals an unbroken one") {
  const test::ScratchFolder folder;
  const std::vector<RunRecord> unbroken = run(folder / "unbroken", 2);
  for (const int lines : {0, 3, 7, 16, 40}) {
    CAPTURE(lines);
    run(folder / "cut", 2);
    cut(folder / "cut", lines);
    check_equal(unbroken, run(folder / "cut", 1));
    std::filesystem::remove(folder / "cut");
  }
}

TEST_CASE("finished runs are not trained again") {
  const test::ScratchFolder folder;
  run(folder / "metrics", 2);
  const std::string before = kit::read_file(folder / "metrics");
  run(folder / "metrics", 2);
  CHECK(kit::read_file(folder / "metrics") == before);
}

TEST_CASE("every step has a line, in order") {
  const test::ScratchFolder folder;
  run(folder / "metrics", 1);
  std::map<std::string, std::int64_t> steps;
  for (const kit::LogLine& line : kit::read_run_log(folder / "metrics")) {
    if (!line.contains("step")) continue;
    CHECK(line["step"].integer() == ++steps[line["run"].text()]);
    CHECK_FALSE(line["loss"].is_null());
    CHECK(line["grad_norm"].number() > 0);
  }
  CHECK(steps.size() == plan_runs(tiny_lab()).size());
  for (const auto& [name, count] : steps) CHECK(count == 6);
}

TEST_CASE("a run that diverges has null for its loss and says where") {
  const test::ScratchFolder folder;
  LabOptions options = tiny_lab();
  options.lrs = {1e30};
  const std::vector<RunRecord> runs = run(folder / "metrics", 1, options);
  bool any = false;
  for (const RunRecord& record : runs) {
    if (!record.result.diverged_at) continue;
    any = true;
    CHECK_FALSE(record.result.final_loss);
    CHECK(*record.result.diverged_at <= 6);
    CHECK(record.losses.size() == static_cast<std::size_t>(*record.result.diverged_at));
  }
  CHECK(any);
  bool null_seen = false;
  for (const kit::LogLine& line : kit::read_run_log(folder / "metrics"))
    if (line.contains("loss") && line["loss"].is_null()) {
      null_seen = true;
      CHECK(line["diverged_at"] == line["step"]);
    }
  CHECK(null_seen);
}

TEST_CASE("both placements start from the same weights") {
  const ModelOptions model{.d_model = 8, .heads = 2, .batch = 2, .steps = 1};
  RunOptions run{.layers = 2, .seed = 3};
  const StateDict pre = make_model(small_task(), model, run).state_dict();
  run.placement = Placement::post;
  const StateDict post = make_model(small_task(), model, run).state_dict();
  std::size_t shared = 0;
  for (const auto& [key, value] : post) {
    const std::string& name = key;  // clang 14 captures no structured binding
    CAPTURE(name);
    CHECK((pre.at(name) - value).abs().sum().item() == 0);
    ++shared;
  }
  CHECK(shared == post.size());
  CHECK(pre.size() == post.size() + 2);  // the final norm
}

TEST_CASE("residual scaling makes the matrices that write to the shortcut 1 / sqrt(2L) as large") {
  const ModelOptions model{.d_model = 8, .heads = 2, .batch = 2, .steps = 1};
  RunOptions run{.layers = 2, .seed = 3};
  const StateDict plain = make_model(small_task(), model, run).state_dict();
  run.residual_scaling = true;
  const StateDict scaled = make_model(small_task(), model, run).state_dict();
  for (const auto& [key, value] : plain) {
    const std::string& name = key;
    CAPTURE(name);
    const bool writes = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight");
    const Tensor expected = writes ? value / 2.0 : value;
    CHECK((scaled.at(name) - expected).abs().max().item() < 1e-7);
  }
}

TEST_CASE("a metrics file of something else is named") {
  const test::ScratchFolder folder;
  kit::replace_file(folder / "metrics.jsonl", "{\"run\": 3}\n");
  const auto message = [&]() -> std::string {
    try {
      read_runs(folder / "metrics.jsonl", plan_runs(tiny_lab()));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message().find("metrics.jsonl: line 1 is not as the lab writes it") != std::string::npos);
  kit::replace_file(folder / "metrics.jsonl", "{\"run\": \"pre-L1-lr0.01-w0-s0\", \"step\": 1}\n");
  CHECK(message().find("grad_norm") == std::string::npos);  // the missing loss is found first
  CHECK(message().find("metrics.jsonl: line 1") != std::string::npos);
}

TEST_CASE("the time of a step is measured") {
  const LabOptions options = tiny_lab();
  CHECK(seconds_per_step(small_task(), options.model, 1, 2) > 0);
}
