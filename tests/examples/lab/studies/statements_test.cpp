// The study `statements`: its parts, and its figures without training, from a formula for every run.
#include "lab/studies/statements/statements.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "fabricated.h"
#include "gradus/gradus.h"
#include "lab/studies/studies.h"
#include "lab/training/trial.h"
#include "near.h"

using namespace gradus;
using namespace gradus::lab;
using gradus::test::near;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace statements_test {

namespace {

using statements::Arm;
using statements::Early;

/// The numbers of a run: its final loss, and its first tenth.
struct End {
  double loss = 0, spike = 0.1, early = 3;
};
using EndOf = std::function<End(const Arm&, Early, double rate, std::uint64_t seed)>;

/// Runs everything that is planned, and all runs that follow.
StudyResults finished(Budget budget, const EndOf& end_of) {
  const Study& study = study_named("statements");
  const StudyOptions options{.budget = budget, .seed = budget == Budget::full ? kFullSeed : 0};
  const statements::Grid grid = statements::grid_of(options);
  std::map<std::string, End> all;  // every possible run
  for (const Arm& arm : grid.arms())
    for (const Early early : statements::kEarly) {
      std::vector<std::uint64_t> seeds = grid.seeds_of(arm, early);
      if (early == Early::warm_up) seeds.insert(seeds.end(), grid.searching.begin(), grid.searching.end());
      for (const double rate : grid.ladder)
        for (const std::uint64_t seed : seeds)
          all[statements::run_name(arm, early, rate, seed)] = end_of(arm, early, rate, seed);
    }
  StudyResults results{options, {}, 0};
  for (std::size_t before = 1; before != results.records.size();) {
    before = results.records.size();
    const std::vector<StudyRun> runs = planned(study, options, results.records).runs;
    for (const StudyRun& run : runs) {
      const End& end = all.at(run.name);
      results.records[run.name] = {.measured = {.numbers = {{"loss", end.loss},
                                                            {"start", 4.5},
                                                            {"diverged", 0},
                                                            {"early", end.early},
                                                            {"spike", end.spike}},
                                                .series = {{"losses", {4.5, end.loss}}}},
                                   .seconds = 1};
    }
    results.planned = runs.size();
  }
  return results;
}

/// Above the entropy by a valley over rates, and a little for the seed, which differs by depth.
double valley(const Arm& arm, double rate, std::uint64_t seed) {
  const auto noise = static_cast<double>(seed % 3 + seed * static_cast<std::uint64_t>(arm.layers) / 4 % 4);
  return statements::task(arm.chain).entropy().value() + 0.1 + 0.1 * std::abs(std::log10(rate / 3e-3)) +
         0.0001 * noise;
}

/// All arms equal, and nothing early has an effect; the spike does not depend on the seed's loss.
End plain(const Arm& arm, Early, double rate, std::uint64_t seed) {
  return {.loss = valley(arm, rate, seed),
          .spike = 0.1 + 0.01 * static_cast<double>(seed / 3 % 5),
          .early = 3 + 0.01 * static_cast<double>(seed / 3 % 5)};
}

std::string outcome(const StudyResults& results, int number, const std::string& id) {
  return test::outcome(study_named("statements").figures(results), number, id);
}

bool judges(std::uint64_t seed) { return seed >= kFullSeed + 520; }

}  // namespace

TEST_CASE("statements: a finished study has every measure of the ledger, and any part of it has a page") {
  const Study& study = study_named("statements");
  for (const Budget budget : {Budget::quick, Budget::standard, Budget::full}) {
    const StudyResults results = finished(budget, plain);
    CHECK(results.complete());
    const Figures figures = study.figures(results);
    if (budget == Budget::full)
      for (const Claim& claim : claims())
        for (const Measure& measure : claim.measures) {
          if (claim.study != "statements") continue;
          INFO(claim.number, " ", measure.id);
          REQUIRE(figures.contains(measure.id));
          CHECK(figures.at(measure.id).size() >= kLeastSeeds);
          CHECK(measure.prediction.has_value());
          CHECK(!claim.prediction.empty());
        }
    gradus::test::check_pages(study, results);
  }
}

TEST_CASE("statements: searching seeds do not judge, and runs follow from their own arm") {
  const statements::Grid grid = statements::grid_of({.budget = Budget::full, .seed = kFullSeed});
  const StudyResults results = finished(Budget::full, plain);
  const statements::Arms arms(results, grid);
  for (const statements::Found& found : arms.all()) {
    CHECK(found.rate() == 3e-3);
    CHECK_FALSE(found.searched().at_edge);
    for (const std::uint64_t seed : grid.seeds_of(found.arm(), Early::warm_up)) CHECK(judges(seed));
  }
  CHECK(arms.of("pre", 6).losses(Early::small).size() == 16);
  CHECK(arms.of("pre", 6).losses(Early::large).size() == 160);
  CHECK(arms.of("post", 12).losses(Early::level).size() == 160);
  CHECK(arms.of("post", 12).losses(Early::large).empty());
  CHECK(arms.of("hidden", 6).losses(Early::level).empty());
  CHECK(arms.of("pre", 6, 0).losses(Early::level).empty());
  CHECK_THROWS(arms.of("hidden", 6, 0));
  for (const StudyRun& run : planned(study_named("statements"), results.options, results.records).runs)
    CHECK(run.name.starts_with(run.group + "-"));
}

TEST_CASE("statements: a search that ends at its edge decides nothing") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, Early early, double rate, std::uint64_t seed) {
        End end = plain(arm, early, rate, seed);
        if (arm.block == "hidden" && arm.layers == 6) end.loss += 1.3 - 0.3 * std::log10(rate / 1e-5);
        return end;
      });
  CHECK(outcome(results, 91, "place.L6").find("the search ends at its edge") != std::string::npos);
  CHECK(outcome(results, 91, "place.L12") == "no");
}

TEST_CASE("statements: a norm before the activation that helps, and one that is worse than Pre-LN's place") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, Early early, double rate, std::uint64_t seed) {
        End end = plain(arm, early, rate, seed);
        if (arm.block == "hidden") end.loss += arm.layers == 6 ? -0.03 : 0.03;
        if (arm.block == "bare") end.loss += 0.06;
        if (arm.block == "bare" && arm.layers == 12 && judges(seed) && seed % 10 < 6)
          end.loss = statements::task(arm.chain).context_free_loss();
        return end;
      });
  CHECK(outcome(results, 91, "helps.L6") == "yes");
  CHECK(outcome(results, 91, "place.L6") == "yes");
  CHECK(outcome(results, 91, "place.L12") == "no");
  CHECK(outcome(results, 91, "helps.L12") == "not decided: failed runs on 6 of 10 seeds");
}

TEST_CASE("statements: a gap that grows with difficulty, on whichever side it is") {
  for (const char* worse : {"pre", "post"}) {
    const StudyResults results =
        finished(Budget::full, [&](const Arm& arm, Early early, double rate, std::uint64_t seed) {
          End end = plain(arm, early, rate, seed);
          if (arm.block == worse && arm.layers == 6) end.loss += 0.04 * static_cast<double>(arm.chain);
          if (arm.block == worse && arm.layers == 12) end.loss += 0.04 * static_cast<double>(2 - arm.chain);
          return end;
        });
    for (const char* level : {"c1", "c2"}) {
      CHECK(outcome(results, 92, std::string("harder.L6.") + level) == "yes");
      CHECK(outcome(results, 92, std::string("harder.L12.") + level) == "no");
      CHECK(outcome(results, 92, std::string("harder-left.L6.") + level) == "yes");
      CHECK(outcome(results, 92, std::string("harder-left.L12.") + level) == "no");
    }
  }
  // The side is that of the searching seeds: noise on the judging ones is not a gap.
  const StudyResults noisy =
      finished(Budget::full, [](const Arm& arm, Early early, double rate, std::uint64_t seed) {
        End end = plain(arm, early, rate, seed);
        if (arm.block == "post" && arm.chain == 2) end.loss += judges(seed) ? -0.04 : 0.001;
        return end;
      });
  CHECK(outcome(noisy, 92, "harder.L6.c2") == "no");
}

TEST_CASE("statements: an easy level that both placements nearly solve is saturated") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, Early early, double rate, std::uint64_t seed) {
        End end = plain(arm, early, rate, seed);
        if (arm.chain == 0) end.loss -= 0.095;
        return end;
      });
  CHECK(outcome(results, 92, "harder.L6.c1") == "not decided: saturated");
  CHECK(outcome(results, 92, "harder.L6.c2") == "no");
}

TEST_CASE("statements: early rises that foretell the end, among surviving runs") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, Early early, double rate, std::uint64_t seed) {
        End end = plain(arm, early, rate, seed);
        // Of a seed in its group of 8, so that each group has the same order.
        const double place = static_cast<double>((seed - kFullSeed) % 8);
        end.spike = end.early = 0.1 + 0.01 * place;
        if (arm.block == "pre" && arm.layers == 6 && early == Early::level) end.loss -= 0.003 * place;
        if (early == Early::large) end.loss += 0.01 * place;
        if (arm.layers == 12) end.loss += 0.01 * place;
        // One of each group fails, whose large rise would otherwise count.
        if (early == Early::large && place == 7) end.loss = 9;
        if (arm.block == "post" && early == Early::level && arm.layers == 6 && place > 2) end.loss = 9;
        return end;
      });
  CHECK(outcome(results, 93, "spike.pre.large") == "yes");
  CHECK(outcome(results, 93, "early.post.large") == "yes");
  CHECK(outcome(results, 93, "spike.pre.level") == "no");
  CHECK(outcome(results, 93, "gain.pre") == "yes");
  // Three of eight are left: no correlation.
  CHECK(outcome(results, 93, "spike.post.level") ==
        "not measured: failed runs leave fewer than 5 in 20 of 20 groups");
  const Figures figures = study_named("statements").figures(results);
  CHECK(figures.at("spike.pre.large").size() == 20);
  CHECK(figures.at("gain.pre").size() == 20);
}

TEST_CASE("statements: groups of seeds") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x = {1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 9, 8},
                            y = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 0, 0};
  CHECK(statements::group_correlations(x, y, y, 5) == std::vector<double>{1, -1});  // the rest is no group
  std::vector<double> open = y;
  open[7] = nan;
  CHECK(statements::group_correlations(x, y, open, 5) == std::vector<double>{1});
  const std::vector<double> few = statements::group_correlations(x, open, y, 5);  // a failed run of five
  REQUIRE(few.size() == 2);
  CHECK(few[0] == 1);
  CHECK(std::isnan(few[1]));
}

TEST_CASE("statements: large early steps that end lower") {
  const StudyResults results =
      finished(Budget::full, [](const Arm& arm, Early early, double rate, std::uint64_t seed) {
        End end = plain(arm, early, rate, seed);
        if (arm.block == "pre" && early == Early::large) end.loss -= 0.03;
        if (arm.block == "post" && early == Early::small) end.loss += 0.03;
        return end;
      });
  for (const char* early : {"small", "warm-up", "level"})
    CHECK(outcome(results, 94, std::string("explores.pre.") + early) == "yes");
  CHECK(outcome(results, 94, "explores.post.small") == "yes");
  CHECK(outcome(results, 94, "explores.post.level") == "no");
  CHECK(outcome(results, 94, "explores.post.warm-up") == "no");
}

TEST_CASE("statements: early rates differ in the first quarter alone") {
  const auto rate = [](Early early, std::int64_t step) {
    return statements::schedule_of(early, 0.01, 400)(step);
  };
  CHECK(rate(Early::warm_up, 50) == near(0.005));
  for (const std::int64_t step : {1, 50, 100}) {
    CHECK(rate(Early::small, step) == near(0.001));
    CHECK(rate(Early::level, step) == near(0.01));
    CHECK(rate(Early::large, step) == near(0.03));
  }
  for (const Early early : statements::kEarly) {
    CHECK(rate(early, 101) == rate(Early::warm_up, 101));
    CHECK(rate(early, 250) == near(0.005));  // the middle of half a cosine
    CHECK(rate(early, 400) == doctest::Approx(0));
  }
}

TEST_CASE("statements: the largest rise of a loss is above its lowest earlier mean") {
  CHECK(statements::largest_rise(std::vector<double>{5, 4, 3, 2, 1}, 1) == 0);
  CHECK(statements::largest_rise(std::vector<double>{5, 2, 3, 2.5, 1, 1.5}, 1) == near(1));
  CHECK(statements::largest_rise(std::vector<double>{4, 2, 2, 6, 2, 2}, 2) == near(2));
  CHECK(std::isnan(statements::largest_rise(std::vector<double>{1, 2}, 3)));
}

TEST_CASE("statements: the norm before the activation is where its equation says, with Pre-LN's matrices") {
  const Arm pre{"pre", 1, 0}, hidden{"hidden", 1, 0};
  const auto model_of = [](const Arm& arm) {
    return new_model(statements::task(arm.chain),
                     {.placement = statements::placement_of(arm.block), .layers = arm.layers, .seed = 1000});
  };
  const nn::GPT with_pre = model_of(pre), with_hidden = model_of(hidden);
  const nn::AnyBlock block = with_hidden.transformer.layers[0];
  CHECK(with_hidden.transformer.norm.has_value());
  for (const char* name :
       {"self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight", "linear2.weight"})
    CHECK((block.parameter(name) - with_pre.transformer.layers[0].parameter(name)).norm().item() == 0);
  CHECK(block.parameter("norm2.weight").size(0) == block.parameter("linear1.weight").size(0));

  const NoGrad guard;
  Generator generator(1000, 0);
  const Tensor x = randn({1, 5, 32}, generator);
  const auto& reference = *with_pre.transformer.layers[0].as<nn::PreLNBlock>();  // for its attention
  const Tensor h = x + reference.self_attn(reference.norm1(x));
  const nn::LayerNorm plain_norm(128, {.affine = false});
  const Tensor inside = gelu(plain_norm(linear(h, block.parameter("linear1.weight"))), GeluForm::tanh);
  const Tensor y = h + linear(inside, block.parameter("linear2.weight"));
  CHECK((block(x) - y).norm().item() < 1e-4);
  CHECK((block(x) - reference(x)).norm().item() > 0.1);
  const nn::GPT bare = model_of({"bare", 1, 0});
  const Tensor z = h + linear(gelu(linear(h, block.parameter("linear1.weight")), GeluForm::tanh),
                              block.parameter("linear2.weight"));
  CHECK((bare.transformer.layers[0](x) - z).norm().item() < 1e-4);
  CHECK_THROWS(statements::placement_of("middle"));
}

}  // namespace statements_test
