// Studies with fabricated runs: every run of the plan has numbers from a formula, so figures and pages find
// all they need.
#include <doctest/doctest.h>

#include "fabricated.h"
#include "lab/studies/studies.h"

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace made_up_studies_test {

namespace {

/// All numbers that the studies below read.
Measured made_up(double value) {
  Measured measured;
  for (const char* name : {"loss", "start", "diverged", "inputs", "gradients", "spread", "removed", "fixed",
                           "logits-start", "logits-end", "steps"})
    measured.numbers[name] = value;
  for (const char* distance : {"D16", "D128", "D1024", "D4096", "D16384"})
    for (const char* name : {"zero.", "loss.", "right."})
      measured.numbers[std::string(name) + distance] = value;
  for (const char* name : {"losses", "inputs_by_step", "gradients_by_step", "gradient"})
    measured.series[name] = {value, 2 * value, value};
  return measured;
}

/// The first of every `of_every` runs of the plan has finished.
StudyResults results_of(const Study& study, Budget budget, std::size_t of_every) {
  std::size_t place = 0;
  double value = 0.8;
  return gradus::test::fabricated(
      study, {.budget = budget},
      [&](const std::string&) {
        value = value > 1.2 ? 0.8 : value + 0.01;
        return made_up(value);
      },
      [&](const std::string&) { return place++ % of_every == 0; });
}

}  // namespace

TEST_CASE("placements, norms, long, final-norm: a finished plan has all measures") {
  for (const char* name : {"placements", "norms", "long", "final-norm"})
    for (const Budget budget : {Budget::quick, Budget::full}) {
      const Study& study = study_named(name);
      const Figures all = study.figures(results_of(study, budget, 1));
      for (const Claim& claim : claims())
        for (const Measure& measure : claim.measures) {
          if (claim.study != study.name || (budget == Budget::quick && !measure.quick)) continue;
          INFO(study.name, " ", name_of(budget), " ", measure.id);
          REQUIRE(all.contains(measure.id));
          CHECK(all.at(measure.id).size() >= 3);
        }
    }
}

TEST_CASE("placements, norms, long, final-norm: pages of a part, and of all runs") {
  for (const char* name : {"placements", "norms", "long", "final-norm"})
    for (const std::size_t of_every : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
      INFO(name, " ", of_every);
      const Study& study = study_named(name);
      const std::string page = gradus::test::page_of(study, results_of(study, Budget::full, of_every));
      CHECK(page.find("What this does not show") != std::string::npos);
      CHECK(page.find("nan") == std::string::npos);
      CHECK(page.size() < 2'000'000);
    }
}

}  // namespace made_up_studies_test
