// How the study `optimizers` measures curvature, and what its page says about it.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fabricated.h"
#include "gradus/nn/placements/placements.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/studies/studies.h"
#include "lab/study/records.h"

namespace gradus::lab::curvature_test {

namespace {

/// The page where the first `exact` of the runs whose curvature is measured have exact products.
std::string page_with(std::size_t exact) {
  const Study study = optimizers_study();
  std::size_t count = 0;
  const StudyResults results = test::fabricated(study, {.budget = Budget::full}, [&](const std::string& run) {
    Measured measured{.numbers = {{"loss", 1}, {"diverged", 0}, {"steps", 100}},
                      .series = {{"losses", {3, 1.0}}, {"sharpness", std::vector<double>(6, 5.0)}}};
    if (run.starts_with("sharpness-") && count++ < exact) measured.texts["products"] = "exact";
    return measured;
  });
  return test::page_of(study, results);
}

bool has(const std::string& page, const char* words) { return page.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("optimizers: a run with its curvature says that products with the Hessian are exact") {
  const TrialOptions options{
      .placement = nn::post_ln(), .layers = 1, .optimizer = adam(), .steps = 3, .batch = 2};
  const Measured measured = optimizers::measure_sharpness(options, {1, 3});
  REQUIRE(measured.series.at("sharpness").size() == 2);
  for (const double sharpness : measured.series.at("sharpness")) CHECK(sharpness > 0);
  CHECK(measured.texts.at("products") == "exact");
  const kit::LogLine line = line_of("sharpness-adam-post-cold-s0", {measured, 1});
  CHECK(line["products"].text() == "exact");
}

TEST_CASE("optimizers: the page says in which runs products with the Hessian were differences") {
  const std::string old = page_with(0), mixed = page_with(79), all = page_with(80);
  CHECK(has(old, "20 Hessian-vector products, in 80 of 80 runs by central differences of gradients"));
  CHECK(has(mixed, "in 1 of 80 runs by central differences"));
  CHECK(has(all, "20 exact Hessian-vector products"));
  CHECK(!has(all, "differences of gradients"));
}

}  // namespace gradus::lab::curvature_test
