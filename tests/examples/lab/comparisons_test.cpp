#include "lab/studies/compare/analysis/comparisons.h"

#include <doctest/doctest.h>

#include "made_up.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;
using test::jitter;
using test::made_up;
using test::small_grid;

namespace {

Comparisons compared(const Settings& options, const test::Outcome& outcome) {
  return comparisons_of(analyse(made_up(options, outcome)));
}

}  // namespace

TEST_CASE("settings that share a seed are one observation") {
  // Seeds 0 and 1: Post-LN fails at all 18 settings. Seed 2: Pre-LN fails at one. Counted by pairs of runs
  // that would be 36 to 1, p = 6e-10 by McNemar's test; by seeds it is 2 to 1, which is common by chance.
  const Comparisons all = compared(small_grid(), [](const RunOptions& run) {
    const bool post_fails = run.placement == nn::post_ln() && run.seed < 2;
    const bool pre_fails =
        run.placement == nn::pre_ln() && run.seed == 2 && run.name() == "pre-L6-lr0.003-w0-s2";
    return post_fails || pre_fails ? 2.9 : 0.93 + jitter(run);
  });
  CHECK(all.pairs == 54);
  CHECK(all.runs_learned[0] == 53);
  CHECK(all.runs_learned[1] == 18);
  CHECK(all.learned.difference.up == 2);
  CHECK(all.learned.difference.down == 1);
  CHECK(all.learned.difference.high == 18);
  CHECK(all.learned.difference.low == -1);
  CHECK(all.learned.p == 1);
  CHECK_FALSE(all.learned.clear());
}

TEST_CASE("six seeds that agree answer the first question, and no other of ten") {
  const auto post_higher = [](const RunOptions& run) {
    return (run.placement == nn::post_ln() && run.layers == 12 ? 2.9 : 0.93) + jitter(run);
  };
  const Comparisons six = compared(small_grid(6), post_higher);
  CHECK(six.learned.p == doctest::Approx(2 / 64.0));
  CHECK(six.learned.clear());
  CHECK(six.others() == 1 + 3 + 1 + 4);
  CHECK(six.loss.difference.up == 6);
  CHECK(six.loss.p == doctest::Approx(9 * 2 / 64.0));
  CHECK_FALSE(six.loss.clear());
  CHECK_FALSE(compared(small_grid(5), post_higher).learned.clear());

  const Comparisons nine = compared(small_grid(9), post_higher);
  CHECK(nine.loss.p == doctest::Approx(9 * 2 / 512.0));
  CHECK(nine.loss.clear());
  CHECK(nine.best[2].comparison.clear());  // 12 layers
  CHECK_FALSE(nine.best[0].comparison.clear());
}

TEST_CASE("each seed chooses its own best setting of a depth") {
  const double rates[] = {0.001, 0.003, 0.01};
  const Comparisons all = compared(small_grid(), [&](const RunOptions& run) {
    if (run.placement == nn::pre_ln()) return 1.0;
    return run.lr == rates[run.seed] && run.warmup == 0 ? 0.95 : 1.2;
  });
  REQUIRE(all.best.size() == 3);
  CHECK(all.best[0].layers == 2);
  CHECK(all.best[0].loss[0] == doctest::Approx(1.0));
  CHECK(all.best[0].loss[1] == doctest::Approx(0.95));  // the best setting's mean over seeds would be 1.117
  CHECK(all.best[0].comparison.difference.down == 3);
}

TEST_CASE("seeds that have not finished a depth do not count for it") {
  Results results = made_up(small_grid(2), [](const RunOptions& run) { return 1.0 + jitter(run); });
  std::erase_if(results.runs,
                [](const RunRecord& run) { return run.options.seed == 1 && run.options.layers == 12; });
  const Comparisons all = comparisons_of(analyse(results));
  CHECK(all.best[0].comparison.difference.count == 2);
  CHECK(all.best[2].comparison.difference.count == 1);
  CHECK(all.learned.difference.count == 2);  // over its finished settings
  results.runs.clear();
  const Comparisons none = comparisons_of(analyse(results));
  CHECK(none.pairs == 0);
  CHECK(none.learned.difference.count == 0);
  CHECK(none.best.empty());
  CHECK(none.deepest.empty());
  CHECK(none.ablations.empty());
}
