#include "lab/statistics/outcomes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "lab/statistics/statistics.h"

using namespace gradus::lab;

TEST_CASE("a run that ends at the context-free loss has failed, and no mean is over both kinds") {
  const std::vector<double> losses = {1.0, 3.0, 1.2, 3.5, std::nan("")};
  const Survival survival = survival_of(losses, 3.0);
  CHECK(survival.failed == 3);
  CHECK(survival.runs == 5);
  CHECK(survival.surviving == std::vector<double>{1.0, 1.2});
  CHECK(mean(survival.surviving) == doctest::Approx(1.1));
  CHECK(survival.share.low == doctest::Approx(share_interval(3, 5, 0.95).low));
  CHECK(survival.share.high == doctest::Approx(share_interval(3, 5, 0.95).high));
  CHECK(survival_of(std::vector<double>{}, 3).surviving.empty());
  const std::vector<double> kept = without_failed(losses, 3.0);
  CHECK(kept[0] == 1.0);
  CHECK(kept[2] == 1.2);
  for (const std::size_t failed : {1, 3, 4}) CHECK(std::isnan(kept[failed]));
}

TEST_CASE("a target that is not reached has no number of steps") {
  const std::vector<double> steps = {300, std::nan(""), 100, std::nan("")};
  const Reached all = reached_of(steps);
  CHECK(all.reached == 2);
  CHECK(all.runs == 4);
  CHECK(all.steps == std::vector<double>{100, 300});
  CHECK(all.open_after(99) == 1);
  CHECK(all.open_after(100) == 0.75);
  CHECK(all.open_after(1e9) == 0.5);  // never comes down to 0
}

TEST_CASE("a run that never reaches the target is not sooner, and later than one that does") {
  const double never = std::nan("");
  CHECK(sooner(100, 120) == 1);
  CHECK(sooner(100, 100) == 1);
  CHECK(sooner(100, 105, 1.1) == 0);
  CHECK(sooner(100, 110, 1.1) == 1);
  CHECK(sooner(100, never, 1.1) == 1);
  CHECK(sooner(never, 100, 1.1) == 0);
  CHECK(sooner(never, never, 1.1) == 0);
}
