// The study `placements` with fabricated runs whose results are known.

#include "lab/studies/placements/placements.h"

#include <doctest/doctest.h>

#include <cmath>

#include "fabricated.h"
#include "gradus/nn/placements/placements.h"
#include "lab/studies/studies.h"
#include "lab/training/trial.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace placements_test {

namespace {

bool has(const std::string& run, const std::string& part) { return run.find(part) != std::string::npos; }

Measured ended(double loss) {
  return {.numbers = {{"loss", loss}, {"start", 3}, {"diverged", 0}, {"steps", 100}},
          .series = {{"losses", {3, loss}}}};
}

Figures figures_of(const std::function<double(const std::string& run)>& loss) {
  const Study& study = study_named("placements");
  return study.figures(test::fabricated(study, {.budget = Budget::full},
                                        [&](const std::string& run) { return ended(loss(run)); }));
}

}  // namespace

TEST_CASE("placements: a hybrid that is better at two depths and worse at one is judged at that one") {
  const Figures figures = figures_of([](const std::string& run) {
    if (has(run, "b2t-")) return has(run, "-L24-") ? 1.5 : 0.5;
    if (has(run, "peri-")) return has(run, "-L2-") ? 0.9 : 0.8;
    return 1.0;
  });
  CHECK(figures.at("above.b2t") == std::vector<double>(14, 0.5));
  CHECK(figures.at("above.peri").front() == doctest::Approx(-0.1));
  CHECK(figures.at("above.mix") == std::vector<double>(14, 0.0));
  CHECK(!figures.contains("above.rezero"));  // not a hybrid: on the page only
}

TEST_CASE(
    "placements: no seed chooses its worst depth, nor which of Pre-LN and Post-LN it is compared with") {
  // On seed 0 alone Post-LN has a lucky loss, and B2T an unlucky one at 12 layers.
  const Figures figures = figures_of([](const std::string& run) {
    const bool first = run.ends_with("-s0");
    if (has(run, "post-")) return first ? 0.2 : 1.2;
    if (has(run, "b2t-") && has(run, "-L12-") && first) return 1.5;
    if (has(run, "b2t-") && has(run, "-L24-")) return 1.1;
    return 1.0;
  });
  for (const double above : figures.at("above.b2t")) CHECK(above == doctest::Approx(0.1));
  CHECK(figures.at("above.mix") == std::vector<double>(14, 0.0));
}

TEST_CASE("placements: those in the ledger have all seeds, the others a few") {
  const placements::Part part = placements::all_part({.budget = Budget::full});
  CHECK(part.seeds_of(nn::siamese_norm()).size() == 14);
  CHECK(part.seeds_of(nn::keel()).size() == 2);
  CHECK(placements::deep_part({.budget = Budget::full}).seeds_of(nn::post_ln()).size() == 2);
}

}  // namespace placements_test
