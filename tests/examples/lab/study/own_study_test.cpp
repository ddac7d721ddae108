// The example study of docs/studies.md.

#include <doctest/doctest.h>

#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "lab/claims/ledger.h"
#include "lab/study/runner.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

// [study]
std::string run_of(std::uint64_t seed) { return "length-s" + std::to_string(seed); }

std::vector<std::uint64_t> seeds_of(const StudyOptions& options) {
  return seeds_from(options.seed, options.budget == Budget::quick ? 5 : 10);
}

std::vector<StudyRun> plan(const StudyOptions& options) {
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : seeds_of(options))
    runs.push_back(
        {.name = run_of(seed), .seconds = 0.01, .measure = [seed] {
           Generator generator(seed, 0);
           const Tensor token = randn({16}, generator);
           const nn::LayerNorm norm(16);
           return Measured{.numbers = {{"length", norm(token).pow(2).sum().sqrt().item()}}, .series = {}};
         }});
  return runs;
}

Figures figures(const StudyResults& results) {
  Figures all;
  for (const std::uint64_t seed : seeds_of(results.options))
    if (results.has(run_of(seed))) all["length"].push_back(results.number(run_of(seed), "length"));
  return all;
}

void report(Page& page, const StudyResults& results) {
  page.html.paragraph(std::to_string(results.records.size()) +
                      " tokens of 16 channels have been normalised.");
}

Study length_study() {
  return {.name = "length",
          .title = "The length of a token",
          .question = "How long is a normalised token?",
          .setting = "One random token of 16 channels per seed, 10 seeds.",
          .scope = "random tokens of 16 channels, no training",
          .plan = plan,
          .figures = figures,
          .report = report};
}
// [/study]

}  // namespace

TEST_CASE("the example study runs and is judged") {
  const test::ScratchFolder folder;
  const StudyConfig config{.study = "length", .options = {}, .shard = {}, .machine = machine_facts()};
  write_study(folder.path(), config);
  REQUIRE(run_study(length_study(), config, folder.path(), 2));
  const Study study = length_study();
  const StudyResults results =
      read_folder(folder.path(), [&](const auto&) -> const Study& { return study; }).results;
  CHECK(results.complete());
  const std::vector<Claim> claims =
      claims_in(kit::read_file(test::source_file("tests/examples/lab/study/length.json")));
  REQUIRE(claims.size() == 1);
  CHECK(claims[0].study == study.name);
  CHECK(claims[0].measures[0].prediction == Judgement::fails);
  const JudgedClaim judged = judge(claims[0], study.figures(results));
  CHECK(judged.verdict() == "false");
  CHECK(judged.measures[0].figure == doctest::Approx(4).epsilon(1e-3));
}
