#include "lab/studies/search.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace search_test {

namespace {

std::string run_name(double rate, std::uint64_t seed) { return fmt::format("lr{}-s{}", rate, seed); }

/// losses[s][r] of seed s at rate r; a NaN is a run that has not finished.
StudyResults made_up(const std::vector<double>& rates, const std::vector<std::vector<double>>& losses) {
  StudyResults results;
  for (std::size_t s = 0; s < losses.size(); ++s)
    for (std::size_t r = 0; r < rates.size(); ++r)
      if (!std::isnan(losses[s][r]))
        results.records[run_name(rates[r], s)] = {
            .measured = {.numbers = {{"loss", losses[s][r]}}, .series = {}}, .seconds = 1};
  return results;
}

const std::vector<double> kRates = {0.1, 0.3, 1};
const double kOpen = std::nan("");

Search search_of(std::size_t seeds) {
  return {.rates = kRates, .seeds = seeds_from(0, static_cast<std::int64_t>(seeds)), .run = run_name};
}

}  // namespace

TEST_CASE("a seed does not choose the rate it is judged at") {
  // Seed 0 is so lucky at rate 1 that the mean of all is best there, and so are the others' choices.
  const StudyResults results = made_up(kRates, {{25, 23, 0}, {5, 2, 9}, {5, 2, 9}});
  const Found found = best_of(results, search_of(3));
  CHECK(found.rates == std::vector<double>{0.3, 1, 1});
  CHECK(found.values == std::vector<double>{23, 9, 9});
  CHECK(at_best(results, search_of(3), "loss") == found.values);
  CHECK(best_of(made_up(kRates, {{5, 3, 0}}), search_of(1)).values ==
        std::vector<double>{0});  // no other seed
}

TEST_CASE("a seed with a missing run is left out, and does not choose for others") {
  const StudyResults results = made_up(kRates, {{5, 3, 4}, {0, kOpen, 9}, {5, 4, 2}});
  const Found found = best_of(results, search_of(3));
  CHECK(found.values[0] == 4);  // seed 2 alone chooses: rate 1
  CHECK(std::isnan(found.values[1]));
  CHECK(found.values[2] == 4);
  CHECK(finite(found.values).size() == 2);
  CHECK(finite(best_of({}, search_of(3)).values).empty());
}

TEST_CASE("the largest rate that is good enough, by seed") {
  const StudyResults results = made_up(kRates, {{1, 3, 1}, {1, 3, 3}, {3, 3, 3}, {1, 1, kOpen}});
  const std::vector<double> largest = largest_rate(results, search_of(4), 2, 0.05);
  CHECK(largest[0] == 1);
  CHECK(largest[1] == 0.1);
  CHECK(largest[2] == 0.05);
  CHECK(std::isnan(largest[3]));
}

TEST_CASE("sensitivity is the mean over rates minus the best, seed by seed") {
  const StudyResults results = made_up(kRates, {{1, 2, 6}, {3, 3, 3}, {1, kOpen, 1}});
  const std::vector<double> all = sensitivities(results, search_of(3));
  CHECK(all[0] == doctest::Approx(2));
  CHECK(all[1] == 0);
  CHECK(std::isnan(all[2]));
  CHECK(count_below(results, search_of(2), 3) == std::vector<double>{2, 0});
  CHECK(std::isnan(count_below(results, search_of(3), 3)[2]));
}

TEST_CASE(
    "several searches choose together, and a run that never reached the target counts with the given value") {
  const StudyResults results = made_up({0.1, 0.3}, {{5, 1}, {5, 1}});
  const std::vector<std::uint64_t> seeds = {0, 1};
  const Search low{.rates = {0.1}, .seeds = seeds, .run = run_name},
      high{.rates = {0.3}, .seeds = seeds, .run = run_name};
  Found found = best_of(results, {low, high});
  CHECK(found.values == std::vector<double>{1, 1});
  CHECK(found.searches == std::vector<std::size_t>{1, 1});
  CHECK(found.runs == std::vector<std::string>{"lr0.3-s0", "lr0.3-s1"});
  Search largest{.rates = {0.1, 0.3}, .seeds = seeds, .run = run_name, .large_is_good = true};
  CHECK(best_of(results, largest).values == std::vector<double>{5, 5});
  StudyResults never = results;
  never.records["lr0.3-s0"].measured.numbers["loss"] = kOpen;
  largest.large_is_good = false, largest.otherwise = 9;
  CHECK(best_of(never, largest).values == std::vector<double>{9, 5});
}

TEST_CASE("means over lists, seed by seed") {
  const std::vector<double> means = mean_by_seed({{1, 2}, {3, kOpen}});
  CHECK(means[0] == 2);
  CHECK(std::isnan(means[1]));
  CHECK(mean_by_seed({}).empty());
}

TEST_CASE("the text of chosen rates") {
  CHECK(chosen_rates({.values = {1, 1, 1}, .rates = {0.3, 0.1, 0.3}}) == "0.3 (2 of 3)");
  CHECK(chosen_rates({.values = {1, kOpen}, .rates = {0.3, kOpen}}) == "0.3");
}

}  // namespace search_test
