// The study `papers`: its figures from a formula for the result of every run, and its new modules.
#include "lab/studies/papers/papers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fabricated.h"
#include "gradus/gradus.h"
#include "lab/studies/best/best.h"
#include "lab/studies/papers/keys.h"
#include "lab/studies/papers/without_norm.h"
#include "lab/studies/studies.h"
#include "lab/training/trial.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace papers_test {

namespace {

using Loss = std::function<double(const papers::Arm&, const papers::Design&)>;

papers::Arm arm_in(const papers::Grid& grid, const std::string& run) {
  for (const papers::Arm& arm : grid.arms)
    if (run.starts_with(arm.name + "-w")) return arm;
  FAIL("no arm for ", run);
  return {};
}

/// The settings in a run's name: "admin-L18-w750-lr0.001-s3220".
papers::Design design_in(const std::string& run) {
  const std::size_t warmup = run.rfind("-w") + 2, rate = run.rfind("-lr") + 3;  // "tfixup-warm-L18-w750-..."
  return {std::stoll(run.substr(warmup)), std::stod(run.substr(rate))};
}

/// Runs everything that is planned, and all runs that follow.
StudyResults finished(Budget budget, const Loss& loss) {
  const Study& study = study_named("papers");
  const StudyOptions options{.budget = budget, .seed = budget == Budget::full ? kFullSeed : 0};
  const papers::Grid grid = papers::grid_of(options);
  StudyResults results{options, {}, 0};
  for (std::size_t before = 1; before != results.records.size();) {
    before = results.records.size();
    const std::vector<StudyRun> runs = planned(study, options, results.records).runs;
    for (const StudyRun& run : runs) {
      if (results.has(run.name)) continue;
      Measured measured;
      if (run.name.starts_with("keys-")) {
        const double share =
            run.name.starts_with("keys-layer") ? 0 : 0.1 + 0.001 * static_cast<double>(run.name.back() - '0');
        measured.numbers = {{"start", share}, {"unselectable", share}, {"loss", 1.2}};
      } else {
        const papers::Arm arm = arm_in(grid, run.name);
        const double noise = 0.001 * static_cast<double>(run.name.back() % 3);
        measured.numbers = {{"loss", loss(arm, design_in(run.name)) + noise}, {"start", 4}, {"diverged", 0}};
        measured.series = {{"losses", {4, 2}}};
        if (arm.looked_into) {
          const bool pre = arm.name.starts_with("pre"), mix = arm.name.starts_with("mix");
          for (const auto& [name, value] : {std::pair("growth", pre ? 4.0 : 3.0),
                                            {"bend", 0.4},
                                            {"slope", 1.0},
                                            {"drop-share", mix ? 0.3 : 0.1}})
            measured.numbers[name] = value + noise;
          for (const char* name : {"sizes", "sizes-start", "drop"}) measured.series[name] = {1, 2, 3};
        }
      }
      results.records[run.name] = {.measured = std::move(measured), .seconds = 1};
    }
    results.planned = runs.size();
  }
  return results;
}

/// Above the entropy by a valley over rates.
double valley(double lr, double best = 1e-3) {
  return best::task().entropy().value() + 0.1 + 0.05 * std::abs(std::log10(lr / best));
}

const Loss kAllWell = [](const papers::Arm&, const papers::Design& design) { return valley(design.lr); };

/// Deep Post-LN and a stack without norms fail, as in the papers.
const Loss kAsInPrint = [](const papers::Arm& arm, const papers::Design& design) {
  const bool fails = (arm.name.starts_with("post") && arm.layers > 6) || arm.name.starts_with("none");
  if (!fails) return valley(design.lr);
  // The best rate is inside the grid.
  return best::task().context_free_loss() + 0.1 * std::abs(std::log10(design.lr / 1e-3));
};

std::string outcome(const StudyResults& results, int number, const std::string& id) {
  return test::outcome(study_named("papers").figures(results), number, id);
}

}  // namespace

TEST_CASE("papers: a finished study has every measure of the ledger, and any part of it has a page") {
  const Study& study = study_named("papers");
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const StudyResults results = finished(budget, kAllWell);
    CHECK(results.complete());
    const Figures figures = study.figures(results);
    for (const Claim& claim : claims())
      for (const Measure& measure : claim.measures) {
        if (claim.study != "papers" || (budget == Budget::quick && !measure.quick)) continue;
        INFO(claim.number, " ", measure.id);
        REQUIRE(figures.contains(measure.id));
        CHECK(figures.at(measure.id).size() >= kLeastSeeds);
        CHECK(measure.prediction.has_value());
        CHECK(!claim.prediction.empty());
      }
    test::check_pages(study, results);
  }
}

TEST_CASE("papers: findings agree where the papers' do") {
  const StudyResults results = finished(Budget::full, kAsInPrint);
  for (const int number : {75, 76, 77, 83}) {
    INFO(number);
    CHECK(judge(claim_numbered(number), study_named("papers").figures(results)).head() == "holds");
  }
  CHECK(outcome(results, 81, "fixup-below-none.L18") == "yes");
  CHECK(outcome(results, 79, "growth.pre-minus-peri.L18") == "yes");
  CHECK(outcome(results, 79, "bend.pre.L18") == "no");
  CHECK(outcome(results, 80, "share.mix-minus-pre.L18") == "yes");
}

TEST_CASE("papers: an arm that trains everywhere does not fail") {
  const StudyResults results = finished(Budget::full, kAllWell);
  CHECK(outcome(results, 75, "trains.post.L18") == "no");
  CHECK(outcome(results, 81, "fixup-below-none.L18") == "no");
}

TEST_CASE("papers: a failure needs a working control, and a search that ends inside") {
  const double failed = best::task().context_free_loss();
  const StudyResults none = finished(Budget::full, [&](const papers::Arm&, const papers::Design& design) {
    return failed + 0.1 * std::abs(std::log10(design.lr / 1e-3));
  });
  CHECK(outcome(none, 75, "trains.post.L18") ==
        "not measured: no working control: Pre-LN, 18 layers, 0 of 12 seeds");
  CHECK(outcome(none, 76, "trains.deepnorm.L100") ==
        "not measured: no working control: Post-LN, 100 layers, 0 of 12 seeds");
  CHECK(outcome(none, 84, "scalenorm-minus-layernorm.L6") ==
        "not measured: Pre-LN with ScaleNorm, 6 layers trains nowhere");
  const StudyResults edge = finished(Budget::full, [&](const papers::Arm& arm, const papers::Design& design) {
    return arm.name.starts_with("post") ? failed + 0.1 * std::log10(design.lr / 1e-6) : valley(design.lr);
  });
  CHECK(outcome(edge, 75, "trains.post.L18") ==
        "not decided: the search ends at its edge: Post-LN, 18 layers");
}

TEST_CASE("papers: T-Fixup is searched without and with warm-up apart") {
  const StudyResults results = finished(Budget::full, [](const papers::Arm&, const papers::Design& design) {
    return valley(design.lr) + (design.warmup == 0 ? 0.05 : 0);
  });
  CHECK(outcome(results, 82, "tfixup-gain.L18") == "no");  // that it needs none
  const papers::Grid grid = papers::grid_of(results.options);
  CHECK(papers::results_of(results, grid, "tfixup-cold-L18")->chosen()->warmup == 0);
  CHECK(papers::results_of(results, grid, "admin-L18")->chosen()->warmup == 750);
  CHECK_FALSE(papers::results_of(results, grid, "admin-L19").has_value());
}

TEST_CASE("papers: a point is in the hull of others if it is a mean of them") {
  const std::vector<papers::Point> square = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  CHECK(papers::in_hull({0, 0}, square));
  CHECK(papers::in_hull({0.9, -0.3}, square));
  CHECK(papers::in_hull({1, 0}, square));  // on an edge
  CHECK_FALSE(papers::in_hull({1.01, 0}, square));
  CHECK_FALSE(papers::in_hull({5, -7}, square));
  std::vector<papers::Point> keys = square;
  keys.push_back({0.2, 0.1});
  CHECK(papers::unselectable_share(keys) == doctest::Approx(0.2));
  for (papers::Point& key : keys)
    for (double& value : key) value = 1000 * value + 7;
  CHECK(papers::unselectable_share(keys) == doctest::Approx(0.2));
}

TEST_CASE("papers: points on a sphere are in no hull, points of a cloud are") {
  Generator generator(5, 0);
  std::vector<papers::Point> cloud, sphere;
  for (int i = 0; i < 64; ++i) {
    papers::Point point;
    double squares = 0;
    for (int c = 0; c < 7; ++c) point.push_back(generator.normal()), squares += point.back() * point.back();
    cloud.push_back(point);
    for (double& value : point) value /= std::sqrt(squares);
    sphere.push_back(point);
  }
  CHECK(papers::unselectable_share(sphere) == 0);
  const double share = papers::unselectable_share(cloud);
  CHECK(share > 0.02);
  CHECK(share < 0.35);
}

TEST_CASE("papers: ScaleNorm returns tokens of length g, and the centred norm only subtracts the mean") {
  const Tensor x = tensor({{3.0, 4.0, 0.0, 0.0}, {1.0, 1.0, 1.0, 5.0}});
  const Tensor y = papers::ScaleNorm(nn::NormOptions{.d_model = 4})(x);
  for (std::int64_t token = 0; token < 2; ++token)
    CHECK(y.select(0, token).norm().item() == doctest::Approx(2).epsilon(1e-5));
  CHECK(y.select(0, 0).select(0, 1).item() == doctest::Approx(1.6).epsilon(1e-5));
  const Tensor z = papers::CentredNorm(nn::NormOptions{.d_model = 4})(x);
  CHECK(z.select(0, 1).select(0, 3).item() == doctest::Approx(3));
  CHECK(z.select(0, 0).mean().item() == doctest::Approx(0));
}

TEST_CASE("papers: Fixup's blocks change nothing at the start, and train") {
  const TrialOptions options{.placement = papers::fixup(), .layers = 4, .lr = 3e-3, .steps = 60, .batch = 4};
  nn::GPT model = new_model(best::task(), options, [](const nn::GPT& gpt, std::uint64_t seed) {
    Generator generator(seed, 0);
    papers::set_fixup_weights(gpt, 4, generator);
  });
  const Tensor ids = best::task().validation().inputs.slice(0, 0, 2);
  const std::vector<double> sizes = papers::sizes_by_block(model, ids);
  REQUIRE(sizes.size() == 4);
  for (const double size : sizes) CHECK(size == sizes.front());
  CHECK_FALSE(model.transformer.norm.has_value());
  const double first = model.parameter("layers.0.linear1.weight").std().item();
  CHECK(first == doctest::Approx(std::sqrt(2.0 / 160) / std::sqrt(8.0)).epsilon(0.1));
  const TrialResult result = train(best::task(), model, options);
  CHECK(result.final_loss < result.start_loss - 0.3);
  CHECK(papers::sizes_by_block(model, ids).back() != sizes.front());
}

TEST_CASE("papers: what is measured inside a trained model") {
  const papers::Grid grid = papers::grid_of({.budget = Budget::full, .seed = kFullSeed});
  papers::Arm arm = *std::find_if(grid.arms.begin(), grid.arms.end(),
                                  [](const papers::Arm& one) { return one.name == "mix-L18"; });
  arm.layers = 4;  // the first of which is Post-LN
  const Measured measured = papers::measure(arm, {5, 1e-3}, 10, 3, true);
  CHECK(measured.series.at("sizes").size() == 4);
  CHECK(measured.series.at("sizes-start").front() == doctest::Approx(1).epsilon(0.01));
  CHECK(measured.series.at("drop").size() == 4);
  for (const char* name : {"growth", "bend", "slope"}) CHECK(std::isfinite(measured.numbers.at(name)));
  const double growth = std::log(measured.series.at("sizes").back() / measured.series.at("sizes").front());
  CHECK(measured.numbers.at("growth") == doctest::Approx(growth));
  CHECK_FALSE(papers::measure(arm, {5, 1e-3}, 2, 3, false).numbers.contains("growth"));
}

TEST_CASE("papers: keys of a small model are all selectable behind LayerNorm") {
  const Measured with = papers::measure_keys(papers::key_kinds()[0], 5, 1),
                 without = papers::measure_keys(papers::key_kinds()[1], 5, 1);
  CHECK(with.numbers.at("start") == 0);
  CHECK(with.numbers.at("unselectable") == 0);
  CHECK(without.numbers.at("start") > 0);
}

}  // namespace papers_test
