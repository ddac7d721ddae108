#include "lab/study/halving.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace halving_test {

namespace {

using Loss = std::function<double(const Setting&, std::uint64_t)>;

/// Two families, a grid of three of seven rates, three seeds.
Halving small() {
  return {.families = 2,
          .ladder = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1},
          .first = 2,
          .last = 4,
          .seeds = {11, 12, 13},
          .kept = {3, 1}};
}

/// Runs the search to its end.
Searched searched(const Halving& plan, const Loss& loss) {
  std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, double> done;
  for (;;) {
    const Searched found = search(plan, [&](const Setting& setting, std::uint64_t seed) {
      const auto run = done.find({setting.family, setting.rate, seed});
      return run == done.end() ? std::nullopt : std::optional(run->second);
    });
    if (found.chosen) return found;
    const std::size_t before = done.size();
    for (const Searched::Run& run : found.runs)
      done[{run.setting.family, run.setting.rate, run.seed}] = loss(run.setting, run.seed);
    REQUIRE(done.size() > before);
  }
}

/// A valley over rates around `best`, deeper in family 1.
Loss valley(double best) {
  return [best](const Setting& setting, std::uint64_t) {
    return std::abs(static_cast<double>(setting.rate) - best) + (setting.family == 1 ? 0 : 0.1);
  };
}

std::size_t on_seed(const Searched& found, std::uint64_t seed) {
  std::size_t count = 0;
  for (const Searched::Run& run : found.runs) count += run.seed == seed;
  return count;
}

}  // namespace

TEST_CASE(
    "a search tries all settings on one seed, the best on the next, and does not grow a grid that contains "
    "the best") {
  const Searched found = searched(small(), valley(3));
  CHECK(*found.chosen == Setting{1, 3});
  CHECK(!found.at_edge);
  CHECK(found.mean == 0);
  CHECK(found.rounds == 3);
  CHECK(on_seed(found, 11) == 6);
  CHECK(on_seed(found, 12) == 3);
  CHECK(on_seed(found, 13) == 1);
}

TEST_CASE("a grid grows until its best rate is inside") {
  for (const double best : {1.0, 5.0}) {
    const Searched found = searched(small(), valley(best));
    CHECK(static_cast<double>(found.chosen->rate) == best);
    CHECK(!found.at_edge);
  }
}

TEST_CASE("a search that reaches the end of its ladder says so") {
  for (const double best : {-1.0, 7.0}) {
    const Searched found = searched(small(), valley(best));
    CHECK(found.chosen->rate == (best < 0 ? 0 : 6));
    CHECK(found.at_edge);
  }
}

TEST_CASE("a grid also grows in a later round, and a late rung runs on all seeds before it is compared") {
  // On seed 11 the best rate is inside; on the others the last one is, and the next rung is better still.
  const Searched found = searched(small(), [](const Setting& setting, std::uint64_t seed) {
    return seed == 11 ? valley(3.4)(setting, seed) * 0.1 : valley(5)(setting, seed);
  });
  CHECK(found.chosen->rate == 5);
  CHECK(!found.at_edge);
  std::size_t seeds = 0;
  for (const Searched::Run& run : found.runs) seeds += run.setting == *found.chosen;
  CHECK(seeds == 3);
}

TEST_CASE("one lucky seed does not choose alone") {
  const Loss lucky = [](const Setting& setting, std::uint64_t seed) {
    if (setting == Setting{0, 2}) return seed == 11 ? -1.0 : 9.0;
    return valley(3)(setting, seed);
  };
  CHECK(*searched(small(), lucky).chosen == Setting{1, 3});
}

TEST_CASE("seeds that search do not judge") {
  CHECK_NOTHROW(check_apart({1, 2}, {3, 4}));
  CHECK_THROWS_WITH(check_apart({1, 2}, {2, 3}),
                    "search: seed 2 chooses settings and judges them; expects other seeds to judge");
}

}  // namespace halving_test
