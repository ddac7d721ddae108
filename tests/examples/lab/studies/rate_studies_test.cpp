// The studies rates, optimizers and depth-48 with fabricated runs whose results are known.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "fabricated.h"
#include "kit/markup.h"
#include "lab/studies/depth_48/depth_48.h"
#include "lab/studies/optimizers/lanczos.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/rates/rates.h"
#include "lab/studies/studies.h"
#include "lab/study/outcome.h"

namespace gradus::lab::rate_studies {

using test::page_of;

namespace {

Measured ended(double loss, double steps = 100) {
  return {.numbers = {{"loss", loss}, {"diverged", 0}, {"steps", steps}},
          .series = {{"losses", {3, loss}}, {"sharpness", {}}}};
}

/// Whether the run's name has `part` between dashes: has_part("post-L2-s1", "L2").
bool has_part(const std::string& name, const std::string& part) {
  return ("-" + name + "-").find("-" + part + "-") != std::string::npos;
}

StudyResults fabricated(const Study& study, const std::function<Measured(const std::string&)>& measured) {
  return test::fabricated(study, {.budget = Budget::full}, measured);
}

std::string outcome(int number, const std::string& id, const Figures& figures) {
  const JudgedClaim judged = judge(claim_numbered(number), figures);
  for (const Judged& one : judged.measures)
    if (one.measure->id == id) return describe_outcome(one);
  return "no such measure";
}

bool is_post(const std::string& run) { return has_part(run, "post"); }

/// Pre-LN trains at all rates but the highest; Post-LN with 12 layers and more at the lowest only, and with
/// warm-up at the lowest three.
Measured of_rate(const std::string& run) {
  const bool deep = has_part(run, "L12") || has_part(run, "L24");
  const bool low = has_part(run, "lr0.001");
  const bool warm = !has_part(run, "w0") && (has_part(run, "lr0.003") || has_part(run, "lr0.01"));
  const bool trains = has_part(run, "lr0.1") ? false : !is_post(run) || !deep || low || warm;
  return ended(trains ? (low ? 1.2 : 1.0) : 3.0, trains ? (low ? 300 : 150) : std::nan(""));
}

}  // namespace

TEST_CASE("rates, optimizers and depth-48 have all measures of their claims, and draw any finished runs") {
  for (const Study& study : {rates_study(), optimizers_study(), depth_48_study()}) {
    CAPTURE(study.name);
    const auto measured = [](const std::string&) {
      Measured one = ended(1);
      one.series["sharpness"] = std::vector<double>(6, 5.0);
      return one;
    };
    const Figures figures = study.figures(fabricated(study, measured));
    for (const std::string& id : test::measures_of(study)) {
      CAPTURE(id);
      CHECK(figures.contains(id));
      CHECK(!figures.at(id).empty());
    }
    for (const Budget budget : {Budget::quick, Budget::standard, Budget::full}) {
      std::size_t count = 0;
      const StudyResults some = test::fabricated(study, {.budget = budget}, measured,
                                                 [&](const std::string&) { return count++ % 3 == 0; });
      study.figures(some);
      CHECK(test::flaw_in(page_of(study, some)) == "");
    }
  }
}

TEST_CASE("rates: the known results of made-up runs are found, seed by seed") {
  const StudyResults results = fabricated(rates_study(), of_rate);
  Figures figures = rates_study().figures(results);
  CHECK(figures["sensitivity.L2"] == std::vector<double>(10, 0.0));
  // Post-LN without warm-up: 1.2 and four times 3; Pre-LN: 1.2, three times 1, 3.
  CHECK(figures["sensitivity.L12"][0] == doctest::Approx((13.2 / 5 - 1.2) - (7.2 / 5 - 1)));
  CHECK(figures["gain.L12"][0] == doctest::Approx(0.2));  // from 1.2 to 1, Pre-LN nothing
  CHECK(figures["needs-warm-up.L12"][0] == 0);
  CHECK(figures["largest.L12"][0] == doctest::Approx(std::log10(0.03 / 0.001)));
  CHECK(figures["steps-at-largest.L12"][0] == 2);
  CHECK(figures["steps.L24"][0] == 1);  // with warm-up, both at their best
  CHECK(figures["best.L24"][0] == 0);
  CHECK(figures["post-above-ngram.L24"][0] == doctest::Approx(1.0 - learned_loss()));
}

TEST_CASE("rates: a seed with a run missing has no number") {
  StudyResults results = fabricated(
      rates_study(), [](const std::string& run) { return is_post(run) ? ended(3, std::nan("")) : ended(1); });
  Figures figures = rates_study().figures(results);
  CHECK(!figures.contains("steps.L2"));
  CHECK(figures["largest.L2"][0] == doctest::Approx(std::log10(0.1 / (1e-3 / 3))));
  results.records.erase("post-L2-w0-lr0.001-s3");
  figures = rates_study().figures(results);
  CHECK(figures["best.L2"].size() == 9);
  CHECK(figures["sensitivity-warm.L2"].size() == 10);
  CHECK(test::flaw_in(page_of(rates_study(), results)) == "");
}

TEST_CASE("rates: an arm that does not reach the target on every seed has no ratio of steps") {
  const StudyResults never = fabricated(rates_study(), [](const std::string& run) {
    return ended(1, is_post(run) && has_part(run, "L12") ? std::nan("") : 190);
  });
  Figures figures = rates_study().figures(never);
  CHECK(figures["steps.L6"] == std::vector<double>(10, 1.0));
  CHECK(!figures.contains("steps.L12"));
  CHECK(outcome(16, "steps.L6", figures) == "no");
  CHECK(outcome(16, "steps.L12", figures) ==
        "not measured: Post-LN, 12 layers reaches the target on 0 of 10 seeds");
  CHECK(outcome(17, "steps-at-largest.L12", figures) ==
        "not measured: Post-LN, 12 layers reaches the target on 0 of 10 seeds");
  CHECK(page_of(rates_study(), never).find("0 of 10 seeds") != std::string::npos);
  CHECK(test::flaw_in(page_of(rates_study(), never)) == "");

  const StudyResults sometimes = fabricated(rates_study(), [](const std::string& run) {
    return ended(1, !is_post(run) && has_part(run, "s3") ? std::nan("") : 190);
  });
  figures = rates_study().figures(sometimes);
  CHECK(figures["steps.L6"].size() == 9);
  CHECK(outcome(16, "steps.L6", figures) ==
        "not decided: Pre-LN, 6 layers reaches the target on 9 of 10 seeds");
}

TEST_CASE("rates: an arm that trains nowhere is not compared") {
  // Post-LN with 12 layers is better than guessing, but above the best n-gram; with 24 it trains with
  // warm-up.
  const StudyResults results = fabricated(rates_study(), [](const std::string& run) {
    if (!is_post(run) || has_part(run, "L2") || has_part(run, "L6")) return ended(1);
    return ended(has_part(run, "L24") && !has_part(run, "w0") ? 1.2 : learned_loss() + 0.2);
  });
  const Figures figures = rates_study().figures(results);
  const std::string nowhere = "not measured: Post-LN, 12 layers trains nowhere";
  for (const char* id : {"sensitivity.L12", "sensitivity-warm.L12"})
    CHECK(outcome(13, id, figures) == nowhere);
  CHECK(outcome(13, "sensitivity.L24", figures) == "not measured: Post-LN, 24 layers trains nowhere");
  CHECK(outcome(13, "sensitivity-warm.L24", figures) == "no");
  CHECK(outcome(14, "needs-warm-up.L12", figures) == "yes");  // of Pre-LN alone
  CHECK(outcome(14, "gain.L12", figures) == nowhere);
  CHECK(outcome(14, "gain.L24", figures) == "yes");
  CHECK(outcome(17, "largest.L12", figures) == nowhere);
  CHECK(outcome(18, "best.L12", figures) == nowhere);
  CHECK(outcome(18, "best.L24", figures) == "yes");
  CHECK(outcome(18, "best.L6", figures) == "no");
  CHECK(outcome(19, "post-above-ngram.L12", figures) == "no");  // a statement about failure
  const std::string page = page_of(rates_study(), results);
  CHECK(page.find("Not compared: Post-LN with 12 layers trains nowhere") != std::string::npos);
  CHECK(test::flaw_in(page) == "");
}

TEST_CASE("rates and optimizers: no seed chooses the rate it is judged at") {
  // Seed 0 of Post-LN is lucky at one rate, where the others do worse than elsewhere.
  const auto lucky = [](const char* rate) {
    return [rate](const std::string& run) {
      if (!is_post(run) || !has_part(run, rate)) return ended(1.0, 2.0);
      return has_part(run, "s0") ? ended(0.5, 1.0) : ended(1.5, 3.0);
    };
  };
  Figures rates = rates_study().figures(fabricated(rates_study(), lucky("lr0.001")));
  CHECK(rates["best.L2"] == std::vector<double>(10, 0.0));
  CHECK(rates["steps.L2"] == std::vector<double>(10, 1.0));
  CHECK(rates["gain.L2"] == std::vector<double>(10, 0.0));
  Figures optimizers = optimizers_study().figures(fabricated(optimizers_study(), lucky("lr0.001")));
  CHECK(optimizers["gain.adam"] == std::vector<double>(10, 0.0));
  CHECK(optimizers["range.beta2"] == std::vector<double>(10, 0.0));
}

TEST_CASE("optimizers: each has as many rates, half a decade apart") {
  const optimizers::Grid grid = optimizers::grid_of({.budget = Budget::full});
  for (const optimizers::Variant* variant : grid.variants) {
    CAPTURE(variant->name);
    const std::vector<double> lrs = grid.lrs(*variant);
    CHECK(lrs.size() == 5);
    CHECK(lrs[0] == doctest::Approx(variant->lowest));
    for (std::size_t i = 1; i < lrs.size(); ++i)
      CHECK(std::abs(std::log10(lrs[i] / lrs[i - 1]) - 0.5) < 0.03);
  }
  CHECK(grid.members("beta2").size() == 2);
  CHECK(grid.members("batch").size() == 2);
  CHECK(grid.members("optimizer").size() == 3);
}

TEST_CASE("optimizers: gains, rates and curvature of made-up runs are found") {
  const Study study = optimizers_study();
  const StudyResults results = fabricated(study, [](const std::string& run) {
    const bool cold = has_part(run, "cold");
    Measured measured = ended(is_post(run) && cold && run.starts_with("adam-post") ? 3.0 : 1.0);
    measured.series["sharpness"] = {80, 60, 40, cold ? 40.0 : 20.0, 10, 10};
    return measured;
  });
  Figures figures = study.figures(results);
  CHECK(figures["gain.adam"] == std::vector<double>(10, 2.0));
  CHECK(figures["more-rates.adam"][0] == 5);
  CHECK(figures["gain.momentum"][0] == 0);
  CHECK(figures["trained.beta2"][0] == doctest::Approx(5.0 / 20));
  CHECK(figures["range.beta2"][0] == 0);  // with warm-up Adam is as good as the others
  CHECK(figures["fall.adam.post"][0] == 2);
  CHECK(figures["gap.momentum.pre"][0] == 1);
  CHECK(figures["unstable.momentum.pre"][0] == doctest::Approx(std::log2(80 / optimizers::kStable)));
  CHECK(test::flaw_in(page_of(study, results)) == "");
}

TEST_CASE("optimizers: a run that diverged before the end of warm-up counts as sharper than any run") {
  StudyResults results = fabricated(optimizers_study(), [](const std::string&) {
    Measured measured = ended(1);
    measured.series["sharpness"] = std::vector<double>(6, 5.0);
    return measured;
  });
  const auto end_early = [&](const char* run) {
    results.records[run].measured.series["sharpness"].resize(2);
  };
  const double wild = optimizers::kDivergedDoublings;
  end_early("sharpness-adam-post-warm-s2");
  end_early("sharpness-momentum-post-cold-s0");
  Figures figures = optimizers_study().figures(results);
  CHECK(figures["fall.adam.post"] == std::vector<double>{0, 0, -wild, 0, 0, 0, 0, 0, 0, 0});
  CHECK(figures["gap.adam.post"][2] == -wild);
  CHECK(figures["fall.momentum.post"] == std::vector<double>(10, 0.0));
  CHECK(figures["gap.momentum.post"] == std::vector<double>{wild, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  end_early("sharpness-momentum-post-warm-s0");
  CHECK(optimizers_study().figures(results)["gap.momentum.post"] == std::vector<double>(9, 0.0));
}

TEST_CASE("optimizers: Lanczos finds the largest eigenvalue despite a negative one of larger size") {
  std::vector<double> eigenvalues(200), start(200);
  for (std::size_t i = 0; i < 200; ++i) {
    eigenvalues[i] = std::sin(static_cast<double>(i));  // between -1 and 1
    start[i] = 1 + 0.1 * std::cos(static_cast<double>(3 * i));
  }
  eigenvalues[7] = 3, eigenvalues[90] = -30, eigenvalues[150] = 2.8;
  const auto product = [&](const std::vector<double>& v) {
    std::vector<double> result = v;
    for (std::size_t i = 0; i < v.size(); ++i) result[i] *= eigenvalues[i];
    return result;
  };
  CHECK(optimizers::largest_eigenvalue(product, start, 20) == doctest::Approx(3).epsilon(1e-6));
  CHECK(optimizers::largest_eigenvalue(product, start, 3) <= 3);
  // A space of one dimension is exhausted at once.
  CHECK(optimizers::largest_eigenvalue([](const auto& v) { return std::vector{-2 * v[0]}; }, {5}, 20) == -2);
  CHECK(optimizers::largest_of_tridiagonal({1, 2, 1}, {0.5, 0.5, 9}) ==
        doctest::Approx(1.5 + std::sqrt(0.25 + 0.5)));
}

TEST_CASE("depth-48: the design that trains is found, and none if none trains") {
  const Study study = depth_48_study();
  const StudyResults results = fabricated(study, [](const std::string& run) {
    if (!is_post(run)) return ended(has_part(run, "lr0.003") ? 1.0 : 1.3);
    return ended(has_part(run, "w160") && has_part(run, "lr0.001") ? 1.2 : 3.0);
  });
  Figures figures = study.figures(results);
  CHECK(figures["gain.pre"] == std::vector<double>(8, 0.0));
  CHECK(figures["gain.post"][0] == doctest::Approx(1.8));
  CHECK(figures["longer"][0] == doctest::Approx(160.0 / 400));
  CHECK(figures["lower-rate"][0] == doctest::Approx(std::log10(3)));
  CHECK(figures["above-ngram.post"][0] == doctest::Approx(1.2 - learned_loss()));
  CHECK(depth_48::answer(results, 1) == depth_48::Design{160, 1e-3});
  CHECK(test::flaw_in(page_of(study, results)) == "");

  const StudyResults hopeless =
      fabricated(study, [](const std::string& run) { return ended(is_post(run) ? 3.0 : 1.0); });
  figures = study.figures(hopeless);
  CHECK(figures["longer"].empty());
  const std::string nowhere = "not measured: Post-LN, 48 layers trains nowhere";
  for (const char* id : {"gain.post", "longer", "lower-rate"}) CHECK(outcome(24, id, figures) == nowhere);
  CHECK(outcome(24, "gain.pre", figures) == "no");
  CHECK(outcome(24, "above-ngram.pre", figures) == "yes");
  CHECK(outcome(24, "above-ngram.post", figures) == "no");
  CHECK(page_of(study, hopeless).find("all bad") != std::string::npos);
}

}  // namespace gradus::lab::rate_studies
