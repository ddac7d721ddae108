// The searched comparisons of the study `placements`: fabricated results, and two short trainings.

#include "lab/studies/placements/searched.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "fabricated.h"
#include "gradus/nn/placements/placements.h"
#include "lab/studies/best/best.h"
#include "lab/studies/studies.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace placements_searched_test {

namespace {

const StudyOptions kFull = {.budget = Budget::full, .seed = kFullSeed};

bool has(const std::string& run, const std::string& part) { return run.find(part) != std::string::npos; }

/// Loss and steps of a run, by its name; other runs of the study end at 1.
using Outcome = std::function<std::pair<double, double>(const std::string& run)>;

StudyResults finished(const Outcome& outcome) {
  return test::fabricated(study_named("placements"), kFull, [&](const std::string& run) {
    const bool searched = run.starts_with("best-") || run.starts_with("looking-");
    const auto [loss, steps] = searched ? outcome(run) : std::pair(1.0, 100.0);
    return Measured{.numbers = {{"loss", loss}, {"start", 4}, {"diverged", 0}, {"steps", steps}},
                    .series = {{"losses", {4, loss}}}};
  });
}

/// A little more away from the rate 0.001, and a little for the seed.
double valley(const std::string& run) {
  return (has(run, "-lr0.001-") ? 0 : 0.1) + 0.001 * static_cast<double>((run.back() - '0') % 3);
}

/// Of the runs with 24 layers: above the language's entropy, so that all train.
double well(const std::string& run) { return best::task().entropy().value() + 0.2 + valley(run); }

StudyResults finished_best(const std::function<double(const std::string& run)>& loss) {
  return finished(
      [&](const std::string& run) { return std::pair(run.starts_with("best-") ? loss(run) : 0.8, 1000.0); });
}

std::string outcome(const StudyResults& results, int number, const std::string& id) {
  return test::outcome(study_named("placements").figures(results), number, id);
}

bool judges(const std::string& run) { return has(run, "-s321"); }

/// Runs of ReZero, the control, learn in half of the steps; those of Pre-LN as given.
std::string looks_back(double loss, double steps, bool control_learns = true) {
  return outcome(finished([=](const std::string& run) {
                   if (run.starts_with("best-")) return std::pair(well(run), 1000.0);
                   if (!has(run, "-rezero-")) return std::pair(loss + valley(run), steps);
                   return control_learns ? std::pair(0.8, 1500.0) : std::pair(2.0, std::nan(""));
                 }),
                 22, "looks-back.L96");
}

}  // namespace

TEST_CASE(
    "placements: the plan has the runs that are recorded, and its searches begin with seeds of their own") {
  const std::vector<StudyRun> plan = study_named("placements").plan(kFull);
  std::size_t recorded = 0;
  for (const StudyRun& run : plan) {
    const bool searched = run.name.starts_with("best-") || run.name.starts_with("looking-");
    if (!searched) ++recorded;
    CHECK(searched == has(run.name, "-s3110"));
    CHECK(searched == !run.group.empty());
  }
  CHECK(recorded == 1156);  // as in docs/data/studies/placements
  const placements::Comparison best = placements::at_best(kFull), looking = placements::looking_back(kFull);
  CHECK(best.judging == looking.judging);
  CHECK(best.judging.front() == 3210);
  CHECK(best.arms.size() == 13);
  CHECK(best.arms[2].schemes == std::vector<std::string>{placements::kOwnWeights});  // DeepNorm
  CHECK(looking.arms.front().placement == nn::pre_ln());
  CHECK(looking.arms.back().placement == nn::rezero());
}

TEST_CASE("placements: a finished study has all measures of claims 22 and 86") {
  const StudyResults results = finished_best(well);
  CHECK(results.complete());
  const Figures figures = study_named("placements").figures(results);
  for (const int number : {22, 86})
    for (const Measure& measure : claim_numbered(number).measures) {
      INFO(measure.id);
      REQUIRE(figures.contains(measure.id));
      CHECK(figures.at(measure.id).size() >= kLeastSeeds);
    }
  CHECK(figures.at("best.keel.L24") == std::vector<double>(10, 0.0));
  CHECK(outcome(results, 86, "best.b2t.L24") == "yes");
  const std::string page = test::page_of(study_named("placements"), results);
  CHECK(has(page, "24 layers, each placement at its best"));
  CHECK(has(page, "96 layers until they look back"));
  CHECK(!has(page, "nan"));
}

TEST_CASE("placements: the searching seeds choose weights, rate and the better of two, and others judge") {
  const StudyResults results = finished_best([](const std::string& run) {
    const bool lucky = has(run, "-b2t-") && has(run, "-tfixup-");
    const double luck = lucky ? (judges(run) ? 0.1 : -0.1) : 0;
    return well(run) + luck + (has(run, "-post-") ? (judges(run) ? -0.1 : 0.1) : 0);
  });
  const placements::Comparison comparison = placements::at_best(kFull);
  const std::vector<placements::ArmResults> arms = placements::results_of(results, comparison);
  CHECK(arms[3].title() == "B2T, 24 layers");
  CHECK(arms[3].chosen()->scheme == "tfixup");
  CHECK(arms[3].chosen()->lr == 1e-3);
  CHECK(placements::better_of_two(arms) == &arms[0]);  // Post-LN is better only where it is judged
  const Figures figures = study_named("placements").figures(results);
  for (const double above : figures.at("best.b2t.L24")) CHECK(above == doctest::Approx(0.1));
  CHECK(outcome(results, 86, "best.b2t.L24") == "no");
  CHECK(outcome(results, 86, "best.mix.L24") == "yes");
}

TEST_CASE("placements: the referee's rules in the comparison of 24 layers") {
  const double failed = best::task().context_free_loss(), stuck = (best::task().ngram().loss + failed) / 2;
  const auto keel = [&](const std::function<double(const std::string& run)>& loss) {
    return outcome(
        finished_best([&](const std::string& run) { return has(run, "-keel-") ? loss(run) : well(run); }), 86,
        "best.keel.L24");
  };
  CHECK(keel([&](const std::string&) { return stuck; }) == "not measured: Keel, 24 layers trains nowhere");
  CHECK(keel([&](const std::string& run) { return judges(run) && run.back() < '6' ? failed : well(run); }) ==
        "not decided: failed runs on 6 of 10 seeds");
  CHECK(keel([&](const std::string& run) {  // the lower the rate, the better
          return best::task().entropy().value() + 0.3 +
                 0.05 * std::log10(std::stod(run.substr(run.find("-lr") + 3)));
        }) == "not decided: the search ends at its edge: Keel, 24 layers");
  CHECK(outcome(finished_best([](const std::string& run) { return well(run) - 0.1; }), 86, "best.keel.L24") ==
        "not decided: saturated");
}

TEST_CASE("placements: that Pre-LN does not look back needs a control that does") {
  const double learned = placements::looking_back(kFull).learned_loss();
  CHECK(looks_back(learned - 0.2, 1000) == "yes");
  CHECK(looks_back(learned + 0.1, std::nan("")) == "no");
  CHECK(looks_back(learned + 0.1, std::nan(""), false) ==
        "not measured: no working control: ReZero, 96 layers, 0 of 10 seeds");
}

TEST_CASE("placements: a run that looks back ends at its target, another never reaches it") {
  TrialOptions trial = tiny_trial(400);
  trial.placement = nn::rezero();
  trial.layers = 2;
  trial.lr = 1e-2;
  const double target = tiny_baseline() - 0.02;
  const Measured reached = placements::train_arm(trial, "fan_in", tiny_task(), target, true);
  const double steps = reached.numbers.at("steps");
  CHECK(steps <= 400);
  CHECK(std::fmod(steps, 50) == 0);
  CHECK(reached.numbers.at("loss") <= target);
  trial.placement = nn::deep_norm();
  trial.steps = 60;
  const Measured never = placements::train_arm(trial, placements::kOwnWeights, tiny_task(), 0, true);
  CHECK(std::isnan(never.numbers.at("steps")));
  CHECK(never.numbers.at("loss") < never.numbers.at("start"));
  CHECK(never.series.at("losses").size() == 20);
}

}  // namespace placements_searched_test
