// Curvature of runs that survive, in the study `optimizers`, with fabricated runs.

#include "lab/studies/optimizers/stable.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "fabricated.h"
#include "kit/markup.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/studies.h"
#include "lab/training/trial.h"

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace stable_test {

namespace {

using gradus::test::page_of;

Measured ended(double loss) {
  return {.numbers = {{"loss", loss}, {"diverged", 0}, {"steps", 100}},
          .series = {{"losses", {3, loss}}, {"sharpness", {}}}};
}

bool has(const std::string& run, const char* word) { return run.find(word) != std::string::npos; }

StudyResults fabricated(const Study& study, const std::function<Measured(const std::string&)>& measured) {
  return gradus::test::fabricated(study, {.budget = Budget::full}, measured);
}

/// Post-LN survives up to 0.018 without warm-up and up to 0.056 with it, the controls up to 0.3, but for the
/// judging seeds that `fails` names.
Measured of_stable(const std::string& run, const std::function<bool(std::uint64_t seed)>& fails) {
  const double lr = std::atof(run.c_str() + run.find("-lr") + 3);
  const std::uint64_t seed = std::stoull(run.substr(run.rfind("-s") + 2));
  const bool warm = has(run, "-warm-");
  const double most = !has(run, "-post-") ? 0.3 : warm ? 0.056 : 0.018;
  const bool alive = lr < 1.1 * most && !fails(seed);
  Measured measured = ended(alive ? 1.0 : recall_task().context_free_loss());
  measured.series["sharpness"] = {100, 60, 50, alive ? (warm ? 20.0 : 30.0) : 1, 10, 10};
  return measured;
}

Figures stable_figures(const StudyResults& results) {
  Figures figures;
  optimizers::add_stable_figures(figures, results);
  return figures;
}

}  // namespace

TEST_CASE("optimizers: curvature with and without warm-up is not compared where a run failed") {
  StudyResults results = fabricated(optimizers_study(), [](const std::string& run) {
    Measured measured = ended(1);
    measured.series["sharpness"] = std::vector<double>(6, run.find("-cold-") == std::string::npos ? 5 : 10);
    return measured;
  });
  Figures figures = optimizers_study().figures(results);
  CHECK(figures["gap.momentum.post"] == std::vector<double>(10, 1.0));
  CHECK(!figures.objections.contains("gap.momentum.post"));
  for (int seed = 0; seed < 6; ++seed)
    results.records["sharpness-momentum-post-cold-s" + std::to_string(seed)].measured.numbers["loss"] =
        recall_task().context_free_loss();
  figures = optimizers_study().figures(results);
  CHECK(figures["gap.momentum.post"].size() == 4);
  CHECK(figures["fall.momentum.post"].size() == 10);  // of the runs with warm-up alone
  CHECK(figures.objections.at("gap.momentum.post").why == "failed runs on 6 of 10 seeds");
}

TEST_CASE("optimizers: curvature of survivors, each at its largest stable rate") {
  const Study study = optimizers_study();
  const auto nowhere = [](std::uint64_t) { return false; };
  const StudyResults results = fabricated(study, [&](const std::string& run) {
    return run.starts_with("stable-") ? of_stable(run, nowhere) : ended(1);
  });
  CHECK(results.complete());
  const optimizers::StableGrid grid = optimizers::stable_grid_of(results.options);
  const optimizers::Stable post(results, grid, grid.arms[0]);
  CHECK(post.rate(false) == 0.018);
  CHECK(post.rate(true) == 0.056);
  CHECK(post.judged().size() == 4);
  Figures figures = stable_figures(results);
  CHECK(figures.objections.empty());
  const double limit = optimizers::stable_below(0.056);
  CHECK(figures["stable.raises.post"] == std::vector<double>(10, 1.0));
  CHECK(figures["stable.start.post"].front() == doctest::Approx(std::log2(100 / limit)));
  CHECK(figures["stable.settles.post"].front() == doctest::Approx(std::log2(20 / limit)));
  CHECK(figures["stable.sharper.post"] == std::vector<double>(10, 1.0));
  CHECK(figures["stable.start.admin"].front() ==
        doctest::Approx(std::log2(100 / optimizers::stable_below(0.3))));
  CHECK(page_of(study, results).find("10 of 10") != std::string::npos);  // without warm-up at 0.056
}

TEST_CASE("optimizers: failed runs have no curvature, and a climb must end inside its ladder") {
  const Study study = optimizers_study();
  const optimizers::StableGrid grid = optimizers::stable_grid_of({.budget = Budget::full});
  const auto on_six = [&](std::uint64_t seed) {
    return seed >= grid.judging.front() && seed < grid.judging.front() + 6;
  };
  Figures figures = stable_figures(fabricated(study, [&](const std::string& run) {
    return run.starts_with("stable-") ? of_stable(run, on_six) : ended(1);
  }));
  CHECK(figures["stable.start.post"].size() == 4);
  CHECK(figures.objections.at("stable.start.post").why == "failed runs on 6 of 10 seeds");
  CHECK(figures.objections.at("stable.sharper.post").why == "failed runs on 6 of 10 seeds");
  CHECK(figures.objections.at("stable.raises.post").why ==
        "no working control: Post-LN with warm-up, 4 of 10 seeds");

  figures = stable_figures(fabricated(study, [](const std::string&) {
    Measured measured = ended(1);
    measured.series["sharpness"] = std::vector<double>(6, 5.0);
    return measured;
  }));
  CHECK(figures.objections.at("stable.start.post").why ==
        "the search ends at its edge: Post-LN with warm-up");
  CHECK(figures.objections.at("stable.start.deepnorm").why ==
        "the search ends at its edge: DeepNorm without warm-up");
}

}  // namespace stable_test
