// Fine-tuning: forgetting where both placements have the same losses.
#include <doctest/doctest.h>

#include <cmath>

#include "fabricated.h"
#include "lab/studies/fine_tuning/matched.h"
#include "lab/studies/fine_tuning/parts.h"
#include "lab/studies/studies.h"

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace fine_tuning_test {

namespace {

using fine_tuning::matched_name;
using Values = std::vector<double>;

/// A run that forgets `rise` nats, whatever the rate.
Measured matched(double first_loss, double rise) {
  Measured one{.numbers = {{"first-loss", first_loss}, {"first-steps", 300}}, .series = {}};
  for (const double rate : {3e-4, 1e-3, 3e-3}) {
    one.numbers[fine_tuning::of_rate("rise", rate)] = rise;
    one.series[fine_tuning::of_rate("second", rate)] = {4, 2, 1.2};
    one.series[fine_tuning::of_rate("first", rate)] = {first_loss, first_loss + 1, first_loss + 2};
  }
  return one;
}

/// A run of the other part of the study.
Measured tuned(double first_loss) {
  return {
      .numbers = {{"first-loss", first_loss}, {"second-start", 4}},
      .series = {
          {"loss", {2, 1.5, 1.4, 1.5, 3}}, {"forgetting", {1, 2, 3, 3, 2}}, {"diverged", {0, 0, 0, 0, 0}}}};
}

using Run = std::function<Measured(bool post, bool deep, std::uint64_t seed)>;
StudyResults results_of(const Run& run) {
  return gradus::test::fabricated(fine_tuning_study(), {.budget = Budget::full},
                                  [&](const std::string& name) {
                                    const bool post = name.find("post") != std::string::npos,
                                               deep = name.find("L12") != std::string::npos;
                                    if (!name.starts_with("matched-"))
                                      return tuned(post && deep ? 1.3 : 0.927);
                                    return run(post, deep, std::stoull(name.substr(name.rfind("-s") + 2)));
                                  });
}

}  // namespace

TEST_CASE("a value is interpolated where a curve first comes down to a level") {
  using fine_tuning::value_at;
  CHECK(value_at({3, 2, 1}, {0, 1, 3}, 1.5) == 2);
  CHECK(value_at({3, 2, 1}, {0, 1, 3}, 2) == 1);
  CHECK(value_at({3, 1, 3, 1}, {0, 1, 8, 9}, 1.5) == 0.75);  // the first time
  CHECK(value_at({3, 2}, {5, 6}, 4) == 5);                   // below it from the start
  CHECK(std::isnan(value_at({3, 2, 1.6}, {0, 1, 3}, 1.5)));
  CHECK(std::isnan(value_at({}, {}, 1.5)));
  CHECK(std::isnan(value_at({3, std::nan("")}, {0, std::nan("")}, 1.5)));
}

TEST_CASE("forgetting at equal losses: one difference a seed, of those that reach both losses") {
  Figures figures = fine_tuning_study().figures(
      results_of([](bool post, bool, std::uint64_t) { return matched(0.95, post ? 2.5 : 2); }));
  for (const std::string& id : gradus::test::measures_of(fine_tuning_study())) {
    CAPTURE(id);
    REQUIRE(figures.contains(id));
    CHECK(figures.at(id).size() == 10);
  }
  CHECK(figures.at("matched.L12.lr0.003") == Values(10, 0.5));
  CHECK(!figures.objections.contains("matched.L12.lr0.003"));

  figures = fine_tuning_study().figures(results_of([](bool post, bool deep, std::uint64_t seed) {
    return matched(0.95, post && deep && seed % 10 > 3 ? std::nan("") : 2);
  }));
  CHECK(figures.at("matched.L6.lr0.001") == Values(10, 0.0));
  CHECK(figures.at("matched.L12.lr0.001") == Values(4, 0.0));
  CHECK(figures.objections.at("matched.L12.lr0.001").why == "failed runs on 6 of 10 seeds");
}

TEST_CASE("forgetting is not compared from different losses on the first language") {
  const Figures figures = fine_tuning_study().figures(
      results_of([](bool post, bool, std::uint64_t) { return matched(post ? 1.2 : 0.95, 2); }));
  CHECK(figures.objections.at("matched.L6.lr0.001").why == "the baselines differ: 1.2 and 0.95");
  CHECK(figures.objections.at("forgetting.L12").why == "the baselines differ: 1.3 and 0.927");
  CHECK(!figures.objections.contains("forgetting.L6"));
  CHECK(!figures.objections.contains("end.L12"));  // of the whole recipe
}

TEST_CASE("the page of fine-tuning, from all runs and from some") {
  const StudyResults results =
      results_of([](bool post, bool, std::uint64_t) { return matched(0.95, post ? 2.5 : 2); });
  CHECK(gradus::test::page_of(fine_tuning_study(), results).find("10 of 10 seeds") != std::string::npos);
  StudyResults part = results;
  std::size_t place = 0;
  std::erase_if(part.records, [&](const auto&) { return place++ % 3 != 0; });
  CHECK(gradus::test::page_of(fine_tuning_study(), part).find("nan") == std::string::npos);
}

TEST_CASE(
    "pre-training ends at its target, fine-tuning at its own; a run that is too short has no forgetting") {
  fine_tuning::MatchedGrid grid{.depths = {2},
                                .first_rate = 3e-3,
                                .first_steps = 800,
                                .warmup = 50,
                                .rates = {3e-3},
                                .steps = 500,
                                .every = 20,
                                .seeds = {1}};
  const Measured learned = fine_tuning::measure_matched("Pre-LN", 2, 1, grid);
  CHECK(learned.numbers.at("first-steps") < 800);
  CHECK(learned.numbers.at("first-loss") == doctest::Approx(fine_tuning::first_target()).epsilon(0.05));
  CHECK(learned.series.at("second-lr0.003").back() <= fine_tuning::second_target());
  CHECK(learned.series.at("first-lr0.003").front() == learned.numbers.at("first-loss"));
  CHECK(learned.numbers.at("rise-lr0.003") > 0);
  grid.first_steps = 20, grid.steps = 20;
  const Measured once = fine_tuning::measure_matched("Post-LN", 2, 1, grid);
  CHECK(std::isnan(once.numbers.at("first-steps")));
  CHECK(std::isnan(once.numbers.at("rise-lr0.003")));
  CHECK(once.series.at("second-lr0.003").size() == 2);  // before the first step and after 20
  CHECK(once.series == fine_tuning::measure_matched("Post-LN", 2, 1, grid).series);
}

}  // namespace fine_tuning_test
