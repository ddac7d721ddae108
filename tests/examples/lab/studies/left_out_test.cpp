#include "lab/studies/left_out.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace gradus::lab;

namespace {
using Rows = std::vector<std::vector<double>>;
using Chosen = std::vector<std::optional<std::size_t>>;
}  // namespace

TEST_CASE("the other seeds choose the best setting of a seed") {
  // Setting 0 is best by far for seed 0 alone, setting 1 for seeds 1 and 2.
  const Rows values = {{0, 5, 5}, {4, 1, 1}};
  CHECK(best_of_others(values) == Chosen{1, 0, 0});  // without seed 0 setting 1; without 1 or 2: 5 and 5
  CHECK(at_chosen(values, best_of_others(values)) == std::vector<double>{4, 5, 5});
}

TEST_CASE("a lone seed chooses for itself; an incomplete one has no choice and does not choose for others") {
  CHECK(best_of_others({{3}, {2}}) == Chosen{1});
  const Rows values = {{1, NAN, 2}, {2, -100, 1}};
  CHECK(best_of_others(values) == Chosen{1, std::nullopt, 0});
  CHECK(std::isnan(at_chosen(values, best_of_others(values))[1]));
  CHECK(best_of_others({}).empty());
  CHECK(paired_difference({3, NAN, 5}, {1, 1, NAN}) == std::vector<double>{2});
}
