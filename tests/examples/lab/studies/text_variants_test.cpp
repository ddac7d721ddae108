// The study `text-variants` without training: a formula gives the result of every run. Then some real runs.
#include "lab/studies/text_variants/variants.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fabricated.h"
#include "gradus/kit/data/files.h"
#include "lab/studies/studies.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace text_variants_test {

namespace {

using text_variants::Found;
using text_variants::Grid;

constexpr double kContextFree = 3.3, kBigram = 2.5, kBest = 2.2;

struct Run {
  std::string stack;  // or "shorter", "longer"
  std::string scheme;
  double rate = 0;
  std::uint64_t seed = 0;
};
using Loss = std::function<double(const Run&)>;

Grid full_grid() { return text_variants::grid_of({.budget = Budget::full, .seed = kFullSeed}); }

/// Runs everything that is planned, and all runs that follow.
StudyResults finished(Budget budget, const Loss& loss) {
  const Study study = text_variants_study();
  const StudyOptions options{.budget = budget, .seed = budget == Budget::full ? kFullSeed : 0};
  const Grid grid = text_variants::grid_of(options);
  std::vector<std::string> stacks = {text_variants::kShorter, text_variants::kLonger};
  for (const text_variants::Stack& stack : text_variants::stacks()) stacks.push_back(stack.name);
  std::vector<std::uint64_t> seeds = grid.searching;
  seeds.insert(seeds.end(), grid.judging.begin(), grid.judging.end());
  std::map<std::string, double> all;  // every possible run
  for (const std::string& stack : stacks)
    for (const std::string& scheme : grid.schemes)
      for (const double rate : grid.ladder)
        for (const std::uint64_t seed : seeds)
          all[text_variants::run_name(stack, scheme, rate, seed)] = loss({stack, scheme, rate, seed});
  StudyResults results{options, {}, 0};
  for (std::size_t before = 1; before != results.records.size();) {
    before = results.records.size();
    const std::vector<StudyRun> runs = planned(study, options, results.records).runs;
    for (const StudyRun& run : runs) {
      const double end = all.at(run.name);
      results.records[run.name] = {.measured = {.numbers = {{"loss", end},
                                                            {"diverged", 0},
                                                            {"context-free", kContextFree},
                                                            {"bigram", kBigram},
                                                            {"removed", end + 1}},
                                                .series = {{"losses", {4, end}}}},
                                   .seconds = 1};
    }
    results.planned = runs.size();
  }
  return results;
}

/// A valley over rates whose bottom is at `best`, and a little for the seed.
double valley(const Run& run, double best = 8e-3) {
  return kBest + 0.02 * std::abs(std::log2(run.rate / best)) + 0.001 * static_cast<double>(run.seed % 3);
}

/// All stacks are equal, initial weights matter only without norms, and the controls work.
double equal(const Run& run) {
  const double length = run.stack == "shorter" ? 0.05 : run.stack == "longer" ? -0.3 : 0;
  return valley(run) + length + (run.stack == "none" && run.scheme == "small" ? 0.1 : 0);
}

/// Equal, except for one stack.
Loss with(const std::string& stack, double more) {
  return [=](const Run& run) { return equal(run) + (run.stack == stack ? more : 0); };
}

/// Equal, but a stack fails on so many of the judging seeds.
Loss fails_on(const std::string& stack, std::uint64_t count) {
  const std::uint64_t first = full_grid().judging.front();
  return [=](const Run& run) {
    const bool fails = run.stack == stack && run.seed >= first && run.seed < first + count;
    return fails ? kContextFree + 0.02 : equal(run);
  };
}

std::string outcome(const StudyResults& results, int number, const std::string& id) {
  return test::outcome(text_variants_study().figures(results), number, id);
}
std::string outcome(const Loss& loss, int number, const std::string& id) {
  return outcome(finished(Budget::full, loss), number, id);
}

/// The outcomes of all measures that compare two stacks.
std::set<std::string> outcomes_of_pairs(const Loss& loss) {
  const StudyResults results = finished(Budget::full, loss);
  std::set<std::string> all;
  for (const Claim& claim : claims())
    if (claim.study == "text-variants")
      for (const Measure& measure : claim.measures)
        if (measure.id != "removed" && !measure.id.starts_with("spread"))
          all.insert(outcome(results, claim.number, measure.id));
  return all;
}

}  // namespace

TEST_CASE("text-variants: a finished study has every measure of the ledger, and any part of it has a page") {
  const Study study = text_variants_study();
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const StudyResults results = finished(budget, equal);
    CHECK(results.complete());
    const Figures figures = study.figures(results);
    const std::size_t seeds = budget == Budget::quick ? 3 : 8;
    for (const Claim& claim : claims())
      for (const Measure& measure : claim.measures) {
        if (claim.study != study.name) continue;
        INFO(claim.number, " ", measure.id);
        REQUIRE(figures.contains(measure.id));
        CHECK(figures.at(measure.id).size() == seeds);
        CHECK(figures.headroom.contains(measure.id));
        CHECK(measure.prediction.has_value());
        CHECK(!claim.prediction.empty());
      }
    test::check_pages(study, results);
  }
}

TEST_CASE("text-variants: stacks that are equal do as well as each other, and none is worse") {
  const StudyResults results = finished(Budget::full, equal);
  CHECK(outcome(results, 66, "spread.pre") == "yes");
  CHECK(outcome(results, 66, "spread.difference") == "no");
  CHECK(outcome(results, 67, "mutant.no-final") == "no");
  CHECK(outcome(results, 67, "removed") == "yes");
  CHECK(outcome(results, 68, "rms.pre") == "yes");
  CHECK(outcome(results, 68, "rms.post") == "yes");
  CHECK(judge(claim_numbered(69), text_variants_study().figures(results)).head() == "false");
}

TEST_CASE("text-variants: a difference is that of a stack and the one it is compared with") {
  CHECK(outcome(with("rms-pre", 0.05), 68, "rms.pre") == "no");
  CHECK(outcome(with("rms-pre", 0.05), 68, "rms.post") == "yes");
  CHECK(outcome(with("rms-post", 0.05), 68, "rms.post") == "no");
  CHECK(outcome(with("no-final", 0.05), 67, "mutant.no-final") == "yes");
  CHECK(outcome(with("no-final", 0.05), 69, "mutant.no-final") == "yes");
  for (const char* stack : {"normed-shortcut", "branch-output", "long-skip", "twice"}) {
    INFO(stack);
    CHECK(outcome(with(stack, 0.05), 69, std::string("mutant.") + stack) == "yes");
  }
  const StudyResults worse_post = finished(Budget::full, with("post", 0.05));
  CHECK(outcome(worse_post, 69, "mutant.code-pre") == "no");
  CHECK(outcome(worse_post, 69, "mutant.twice") == "no");
  CHECK(outcome(worse_post, 69, "mutant.normed-shortcut") == "no");  // compared with Pre-LN
  const Figures figures = text_variants_study().figures(worse_post);
  CHECK(figures.at("mutant.code-pre").front() == doctest::Approx(-0.05));
  CHECK(figures.at("removed").front() == doctest::Approx(1));
}

TEST_CASE("text-variants: initial weights matter to the placement whose losses differ between them") {
  const auto small_costs = [](double pre, double post) -> Loss {
    return [=](const Run& run) {
      const bool small = run.scheme == "small";
      return equal(run) + (small && run.stack == "pre" ? pre : small && run.stack == "post" ? post : 0);
    };
  };
  CHECK(outcome(small_costs(0, 0.2), 66, "spread.pre") == "yes");
  CHECK(outcome(small_costs(0, 0.2), 66, "spread.difference") == "yes");
  CHECK(outcome(small_costs(0.1, 0.1), 66, "spread.pre") == "no");
  CHECK(outcome(small_costs(0.1, 0.1), 66, "spread.difference") == "no");
  const Figures figures = text_variants_study().figures(finished(Budget::full, small_costs(0.1, 0.25)));
  CHECK(figures.at("spread.pre").front() == doctest::Approx(0.1));
  CHECK(figures.at("spread.difference").front() == doctest::Approx(0.15));
}

TEST_CASE("text-variants: the searching seeds choose weights and rate, and the others judge them") {
  const Grid grid = full_grid();
  // On the searching seeds Post-LN is lucky with a kind of initial weights that is bad on the others.
  const StudyResults results = finished(Budget::full, [&](const Run& run) {
    const bool searches = run.seed < grid.judging.front();
    const bool lucky = run.stack == "post" && run.scheme == "xavier";
    return equal(run) + (lucky ? (searches ? -0.05 : 0.15) : 0);
  });
  const Found post(results, grid, text_variants::stack_named("post")),
      twice(results, grid, text_variants::stack_named("twice"));
  REQUIRE(post.best().has_value());
  CHECK(grid.schemes[*post.best()] == "xavier");
  CHECK(post.rate(*post.best()) == 8e-3);
  CHECK(post.judged().size() == grid.schemes.size());
  CHECK(twice.judged().size() == 1);
  const Figures figures = text_variants_study().figures(results);
  CHECK(figures.at("mutant.code-pre").front() == doctest::Approx(-0.15));
  for (const std::uint64_t seed : grid.searching)
    CHECK(std::find(grid.judging.begin(), grid.judging.end(), seed) == grid.judging.end());
}

TEST_CASE(
    "text-variants: a search goes beyond its rates, and one that reaches the ladder's end decides nothing") {
  const Grid grid = full_grid();
  const auto best_at = [](double rate) -> Loss {
    return [=](const Run& run) { return run.stack == "rms-pre" ? valley(run, rate) : equal(run); };
  };
  for (const double rate : {5e-4, 3.2e-2}) {
    const StudyResults results = finished(Budget::full, best_at(rate));
    const Found found(results, grid, text_variants::stack_named("rms-pre"));
    REQUIRE(found.best().has_value());
    CHECK(found.rate(*found.best()) == rate);
    CHECK(outcome(results, 68, "rms.pre") == "yes");
  }
  CHECK(outcome(best_at(1e-5), 68, "rms.pre") ==
        "not decided: the search ends at its edge: Pre-LN with RMSNorm");
}

TEST_CASE("text-variants: without a working control equal losses decide nothing") {
  const Loss blind = [](const Run& run) { return equal(run) - (run.stack == "shorter" ? 0.045 : 0); };
  CHECK(outcomes_of_pairs(blind) ==
        std::set<std::string>{
            "not measured: no working control: Pre-LN in four fifths of the steps, 0 of 8 seeds"});
  const Loss any_weights = [](const Run& run) { return run.stack == "none" ? valley(run) : equal(run); };
  CHECK(outcome(any_weights, 66, "spread.pre") ==
        "not measured: no working control: initial weights without norms, 0 of 8 seeds");
  const Loss fails_without_norms = [](const Run& run) {
    return run.stack == "none" ? (run.scheme == "small" ? kContextFree : valley(run)) : equal(run);
  };
  CHECK(outcome(fails_without_norms, 66, "spread.pre") == "yes");
}

TEST_CASE("text-variants: near a loss that longer training does not lower, nothing is decided") {
  const Loss no_room = [](const Run& run) { return equal(run) + (run.stack == "longer" ? 0.27 : 0); };
  CHECK(outcomes_of_pairs(no_room) == std::set<std::string>{"not decided: saturated"});
  CHECK(outcome(no_room, 66, "spread.pre") == "not decided: saturated");
}

TEST_CASE("text-variants: seeds with a failed run are left out") {
  const StudyResults some = finished(Budget::full, fails_on("rms-post", 3));
  CHECK(text_variants_study().figures(some).at("rms.post").size() == 5);
  CHECK(outcome(some, 68, "rms.post") == "yes");
  CHECK(test::page_of(text_variants_study(), some).find("3 of 8") != std::string::npos);
  CHECK(outcome(fails_on("rms-post", 4), 68, "rms.post") == "not decided: failed runs on 4 of 8 seeds");
  CHECK(outcome(fails_on("rms-post", 8), 68, "rms.post") ==
        "not measured: Post-LN with RMSNorm trains nowhere");
  CHECK(outcome(fails_on("post", 4), 66, "spread.difference") == "not decided: failed runs on 4 of 8 seeds");
  CHECK(outcome(with("long-skip", kBigram - kBest + 0.01), 69, "mutant.long-skip") ==
        "not measured: long skip (MLX #1327) trains nowhere");
}

TEST_CASE("text-variants: a run of each stack reads the text, and no two end alike") {
  const test::ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i * i % 97) + " of a play\n";
  kit::replace_file(folder / "tinyshakespeare.txt", text);
  const Study study = text_variants_study();
  std::map<std::string, Measured> measured;
  for (const StudyRun& run : study.plan({.budget = Budget::quick, .data = folder.path()}))
    if (run.name.ends_with("-small-lr0.008-s300")) measured[run.group] = run.measure();
  CHECK(measured.size() == text_variants::stacks().size());
  std::set<double> losses;
  for (const auto& entry : measured) {
    const std::string& stack = entry.first;
    const Measured& one = entry.second;
    INFO(stack);
    const double loss = one.numbers.at("loss");
    CHECK(losses.insert(loss).second);
    CHECK(std::isfinite(loss));
    CHECK(one.numbers.at("bigram") < one.numbers.at("context-free"));
    CHECK(one.series.at("losses").size() == 10);
    CHECK(one.numbers.contains("removed") == (stack == "pre"));
  }
  CHECK(measured.at("pre").numbers.at("removed") != measured.at("pre").numbers.at("loss"));
  for (const StudyRun& run : study.plan({.budget = Budget::quick, .data = folder.path()}))
    if (run.name == "pre-small-lr0.008-s300") CHECK(run.measure().numbers == measured.at("pre").numbers);
}

}  // namespace text_variants_test
