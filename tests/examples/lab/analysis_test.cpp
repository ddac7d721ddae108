#include "lab/studies/compare/analysis/analysis.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"
#include "lab/training/trial.h"
#include "made_up.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;
using test::made_up;
using test::small_grid;

TEST_CASE("a cell has all seeds of its setting") {
  const Analysis analysis = analyse(made_up(small_grid(), [](const RunOptions& run) {
    return run.placement == nn::pre_ln() ? 1.0 + 0.1 * static_cast<double>(run.seed) : 2.0;
  }));
  const Cell& cell = analysis.cell(nn::pre_ln(), 6, 0.003, 100);
  CHECK(cell.runs.size() == 3);
  CHECK(cell.loss.mean == doctest::Approx(1.1));
  CHECK(cell.loss.std == doctest::Approx(0.1));
  CHECK(cell.loss.low == doctest::Approx(1.0));
  CHECK(cell.loss.high == doctest::Approx(1.2));
  CHECK(cell.learned_count() == 3);
  CHECK(cell.diverged == 0);
  CHECK(analysis.cell(nn::post_ln(), 6, 0.003, 100).learned_count() == 0);
  CHECK(analysis.grid.size() == 3 * 3 * 2 * 2);
  CHECK(analysis.ablations.size() == 4);
  CHECK(analysis.ablations[0].runs.size() == 3);
  CHECK_THROWS_WITH_AS(analysis.cell(nn::pre_ln(), 7, 0.003, 100),
                       "lab: the grid has no setting pre-L7-lr0.003-w100-s0", Error);
}

TEST_CASE("a run that diverged, or ended above its start, counts with its loss at the start") {
  const Analysis analysis = analyse(made_up(small_grid(), [](const RunOptions& run) -> std::optional<double> {
    if (run.seed == 0) return std::nullopt;
    return run.seed == 1 ? 7.0 : 1.0;
  }));
  const Cell& cell = analysis.cell(nn::pre_ln(), 2, 0.001, 0);
  CHECK(cell.losses == std::vector<double>{4, 4, 1});
  CHECK(cell.diverged == 1);
  CHECK(cell.learned == std::vector<bool>{false, false, true});
}

TEST_CASE("the sensitivity is the mean over rates minus the best rate") {
  const Analysis analysis =
      analyse(made_up(small_grid(2), [](const RunOptions& run) -> std::optional<double> {
        if (run.placement == nn::post_ln() && run.lr == 0.01) return std::nullopt;  // counts as 4
        return run.lr == 0.003 ? 1.0 : 1.3;
      }));
  CHECK(analysis.sensitivity(nn::pre_ln(), 12, 0).values.size() == 2);
  CHECK(analysis.sensitivity(nn::pre_ln(), 12, 0).spread.mean == doctest::Approx(0.2));
  CHECK(analysis.sensitivity(nn::post_ln(), 12, 0).spread.mean == doctest::Approx(6.3 / 3 - 1));
}

TEST_CASE("seeds that lack a rate have no sensitivity") {
  Results results = made_up(small_grid(2), [](const RunOptions&) { return 1.0; });
  std::erase_if(results.runs, [](const RunRecord& run) {
    return run.options.seed == 1 && run.options.lr == 0.01 && run.options.layers == 12;
  });
  const Analysis analysis = analyse(results);
  CHECK(analysis.sensitivity(nn::pre_ln(), 12, 0).seeds == std::vector<std::uint64_t>{0});
  CHECK(analysis.sensitivity(nn::pre_ln(), 6, 0).seeds.size() == 2);
  CHECK_FALSE(results.complete());
  CHECK(analysis.finished < analysis.planned);
}

TEST_CASE("the best loss of a seed is its own, over rates and warm-ups") {
  // Each seed is lucky at another rate: no setting is best for all.
  Results results = made_up(small_grid(), [](const RunOptions& run) {
    const double lucky[] = {0.001, 0.003, 0.01};
    return run.warmup == 100 && run.lr == lucky[run.seed] ? 0.95 : 1.0;
  });
  CHECK(analyse(results).best(nn::post_ln(), 6, 0)->loss == 0.95);
  CHECK(analyse(results).best(nn::post_ln(), 6, 2)->loss == 0.95);
  CHECK_FALSE(analyse(results).best(nn::post_ln(), 7, 0));
  CHECK_FALSE(analyse(results).best(nn::post_ln(), 6, 3));
  CHECK(analyse(results).best(nn::post_ln(), 6, 0)->lr == 0.001);
  CHECK(analyse(results).best(nn::post_ln(), 6, 2)->lr == 0.01);
  std::erase_if(results.runs,
                [](const RunRecord& run) { return run.options.name() == "post-L6-lr0.01-w0-s1"; });
  CHECK_FALSE(analyse(results).best(nn::post_ln(), 6, 1));  // not all of its tries have finished
  CHECK(analyse(results).best(nn::pre_ln(), 6, 1)->loss == 0.95);
}

TEST_CASE("of rates that are equally good, one inside the grid is the best") {
  const Analysis analysis = analyse(made_up(small_grid(), [](const RunOptions&) { return 1.0; }));
  CHECK(analysis.best(nn::pre_ln(), 6, 0)->lr == 0.003);
}

TEST_CASE("steps to a loss go by the mean of the last 20") {
  std::vector<double> losses(100, 2.0);
  CHECK(std::isnan(steps_to(losses, 1)));
  for (std::size_t i = 30; i < 100; ++i) losses[i] = 1;
  CHECK(steps_to(losses, 1) == 50);
  CHECK(steps_to(losses, 1.5) == 40);
  losses[70] = 0;  // one lucky batch is not enough
  CHECK(steps_to(losses, 0.9) != 71);
  CHECK(std::isnan(steps_to({}, 1)));
  CHECK(std::isnan(steps_to(std::vector<double>(19, 0.0), 1)));
}

TEST_CASE("the target and the baseline depend on whether the entropy is known") {
  Results results = made_up(small_grid(), [](const RunOptions&) { return 1.0; });
  const Analysis known = analyse(results);
  CHECK(known.baseline.n == 3);
  CHECK(known.target == doctest::Approx(0.9 + 0.25 * 0.5));
  CHECK(known.floor() == 0.9);
  results.task.entropy.reset();
  const Analysis text = analyse(results);
  CHECK(text.baseline.label() == "the 1-gram baseline");
  CHECK(text.baseline.loss == 3.1);
  CHECK(text.target == 2.0);
  CHECK(text.floor() == 0);
}

TEST_CASE("pairs are of the same seed") {
  Results results = made_up(small_grid(), [](const RunOptions& run) {
    return 1.0 + (run.placement == nn::post_ln() ? 0.5 : 0.0) + 0.1 * static_cast<double>(run.seed);
  });
  std::erase_if(results.runs, [](const RunRecord& run) {
    return run.options.placement == nn::pre_ln() && run.options.seed == 1;
  });
  const Analysis analysis = analyse(results);
  const std::vector<double> differences =
      paired(analysis.cell(nn::pre_ln(), 2, 0.001, 0), analysis.cell(nn::post_ln(), 2, 0.001, 0));
  REQUIRE(differences.size() == 2);
  CHECK(differences[0] == doctest::Approx(0.5));
  CHECK(differences[1] == doctest::Approx(0.5));
}
