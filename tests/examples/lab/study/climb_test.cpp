// The largest stable rate, from runs whose outcomes are known.
#include "lab/study/climb.h"

#include <doctest/doctest.h>

#include <map>
#include <utility>

using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace climb_test {

namespace {

const std::vector<std::uint64_t> kSeeds = {7, 8, 9};

/// Climbs five rates; fails[rate] of the seeds fail, the first ones.
Climbed climbed(const std::vector<std::size_t>& fails) {
  return climb(5, kSeeds, [&](std::size_t rate, std::uint64_t seed) {
    return std::optional(seed >= kSeeds.front() + fails.at(rate));
  });
}

}  // namespace

TEST_CASE("a climb ends at the first rate at which more than half of the seeds fail") {
  const Climbed found = climbed({0, 0, 2, 3, 3});
  CHECK(found.ended);
  CHECK(found.stable == 1U);
  CHECK(found.failing == 2U);
  CHECK(!found.at_edge());
  CHECK(found.runs.size() == 9);  // the rates above are not run
  CHECK(found.runs.back().rate == 2);
  CHECK(found.runs.back().seed == 9);
}

TEST_CASE("a rate at which one seed fails is not stable, nor is any above it") {
  const Climbed found = climbed({0, 1, 0, 0, 3});
  CHECK(found.stable == 0U);
  CHECK(found.failing == 4U);
  CHECK(!found.at_edge());
}

TEST_CASE("a climb that fails at the lowest rate, or at none, is at the edge of its ladder") {
  const Climbed lowest = climbed({2, 3, 3, 3, 3});
  CHECK(!lowest.stable);
  CHECK(lowest.failing == 0U);
  CHECK(lowest.at_edge());
  const Climbed none = climbed({0, 0, 0, 0, 1});
  CHECK(none.stable == 3U);
  CHECK(!none.failing);
  CHECK(none.at_edge());
}

TEST_CASE("a climb asks for all seeds of a rate, and says nothing before it has ended") {
  std::map<std::pair<std::size_t, std::uint64_t>, bool> finished;
  const auto now = [&] {
    return climb(5, kSeeds, [&](std::size_t rate, std::uint64_t seed) -> std::optional<bool> {
      const auto run = finished.find({rate, seed});
      return run == finished.end() ? std::nullopt : std::optional(run->second);
    });
  };
  CHECK(now().runs.size() == 3);
  finished[{0, 7}] = finished[{0, 8}] = true;
  CHECK(now().runs.size() == 3);
  finished[{0, 9}] = true;
  CHECK(now().runs.size() == 6);
  CHECK(!now().ended);
  CHECK(!now().stable);
  CHECK(!now().at_edge());
  for (const std::uint64_t seed : kSeeds) finished[{1, seed}] = false;
  CHECK(now().ended);
  CHECK(now().stable == 0U);
}

}  // namespace climb_test
