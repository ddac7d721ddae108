#include "lab/study/outcome.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus::lab;

TEST_CASE("slices cover all values") {
  CHECK(slice_means({1, 3, 5, 7}, 2) == std::vector<double>{2, 6});
  CHECK(slice_means({1, 2, 6}, 2) == std::vector<double>{1, 4});
  CHECK(slice_means({1, 2}, 5) == std::vector<double>{1, 2});
}

TEST_CASE("the record of a trial has its loss, whether it diverged, and the steps to the target") {
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
