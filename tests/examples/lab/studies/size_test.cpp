// The study `size`: a formula gives the result of every run; few runs are trained.
#include "lab/studies/size/size.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "fabricated.h"
#include "gradus/gradus.h"
#include "lab/studies/best/best.h"
#include "lab/studies/studies.h"
#include "lab/studies/tiny.h"

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace size_test {

namespace {

using sizes::Arm;
using Loss = std::function<double(const Arm&, double lr, std::uint64_t seed)>;

StudyOptions options_of(Budget budget) {
  return {.budget = budget, .seed = budget == Budget::full ? kFullSeed : 0};
}

/// Runs everything that is planned, and all runs that follow.
StudyResults finished(const Loss& loss, Budget budget = Budget::full) {
  const Study& study = study_named("size");
  const StudyOptions options = options_of(budget);
  const sizes::Grid grid = sizes::grid_of(options);
  std::map<std::string, double> all;  // every possible run
  for (const Arm& arm : grid.arms())
    for (const double lr : grid.ladder)
      for (const std::vector<std::uint64_t>& seeds : {grid.searching(arm.size), grid.judging(arm)})
        for (const std::uint64_t seed : seeds) all[sizes::run_name(arm, lr, seed)] = loss(arm, lr, seed);
  StudyResults results{options, {}, 0};
  for (std::size_t before = 1; before != results.records.size();) {
    before = results.records.size();
    const std::vector<StudyRun> runs = planned(study, options, results.records).runs;
    for (const StudyRun& run : runs) {
      const double end = all.at(run.name);
      results.records[run.name] = {.measured = {.numbers = {{"loss", end}, {"start", 4}, {"diverged", 0}},
                                                .series = {{"losses", {4, end}}}},
                                   .seconds = 1};
    }
    results.planned = runs.size();
  }
  return results;
}

double decades(double lr, double from) { return std::abs(std::log10(lr / from)); }

/// Above the entropy by a valley over rates of that steepness (nats a decade), and a little for the seed.
double valley(double lr, std::uint64_t seed, double steepness = 0.08, double best = 1e-3) {
  return best::task().entropy().value() + 0.1 + steepness * decades(lr, best) +
         0.001 * static_cast<double>(seed % 3);
}

bool is_post(const Arm& arm) { return arm.placement == "Post-LN"; }
double doublings(std::int64_t x, std::int64_t from) {
  return std::log2(static_cast<double>(x) / static_cast<double>(from));
}

const Loss kAlike = [](const Arm&, double lr, std::uint64_t seed) { return valley(lr, seed); };

std::string outcome(const StudyResults& results, int number, const std::string& id) {
  return gradus::test::outcome(study_named("size").figures(results), number, id);
}

}  // namespace

TEST_CASE("size: a finished study has every measure of the ledger, and any part of it has a page") {
  const Study& study = study_named("size");
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const StudyResults results = finished(kAlike, budget);
    CHECK(results.complete());
    const Figures figures = study.figures(results);
    for (const Claim& claim : claims())
      for (const Measure& measure : claim.measures) {
        if (claim.study != "size" || (budget == Budget::quick && !measure.quick)) continue;
        INFO(claim.number, " ", measure.id);
        REQUIRE(figures.contains(measure.id));
        CHECK(figures.at(measure.id).size() >= (budget == Budget::full ? kLeastSeeds : 2));
        CHECK(measure.prediction.has_value());
        CHECK(!claim.prediction.empty());
        CHECK(!claim.paper.empty());
      }
    gradus::test::check_pages(study, results);
  }
}

TEST_CASE("size: the seeds of a large model are also those of smaller ones, and none searches") {
  for (const Budget budget : {Budget::quick, Budget::standard, Budget::full}) {
    const sizes::Grid grid = sizes::grid_of(options_of(budget));
    for (const sizes::SizeSeeds& one : grid.sizes) {
      CHECK(one.judging <= grid.sizes.front().judging);
      CHECK(one.others <= one.judging);
      CHECK(one.searching > 0);
      CHECK(one.size.width % 8 == 0);
    }
    for (const sizes::Line& line : grid.both_lines()) {
      CHECK(line.sizes.size() >= 3);
      CHECK(line.sizes.front() == grid.sizes.front().size);
      CHECK(std::is_sorted(line.x.begin(), line.x.end()));
    }
  }
  const sizes::Grid full = sizes::grid_of(options_of(Budget::full));
  for (const sizes::SizeSeeds& one : full.sizes) CHECK(one.judging >= 5);
  CHECK(full.rates() == std::vector<double>{1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2});
}

TEST_CASE("size: slopes are those of a seed's own sizes, at least three, none of which failed") {
  const double failed = std::nan("");
  const sizes::BySeed small{{1, 1, 1, 1}, {true, true, true, true}},
      middle{{3, 2, 2, 2}, {true, true, true, true}}, large{{5, 3, failed}, {true, true, true}},
      largest{{7}, {true}};
  const sizes::BySeed slopes = sizes::slopes({32, 64, 128, 256}, {small, middle, large, largest});
  REQUIRE(slopes.values.size() == 4);
  CHECK(slopes.values[0] == doctest::Approx(2));
  CHECK(slopes.values[1] == doctest::Approx(1));  // without the largest
  CHECK(std::isnan(slopes.values[2]));
  CHECK(std::isnan(slopes.values[3]));
  CHECK(slopes.finished == std::vector<bool>{true, true, true, false});  // two sizes are no slope
  const sizes::BySeed open = sizes::slopes({1, 2, 4}, {{{1}, {true}}, {{1}, {false}}, {{1}, {true}}});
  CHECK(!open.finished[0]);
}

TEST_CASE("size: a difference in sensitivity that grows with width is a slope over its logarithm") {
  const StudyResults results = finished([](const Arm& arm, double lr, std::uint64_t seed) {
    const double steeper = is_post(arm) ? 0.1 * doublings(arm.size.width, 32) : 0;
    return valley(lr, seed, 0.08 + steeper);
  });
  const sizes::Grid grid = sizes::grid_of(options_of(Budget::full));
  double mean = 0;  // of the decades between the rates and the best
  for (const double lr : grid.rates()) mean += decades(lr, 1e-3) / static_cast<double>(grid.rates().size());
  const Figures figures = study_named("size").figures(results);
  CHECK(figures.at("width.sensitivity").size() == 6);
  for (const double slope : figures.at("width.sensitivity")) CHECK(slope == doctest::Approx(0.1 * mean));
  CHECK(figures.at("depth.sensitivity").size() == 8);
  CHECK(outcome(results, 70, "width.sensitivity") == "yes");
  CHECK(outcome(results, 70, "width.near") == "yes");
  CHECK(outcome(results, 70, "depth.sensitivity") == "no");
  CHECK(outcome(results, 70, "depth.near") == "no");
}

TEST_CASE("size: the range of rates near the best is interpolated, and a failed run is not in it") {
  const double failed = best::task().context_free_loss(), nan = std::nan("");
  CHECK(sizes::range_near_best({2, 1.95, 1.5, 1.55, 1.9}) == doctest::Approx(1 + 0.1 / 0.45 + 0.05 / 0.35));
  CHECK(sizes::range_near_best({1.5, 1.55, 1.6}) == doctest::Approx(2));    // all of them
  CHECK(sizes::range_near_best({1.5, 1.9, 1.5}) == doctest::Approx(0.25));  // not beyond the gap
  CHECK(sizes::range_near_best({1.9, 1.5, nan}) == doctest::Approx(0.25 + 0.1 / (failed - 1.5)));
  CHECK(sizes::range_near_best({nan, failed - 0.05, nan}) == doctest::Approx(2));  // as far as the next rates
  CHECK(std::isnan(sizes::range_near_best({nan, nan})));
  const StudyResults results = finished([=](const Arm& arm, double lr, std::uint64_t seed) {
    // 0.08 a decade: all rates but the highest, 1.48 decades away; fails at the two highest in Post-LN.
    return is_post(arm) && lr > 5e-3 ? failed : valley(lr, seed);
  });
  const sizes::Grid grid = sizes::grid_of(options_of(Budget::full));
  const sizes::Sweep pre(results, grid, {"Pre-LN", {64, 6}}), post(results, grid, {"Post-LN", {64, 6}});
  for (const double range : pre.near_best().values)
    CHECK(range == doctest::Approx(4 + (0.1 - 0.08) / (0.08 * std::log10(3))));
  for (const double range : post.near_best().values) CHECK(std::abs(range - 3.025) < 0.02);
  CHECK(finite(post.sensitivities().values).empty());
  CHECK(post.sensitivities().finished == std::vector<bool>(8, true));
  CHECK(finite(pre.sensitivities().values).size() == 8);
}

TEST_CASE("size: seeds on which a run fails have no sensitivity, but a range of rates near the best") {
  const double failed = best::task().context_free_loss();
  const auto fails_from = [=](std::int64_t width) {
    return finished([=](const Arm& arm, double lr, std::uint64_t seed) {
      return is_post(arm) && arm.size.width >= width && lr > 2e-2 ? failed : valley(lr, seed, 0.12);
    });
  };
  // The sixth seed is not run at width 256.
  CHECK(outcome(fails_from(256), 70, "width.sensitivity") == "not decided: failed runs on 5 of 6 seeds");
  CHECK(outcome(fails_from(128), 70, "width.sensitivity") == "not measured: failed runs on 6 of 6 seeds");
  CHECK(outcome(fails_from(128), 70, "width.near") == "no");  // that rate is not near the best in any model
  CHECK(outcome(fails_from(128), 70, "depth.sensitivity") == "no");
  const std::string page = gradus::test::page_of(study_named("size"), fails_from(128));
  CHECK(page.find("Failed runs by rate") != std::string::npos);
  CHECK(page.find("5 of 5") != std::string::npos);
}

TEST_CASE("size: QK-norm, z-loss and warm-up are compared with training that differs in them alone") {
  const StudyResults results = finished([](const Arm& arm, double lr, std::uint64_t seed) {
    return valley(lr, seed, arm.variant == "qk" ? 0.04 : arm.variant == "cold" ? 0.16 : 0.08);
  });
  for (const char* model : {"pre-d128-L6", "post-d128-L6", "pre-d32-L24", "post-d32-L24"})
    for (const char* figure : {"sensitivity.", "near."}) {
      const std::string rest = std::string(figure) + model;
      INFO(rest);
      CHECK(outcome(results, 71, "qk." + rest) == "yes");
      CHECK(outcome(results, 72, "z." + rest) == "no");
      CHECK(outcome(results, 73, "warm-up." + rest) == "yes");
    }
  const Figures figures = study_named("size").figures(results);
  CHECK(figures.at("qk.near.pre-d128-L6").size() == 5);
  for (const double more : figures.at("qk.near.pre-d128-L6"))  // 5, all there is, instead of 4.52
    CHECK(more == doctest::Approx(5 - (4 + 0.25 / std::log10(3))));
  CHECK(figures.at("warm-up.near.pre-d32-L24").size() == 6);
  for (const double more : figures.at("warm-up.near.pre-d32-L24")) CHECK(std::abs(more - 2.03) < 0.01);
  CHECK(!figures.contains("qk.near.pre-d256-L6"));
}

TEST_CASE("size: the gap of the best losses is at rates that other seeds chose") {
  const StudyResults results = finished([](const Arm& arm, double lr, std::uint64_t seed) {
    const double behind = is_post(arm) ? 0.02 * doublings(arm.size.layers, 6) : 0;
    return valley(lr, seed, 0.08, is_post(arm) ? 3e-4 : 3e-3) + behind;
  });
  CHECK(outcome(results, 74, "depth.best") == "yes");
  CHECK(outcome(results, 74, "width.best") == "no");
  const Figures figures = study_named("size").figures(results);
  for (const double slope : figures.at("depth.best")) CHECK(slope == doctest::Approx(0.02));
  const sizes::Grid grid = sizes::grid_of(options_of(Budget::full));
  CHECK(sizes::chosen_of(results, grid, {"Post-LN", {256, 6}}).rate == 3e-4);
  CHECK(sizes::chosen_of(results, grid, {"Pre-LN", {32, 24}}).rate == 3e-3);
  // The searching seeds are lucky with another rate: the judging seeds are judged there all the same.
  const StudyResults lucky = finished([&](const Arm& arm, double lr, std::uint64_t seed) {
    const bool luck = is_post(arm) && lr == 1e-2 && seed < grid.judging_from;
    return valley(lr, seed) - (luck ? 0.09 : 0);
  });
  CHECK(sizes::chosen_of(lucky, grid, {"Post-LN", {32, 6}}).rate == 1e-2);
  const std::vector<double> losses = sizes::chosen_of(lucky, grid, {"Post-LN", {32, 6}}).losses;
  CHECK(losses.front() == doctest::Approx(valley(1e-2, grid.judging_from)));
}

TEST_CASE("size: a best rate outside the grid is found and judged; at the ladder's end it decides nothing") {
  const auto best_at = [](double rate) {
    return finished([=](const Arm& arm, double lr, std::uint64_t seed) {
      return valley(lr, seed, 0.08, is_post(arm) && arm.size.width == 64 ? rate : 1e-3);
    });
  };
  const std::string at_edge = "not decided: the search ends at its edge: Post-LN, width 64, 6 layers";
  const sizes::Grid grid = sizes::grid_of(options_of(Budget::full));
  const StudyResults low = best_at(3e-5);
  CHECK(sizes::chosen_of(low, grid, {"Post-LN", {64, 6}}).rate == 3e-5);
  CHECK(study_named("size").figures(low).at("width.best").size() == 6);
  CHECK(outcome(low, 74, "width.best") == "no");
  CHECK(outcome(low, 70, "width.near") == at_edge);  // of the rates of all sizes
  CHECK(outcome(low, 70, "depth.near") == "no");
  CHECK(outcome(best_at(1e-6), 74, "width.best") == at_edge);
}

TEST_CASE("size: an arm that trains nowhere is compared in no figure, and little headroom decides nothing") {
  const double stuck = (best::learned_loss() + best::task().context_free_loss()) / 2;
  const StudyResults results = finished([=](const Arm& arm, double lr, std::uint64_t seed) {
    return is_post(arm) && arm.size.layers == 24 ? stuck + 0.01 * decades(lr, 1e-3) : valley(lr, seed);
  });
  const std::string nowhere = "not measured: Post-LN, width 32, 24 layers trains nowhere";
  for (const char* id : {"depth.sensitivity", "depth.near"}) CHECK(outcome(results, 70, id) == nowhere);
  CHECK(outcome(results, 74, "depth.best") == nowhere);
  CHECK(outcome(results, 71, "qk.near.post-d32-L24") ==
        "not measured: Post-LN, width 32, 24 layers, warm-up, QK-norm trains nowhere");
  CHECK(outcome(results, 71, "qk.near.pre-d32-L24") == "no");
  CHECK(outcome(results, 74, "width.best") == "no");
  const StudyResults low =
      finished([](const Arm&, double lr, std::uint64_t seed) { return valley(lr, seed) - 0.08; });
  CHECK(outcome(low, 74, "width.best") == "not decided: saturated");
}

TEST_CASE("size: the full form takes about eight core-hours") {
  const Following all = planned(study_named("size"), options_of(Budget::full), {});
  double seconds = all.seconds_later;
  for (const StudyRun& run : all.runs) seconds += run.seconds;
  CHECK(seconds > 7 * 3600);
  CHECK(seconds < 9 * 3600);
}

TEST_CASE("size: variants begin with the same weights and are trained in different ways") {
  const Study& study = study_named("size");
  const StudyOptions options = options_of(Budget::quick);
  const std::vector<StudyRun> plan = study.plan(options);
  const sizes::Grid grid = sizes::grid_of(options);
  const auto run = [&](const std::string& placement, const std::string& variant) {
    const std::string name = sizes::run_name({placement, {8, 2}, variant}, 1e-2, grid.judging_from);
    for (const StudyRun& one : plan)
      if (one.name == name) return one.measure().numbers;
    FAIL("no run ", name);
    return std::map<std::string, double>{};
  };
  for (const char* placement : {"Pre-LN", "Post-LN"}) {
    const auto warm = run(placement, "warm"), cold = run(placement, "cold"), z = run(placement, "z"),
               qk = run(placement, "qk");
    CHECK(warm.at("loss") < warm.at("start"));
    for (const auto& other : {cold, z}) {
      CHECK(other.at("start") == warm.at("start"));
      CHECK(other.at("loss") != warm.at("loss"));
    }
    CHECK(qk.at("start") != warm.at("start"));  // its scores differ from the first step on
    CHECK(std::isfinite(qk.at("loss")));
  }
}

TEST_CASE("z-loss adds the mean square of log Z to the loss of training, not to that of validation") {
  TrialOptions options{.layers = 1, .block = {.d_model = 16, .heads = 2}, .steps = 2, .batch = 2};
  gradus::nn::GPT model = new_model(tiny_task(), options);
  const Batch batch = first_batch(tiny_task(), options);
  const double plain = model.loss(batch.inputs, batch.targets).item();
  const double square = model(batch.inputs).exp().sum(-1).log().pow(2).mean().item();
  CHECK(square > 1);
  CHECK(z_loss(0.5)(model, batch).item() == doctest::Approx(plain + 0.5 * square).epsilon(1e-5));
  const double start = validation_loss(model, tiny_task());
  options.objective = z_loss(0.5);
  const TrialResult result = train(tiny_task(), model, options);
  CHECK(result.start_loss == start);
  CHECK(result.losses.front() == doctest::Approx(plain + 0.5 * square).epsilon(1e-5));
}

}  // namespace size_test
