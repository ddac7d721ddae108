#include "lab/study/outcome.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus::lab;

TEST_CASE("sensitivity is the mean over rates minus the best") {
  CHECK(sensitivity_of(std::vector{1.0, 2.0, 6.0}) == doctest::Approx(2));
  CHECK(sensitivity_of(std::vector{3.0, 3.0}) == 0);
}

TEST_CASE("the largest rate is the last that trains, and below the grid where none does") {
  const std::vector<double> rates = {1e-3, 3e-3, 1e-2};
  const double good = learned_loss() - 0.1, bad = learned_loss() + 0.1;
  CHECK(largest_rate(rates, std::vector{good, bad, good}) == 1e-2);
  CHECK(largest_rate(rates, std::vector{bad, good, bad}) == 3e-3);
  CHECK(largest_rate(rates, std::vector{bad, learned_loss(), bad}) == doctest::Approx(1e-3 / 3));
}

TEST_CASE("slices share out all values") {
  CHECK(slice_means({1, 3, 5, 7}, 2) == std::vector<double>{2, 6});
  CHECK(slice_means({1, 2, 6}, 2) == std::vector<double>{1, 4});
  CHECK(slice_means({1, 2}, 5) == std::vector<double>{1, 2});
}

TEST_CASE("a trial leaves its loss, whether it diverged and the steps to the target") {
  TrialResult result{.final_loss = 1.5, .diverged = true, .losses = std::vector<double>(40, 3.0)};
  Measured measured = outcome_of(result, 4);
  CHECK(measured.numbers.at("loss") == 1.5);
  CHECK(measured.numbers.at("diverged") == 1);
  CHECK(std::isnan(measured.numbers.at("steps")));
  CHECK(measured.series.at("losses") == std::vector<double>(4, 3.0));
  result.losses.resize(80, target_loss() - 0.01);
  CHECK(outcome_of(result).numbers.at("steps") == 60);  // 20 in a row after step 40
  CHECK(target_loss() < learned_loss());
}

TEST_CASE("numbers of runs wait for all of them") {
  StudyResults results;
  results.records["a"].measured.numbers["loss"] = 1;
  CHECK_FALSE(numbers_of(results, {"a", "b"}, "loss"));
  results.records["b"].measured.numbers["loss"] = 2;
  CHECK(numbers_of(results, {"b", "a"}, "loss") == std::vector<double>{2, 1});
}
