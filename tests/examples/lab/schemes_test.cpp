#include "lab/start/schemes.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "gradus/core/error.h"
#include "near.h"

using namespace gradus;
using namespace gradus::lab;

TEST_CASE("before the first step no Post-LN gradient fades as the norms alone would have it") {
  const SchemeOptions options{.seeds = 4};
  const std::vector<SchemeState> states = measure_schemes(options);
  REQUIRE(states.size() == 10);
  const double alone = norms_alone(options.layers);
  CHECK(alone == test::near(0.00187, 0.01));  // (2/3)^15.5
  for (const SchemeState& state : states) {
    CAPTURE(title_of(state.scheme));
    CHECK(state.layers() == 32);
    CHECK(state.median.back() == 1);
    for (std::size_t l = 0; l < state.median.size(); ++l) {
      CHECK(state.low[l] <= state.median[l]);
      CHECK(state.median[l] <= state.high[l]);
    }
    const double first = state.median.front();
    const bool branches_are_small = state.scheme == Scheme::small || state.scheme == Scheme::gpt2;
    if (state.placement == Placement::post) {
      CHECK(state.low.front() > 50 * alone);
      CHECK(first > 0.2);
      CHECK(first < 3);
    } else {
      CHECK((branches_are_small ? first < 1.5 : first > 2));
    }
  }
}

TEST_CASE("initial weights that are the same are measured the same") {
  const SchemeOptions options{.layers = 3, .seeds = 2};
  const std::vector<SchemeState> a = measure_schemes(options), b = measure_schemes(options);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].median == b[i].median);
}

TEST_CASE("initial weights survive a file") {
  const std::vector<SchemeState> states = measure_schemes({.layers = 2, .seeds = 1});
  const std::vector<SchemeState> read = schemes_from(json_of(states));
  REQUIRE(read.size() == states.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].scheme == states[i].scheme);
    CHECK(read[i].placement == states[i].placement);
    CHECK(read[i].median == states[i].median);
    CHECK(read[i].high == states[i].high);
  }
  kit::Json json = json_of(states);
  json[0]["scheme"] = "zeros";
  CHECK_THROWS_WITH_AS(schemes_from(json), "lab: no initial weights are called \"zeros\"", Error);
}
