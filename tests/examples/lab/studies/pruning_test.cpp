// Dropping layers, and the figures of fine-tuning.

#include <doctest/doctest.h>

#include <cmath>

#include "lab/studies/fine_tuning/parts.h"
#include "lab/studies/pruning/parts.h"
#include "lab/studies/studies.h"

namespace gradus::lab {

TEST_CASE("the deeper half's share") {
  CHECK(pruning::deeper_share({1, 1, 1, 1}) == 0.5);
  CHECK(pruning::deeper_share({3, 0, 0, 1}) == 0.25);
  CHECK(pruning::deeper_share({1, 2, 1}) == 0.5);      // the middle belongs to both
  CHECK(pruning::deeper_share({1, -5, 0, 1}) == 0.5);  // a layer whose removal helps counts as 0
  CHECK(std::isnan(pruning::deeper_share({0, -1})));
  CHECK(pruning::deeper_mean({9, 9, -1, 2}) == 0.5);
}

TEST_CASE("all layers in order give the model's loss; one layer less gives another") {
  for (const char* placement : {"Pre-LN", "Post-LN", "LN scaling"}) {
    const nn::GPT gpt =
        new_model(recall_task(), {.placement = nn::placement_named(placement), .layers = 3, .seed = 5});
    CHECK(pruning::loss_with(gpt, recall_task(), {0, 1, 2}) ==
          doctest::Approx(validation_loss(gpt, recall_task())).epsilon(1e-5));
    CHECK(std::abs(pruning::loss_with(gpt, recall_task(), {0, 2}) - validation_loss(gpt, recall_task())) >
          1e-4);
    const std::vector<double> rises = pruning::rises_by_dropping(gpt, recall_task());
    REQUIRE(rises.size() == 3);
    CHECK(rises[1] ==
          pruning::loss_with(gpt, recall_task(), {0, 2}) - pruning::loss_with(gpt, recall_task(), {0, 1, 2}));
    const std::vector<double> cosines = pruning::cosines_of(gpt, recall_task().validation().inputs);
    CHECK(cosines.size() == 3);
    for (const double cosine : cosines) CHECK(std::abs(cosine) < 1);
  }
}

TEST_CASE(
    "pruning: a seed's rate is the best on the others, and a model that did not learn there is left out") {
  StudyResults results{.options = {.budget = Budget::full, .seed = 7}, .records = {}, .planned = 90};
  const auto put = [&](double rate, std::uint64_t seed, double loss) {
    results.records[pruning::run_name("Pre-LN", rate, seed)].measured = {
        .numbers = {{"loss", loss}, {"learned", loss < 1.2}}, .series = {}};
  };
  const double low[] = {0.1, 1.1, 1.1}, high[] = {1.15, 0.9, 0.9};
  for (const std::uint64_t seed : {7, 8, 9}) {
    put(1e-3, seed, low[seed - 7]);  // best on average over all three, because of seed 7
    put(3e-3, seed, high[seed - 7]);
    put(6e-3, seed, 2);
  }
  const std::vector<std::string> runs = pruning::learned_runs(results, "Pre-LN");
  CHECK(runs.at(0) == pruning::run_name("Pre-LN", 3e-3, 7));
  CHECK(runs.at(1) == pruning::run_name("Pre-LN", 1e-3, 8));
  CHECK(runs.at(2) == pruning::run_name("Pre-LN", 1e-3, 9));
  CHECK(runs.at(3).empty());
  put(3e-3, 7, 1.3);
  CHECK(pruning::learned_runs(results, "Pre-LN").at(0).empty());
}

TEST_CASE("figures of fine-tuning, from made-up runs") {
  StudyResults results{.options = {.budget = Budget::quick, .seed = 7}, .records = {}, .planned = 6};
  const auto put = [&](const char* placement, std::uint64_t seed, std::vector<double> loss,
                       std::vector<double> rises) {
    results.records[fine_tuning::run_name(placement, 6, seed)].measured = {
        .numbers = {{"first-loss", 1}, {"second-start", 4}},
        .series = {{"loss", std::move(loss)}, {"forgetting", std::move(rises)}, {"diverged", {0, 0, 0}}}};
  };
  put("Pre-LN", 7, {1.0, 1.5, 2.0}, {0.1, 0.2, 0.3});
  put("Post-LN", 7, {2.0, 1.75, 3.0}, {0.5, 0.7, 0.9});
  const Figures figures = fine_tuning_study().figures(results);
  CHECK(figures.at("sensitivity.L6").front() == doctest::Approx(0));  // 2.25 - 1.75 and 1.5 - 1
  CHECK(figures.at("end.L6") == std::vector<double>{0.75});
  CHECK(figures.at("forgetting.L6").front() == doctest::Approx(0.6));
  put("Pre-LN", 8, {1.5, 1.0, 2.0}, {0, 0, 0});
  CHECK(fine_tuning_study().figures(results).at("end.L6").size() ==
        1);  // a seed without its pair does not count
  put("Post-LN", 8, {3.0, 2.0, 1.0}, {0, 0, 0});
  // Each seed has the rate that is best for the other: Pre-LN 1.5 and 1.5, Post-LN 3 and 2.
  CHECK(fine_tuning_study().figures(results).at("end.L6") == std::vector<double>{1.5, 0.5});
}

}  // namespace gradus::lab
