// The study `best` without training: a formula gives the result of every run.
#include "lab/studies/best/best.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fabricated.h"
#include "lab/studies/studies.h"

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace best_test {

namespace {

using best::Arm;
using best::Design;
using Loss = std::function<double(const Arm&, const Design&, std::uint64_t seed)>;

/// Runs everything that is planned, and all runs that follow.
StudyResults finished(Budget budget, const Loss& loss) {
  const Study& study = study_named("best");
  const StudyOptions options{.budget = budget, .seed = budget == Budget::full ? kFullSeed : 0};
  const best::Grid grid = best::grid_of(options);
  std::map<std::string, double> all;  // every possible run
  std::vector<std::uint64_t> seeds = grid.searching;
  seeds.insert(seeds.end(), grid.judging.begin(), grid.judging.end());
  for (const Arm& arm : grid.arms())
    for (const std::string& scheme : grid.schemes)
      for (const std::int64_t warmup : grid.warmups)
        for (const double lr : grid.ladder)
          for (const std::uint64_t seed : seeds)
            all[best::run_name(arm, {scheme, warmup, lr}, seed)] = loss(arm, {scheme, warmup, lr}, seed);
  StudyResults results{options, {}, 0};
  for (std::size_t before = 1; before != results.records.size();) {
    before = results.records.size();
    const std::vector<StudyRun> runs = planned(study, options, results.records).runs;
    for (const StudyRun& run : runs) {
      const double end = all.at(run.name), never = std::nan("");
      results.records[run.name] = {
          .measured = {.numbers = {{"loss", end},
                                   {"start", 4},
                                   {"diverged", 0},
                                   {"steps", end < best::target_loss() ? 1000 * end : never}},
                       .series = {{"losses", {4, end}}}},
          .seconds = 1};
    }
    results.planned = runs.size();
  }
  return results;
}

/// Above the entropy by a valley over rates whose bottom is `best`, and a little for the seed.
double valley(double lr, double best, std::uint64_t seed) {
  return best::task().entropy().value() + 0.1 + 0.1 * std::abs(std::log10(lr / best)) +
         0.001 * static_cast<double>(seed % 3);
}

std::string outcome(const StudyResults& results, int number, const std::string& id) {
  return gradus::test::outcome(study_named("best").figures(results), number, id);
}

const Loss kBothWell = [](const Arm&, const Design& design, std::uint64_t seed) {
  return valley(design.lr, 1e-3, seed) + (design.scheme == "tfixup" ? 0 : 0.02);
};

/// Whether a seed is one of the first `count` that judge, in the full form.
bool judges_among_first(std::uint64_t seed, std::uint64_t count) {
  const best::Grid grid = best::grid_of({.budget = Budget::full, .seed = kFullSeed});
  return seed >= grid.judging.front() && seed < grid.judging.front() + count;
}

/// Both placements well, but Post-LN, 0.05 above Pre-LN, fails on so many of the seeds that judge.
StudyResults post_fails_on(std::uint64_t count) {
  return finished(Budget::full, [=](const Arm& arm, const Design& design, std::uint64_t seed) {
    if (arm.placement == 0) return kBothWell(arm, design, seed);
    return judges_among_first(seed, count) ? best::task().context_free_loss()
                                           : kBothWell(arm, design, seed) + 0.05;
  });
}

}  // namespace

TEST_CASE("best: a finished study has every measure of the ledger, and any part of it has a page") {
  const Study& study = study_named("best");
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const StudyResults results = finished(budget, kBothWell);
    CHECK(results.complete());
    const Figures figures = study.figures(results);
    for (const Claim& claim : claims())
      for (const Measure& measure : claim.measures) {
        if (claim.study != "best" || (budget == Budget::quick && !measure.quick)) continue;
        INFO(claim.number, " ", measure.id);
        REQUIRE(figures.contains(measure.id));
        CHECK(figures.at(measure.id).size() >= kLeastSeeds);
        CHECK(measure.prediction.has_value());
        CHECK(!claim.prediction.empty());
      }
    gradus::test::check_pages(study, results);
  }
}

TEST_CASE("best: the searching seeds choose settings, and the others judge them") {
  const best::Grid grid = best::grid_of({.budget = Budget::full, .seed = kFullSeed});
  // On the searching seeds Post-LN is lucky with a kind of initial weights that is bad on the others.
  const StudyResults results =
      finished(Budget::full, [&](const Arm& arm, const Design& design, std::uint64_t seed) {
        const bool searches = seed < grid.judging.front();
        const double luck = arm.placement == 1 && design.scheme == "fan_in" ? (searches ? -0.05 : 0.15) : 0;
        return kBothWell(arm, design, seed) + luck;
      });
  CHECK(outcome(results, 62, "best.L12") == "yes");
  const best::Found found(results, grid, {1, 12});
  CHECK(found.chosen(0)->scheme == "fan_in");
  CHECK(study_named("best").figures(results).at("best.L12").size() == grid.judging.size());
}

TEST_CASE(
    "best: placements that are equal at their best do not differ because of one kind of initial weights") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, const Design& design, std::uint64_t seed) {
        const bool fails = arm.placement == 1 && design.scheme == "fan_in" && arm.layers >= 12;
        return fails ? best::task().context_free_loss() : kBothWell(arm, design, seed);
      });
  CHECK(outcome(results, 62, "best.L24") == "no");
  CHECK(outcome(results, 63, "trains.post.L24") == "no");  // that it fails
}

TEST_CASE("best: the better of no warm-up and warm-up is an arm's best") {
  const best::Grid grid = best::grid_of({.budget = Budget::full, .seed = kFullSeed});
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, const Design& design, std::uint64_t seed) {
        const bool cold_is_worse = arm.placement == 1;
        return kBothWell(arm, design, seed) + ((design.warmup == 0) == cold_is_worse ? 0.05 : 0);
      });
  CHECK(best::Found(results, grid, {0, 12}).best() == 0);
  CHECK(best::Found(results, grid, {1, 12}).best() == 1);
  CHECK(outcome(results, 59, "gain.pre.L12") == "yes");  // Pre-LN needs none
  CHECK(outcome(results, 59, "gain.difference.L12") == "yes");
  CHECK(outcome(results, 62, "best.L12") == "no");
}

TEST_CASE("best: a search that reaches the end of its ladder decides nothing") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, const Design& design, std::uint64_t seed) {
        return valley(design.lr, arm.placement == 1 && arm.layers == 12 ? 1e-6 : 1e-3, seed) +
               (arm.placement == 1 ? 0.05 : 0);
      });
  CHECK(outcome(results, 62, "best.L12") == "not decided: the search ends at its edge: Post-LN, 12 layers");
  CHECK(outcome(results, 62, "best.L6") == "yes");
}

TEST_CASE("best: if all end near the language's entropy, the task is saturated") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, const Design& design, std::uint64_t seed) {
        return valley(design.lr, 1e-3, seed) - 0.08 + (arm.placement == 1 ? 0.005 : 0);
      });
  CHECK(outcome(results, 62, "best.L6") == "not decided: saturated");
}

TEST_CASE("best: an arm that fails everywhere is not measured, and a failure needs a control") {
  const double failed = best::task().context_free_loss();
  const StudyResults post =
      finished(Budget::full, [&](const Arm& arm, const Design& design, std::uint64_t seed) {
        return arm.placement == 1 ? failed + 0.001 * static_cast<double>(seed % 3)
                                  : kBothWell(arm, design, seed);
      });
  CHECK(outcome(post, 62, "best.L24") == "not measured: Post-LN, 24 layers trains nowhere");
  CHECK(outcome(post, 63, "trains.post.L24") == "yes");  // it fails, and Pre-LN does not
  const StudyResults both =
      finished(Budget::full, [&](const Arm&, const Design&, std::uint64_t) { return failed; });
  CHECK(outcome(both, 63, "trains.post.L24") ==
        "not measured: no working control: Pre-LN, 24 layers, 0 of 10 seeds");
  CHECK(outcome(both, 60, "sooner.L24") == "not measured: neither reaches the target");
  CHECK(outcome(both, 61, "largest.L24") == "not measured: neither trains at any rate");
}

TEST_CASE("best: an arm that is better than guessing but trains nowhere is compared in no figure") {
  // Post-LN of 24 and 48 layers ends between the best n-gram and the loss of predicting without context.
  const double stuck = (best::learned_loss() + best::task().context_free_loss()) / 2;
  const StudyResults results =
      finished(Budget::full, [&](const Arm& arm, const Design& design, std::uint64_t seed) {
        return arm.placement == 1 && arm.layers >= 24 ? stuck + 0.001 * static_cast<double>(seed % 3)
                                                      : kBothWell(arm, design, seed);
      });
  const std::string nowhere = "not measured: Post-LN, 24 layers trains nowhere";
  CHECK(outcome(results, 58, "sensitivity.L24") == nowhere);
  CHECK(outcome(results, 59, "gain.difference.L24") == nowhere);
  CHECK(outcome(results, 60, "sooner.L24") == nowhere);
  CHECK(outcome(results, 61, "largest.L24") == nowhere);
  CHECK(outcome(results, 61, "sooner-at-largest.L24") == nowhere);
  CHECK(outcome(results, 62, "best.L24") == nowhere);
  CHECK(outcome(results, 64, "gain.post.L48") == "not measured: Post-LN, 48 layers trains nowhere");
  CHECK(outcome(results, 64, "gain.pre.L48") == "no");
  CHECK(outcome(results, 64, "trains.post.L48") == "no");
  CHECK(judge(claim_numbered(64), study_named("best").figures(results)).head() == "false");
  const StudyResults no_pre =
      finished(Budget::full, [&](const Arm& arm, const Design& design, std::uint64_t seed) {
        return arm.placement == 0 && arm.layers >= 24 ? stuck : kBothWell(arm, design, seed);
      });
  CHECK(outcome(no_pre, 59, "gain.pre.L24") == "not measured: Pre-LN, 24 layers trains nowhere");
  CHECK(outcome(no_pre, 60, "sooner.L24") == "not measured: Pre-LN, 24 layers trains nowhere");
}

TEST_CASE("best: a difference is that of the seeds on which no run failed") {
  const StudyResults some = post_fails_on(3);
  const Figures figures = study_named("best").figures(some);
  REQUIRE(figures.at("best.L12").size() == 7);
  for (const double difference : figures.at("best.L12")) CHECK(difference == doctest::Approx(0.05));
  REQUIRE(figures.at("gain.difference.L12").size() == 7);
  for (const double difference : figures.at("gain.difference.L12")) CHECK(std::abs(difference) < 1e-9);
  CHECK(figures.at("gain.pre.L12").size() == 10);
  CHECK(figures.at("trains.post.L12") ==
        std::vector<double>{0, 0, 0, 1, 1, 1, 1, 1, 1, 1});  // shares count all
  CHECK(outcome(some, 62, "best.L12") == "yes");
  CHECK(outcome(post_fails_on(6), 62, "best.L12") == "not decided: failed runs on 6 of 10 seeds");
  const std::string page = gradus::test::page_of(study_named("best"), some);
  CHECK(page.find("Failed runs on the judging seeds") != std::string::npos);
  CHECK(page.find("3 of 10") != std::string::npos);
}

TEST_CASE("best: if a placement fails without warm-up on every seed, its gain is no number") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, const Design& design, std::uint64_t seed) {
        return arm.placement == 1 && design.warmup == 0 ? best::task().context_free_loss()
                                                        : kBothWell(arm, design, seed);
      });
  CHECK(outcome(results, 64, "gain.post.L48") == "not measured: failed runs on 10 of 10 seeds");
  CHECK(outcome(results, 59, "gain.difference.L12") == "not measured: failed runs on 10 of 10 seeds");
  CHECK(outcome(results, 62, "best.L12") == "no");
}

TEST_CASE("best: sensitivity is that of seeds on which no rate fails") {
  const auto fails_at_the_highest = [](std::uint64_t count) {
    return finished(Budget::full, [=](const Arm& arm, const Design& design, std::uint64_t seed) {
      return arm.placement == 1 && design.lr >= 1e-2 && judges_among_first(seed, count)
                 ? best::task().context_free_loss()
                 : kBothWell(arm, design, seed);
    });
  };
  const Figures figures = study_named("best").figures(fails_at_the_highest(3));
  REQUIRE(figures.at("sensitivity.L6").size() == 7);
  for (const double difference : figures.at("sensitivity.L6")) CHECK(std::abs(difference) < 1e-9);
  CHECK(figures.at("best.L6").size() == 10);
  CHECK(outcome(fails_at_the_highest(10), 58, "sensitivity.L6") ==
        "not measured: failed runs on 10 of 10 seeds");
}

TEST_CASE("best: failed runs do not add headroom") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, const Design& design, std::uint64_t seed) {
        return judges_among_first(seed, 3)
                   ? best::task().context_free_loss()
                   : valley(design.lr, 1e-3, seed) - 0.08 + (arm.placement == 1 ? 0.005 : 0);
      });
  CHECK(outcome(results, 62, "best.L6") == "not decided: saturated");
  CHECK(outcome(results, 59, "gain.pre.L6") == "not decided: saturated");
}

TEST_CASE("best: the page names the limits of the search and its readouts") {
  const std::string page = gradus::test::page_of(study_named("best"), finished(Budget::full, kBothWell));
  for (const char* words : {"On the first searching seed alone 15 settings become 8", "at different warm-ups",
                            "taken on the judging seeds themselves", "a 4-gram", "only if all ten agree"})
    CHECK(page.find(words) != std::string::npos);
}

TEST_CASE("best: rates go up until half of the seeds no longer train") {
  const StudyOptions options{.budget = Budget::full, .seed = kFullSeed};
  const best::Grid grid = best::grid_of(options);
  const auto up_to = [&](double most) {
    return finished(Budget::full, [=](const Arm& arm, const Design& design, std::uint64_t seed) {
      return arm.placement == 0 && design.lr > most ? best::task().context_free_loss()
                                                    : valley(design.lr, 1e-3, seed);
    });
  };
  CHECK(best::Found(up_to(3e-2), grid, {0, 6}).sweep().back() == 1e-1);
  CHECK(best::Found(up_to(3e-3), grid, {0, 6}).sweep().back() == 1e-2);
  CHECK(best::Found(up_to(1), grid, {0, 6}).sweep_at_edge());
  CHECK(outcome(up_to(3e-3), 61, "largest.L6") ==
        "not decided: the search ends at its edge: Post-LN, 6 layers");
}

TEST_CASE("best: no other study uses its seeds") {
  const best::Grid grid = best::grid_of({.budget = Budget::full, .seed = kFullSeed});
  for (const Study& study : studies())
    if (study.name != "best")
      for (const StudyRun& run : study.plan({.budget = Budget::full, .seed = kFullSeed}))
        for (const std::vector<std::uint64_t>* seeds : {&grid.searching, &grid.judging})
          for (const std::uint64_t seed : *seeds)
            CHECK(run.name.find(std::to_string(seed)) == std::string::npos);
}

}  // namespace best_test
