#include "lab/studies/update_size/update_size.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "lab/studies/update_size/stable.h"
#include "lab/training/trial.h"
#include "made_results.h"
#include "near.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

/// Post-LN survives up to 0.00056, the controls everywhere.
Measured made_rate(const std::string& run) {
  const double lr = std::atof(run.c_str() + run.rfind("-lr") + 3);
  const bool post = run.starts_with("rate-Post"), deep = run.starts_with("rate-DeepNorm");
  const double loss = post && lr > 6e-4 ? recall_task().context_free_loss() : 1.5;
  return {.numbers = {{"loss", loss},
                      {"gradient", deep ? 4 : 8},
                      {"update", post   ? 0.5
                                 : deep ? 0.05
                                        : 1.0}},
          .series = {{"losses", {3, loss}}, {"updates", {1, 0.5}}}};
}

}  // namespace

TEST_CASE("the study of update sizes: exponents of depth, and losses within a seed") {
  const auto measured = [](const std::string& run) -> Measured {
    if (run.starts_with("rate-")) return made_rate(run);
    if (run.starts_with("train")) {
      Measured trained{.numbers = {{"held.most", 1}, {"larger.first", 0.25}}, .series = {}};
      double loss = 1;
      for (const std::string arm : {"pre", "held", "slower", "post"}) {
        trained.numbers["loss." + arm] = loss;
        loss += 0.25;
        trained.numbers["learned." + arm] = 1;
        trained.series["losses." + arm] = trained.series["updates." + arm] = {3, 2, 1};
      }
      return trained;
    }
    const double depth = std::atof(run.c_str() + run.rfind("-L") + 2);
    const bool post = run.find("Post") != std::string::npos;
    const double size = run.find("DeepNorm") != std::string::npos ? 1 : std::pow(depth, post ? 1 : 0.25);
    return {
        .numbers = {{"gradient", 3}, {"logits", 1}, {"sgd", size}, {"update.1", size}, {"update.16", size}},
        .series = {{"updates", {1, 2}}}};
  };
  made::check_study("update-size", measured);
  const Study& study = study_named("update-size");
  const Figures figures = study.figures(made::made_results(study, Budget::full, measured));
  CHECK(figures.at("growth.first").front() == gradus::test::near(0.75));
  CHECK(figures.at("gradient.post").front() == doctest::Approx(0));
  CHECK(figures.at("over-deepnorm").front() == gradus::test::near(2));
  CHECK(figures.at("eased.held").front() == 0.5);
  CHECK(figures.at("learned.held").front() == 1);
  CHECK(figures.at("larger.first").front() == 0.25);
}

TEST_CASE("updates of survivors: Post-LN at its largest stable rate, the controls where it fails") {
  const Study& study = study_named("update-size");
  const auto measured = [](const std::string& run) {
    return run.starts_with("rate-") ? made_rate(run) : Measured{};
  };
  const auto figures_of = [&](const std::function<Measured(const std::string&)>& runs) {
    Figures figures;
    update_size::add_stable_figures(figures, made::made_results(study, Budget::full, runs));
    return figures;
  };
  const StudyResults results = made::made_results(study, Budget::full, measured);
  const update_size::StableGrid grid = update_size::stable_grid_of(results.options);
  const Climbed climbed = update_size::climb_of(results, grid);
  CHECK(grid.ladder.at(climbed.stable.value()) == 5.6e-4);
  CHECK(grid.ladder.at(climbed.failing.value()) == 1e-3);
  CHECK(!results.has(update_size::rate_name("Post-LN", 1.8e-3, grid.searching.front())));

  Figures figures = figures_of(measured);
  CHECK(figures.objections.empty());
  CHECK(figures.at("stable.fails") == std::vector<double>(12, 1.0));
  CHECK(figures.at("stable.survives.admin") == std::vector<double>(12, 1.0));
  CHECK(figures.at("stable.update.deepnorm").front() == doctest::Approx(1));
  CHECK(figures.at("stable.update.admin").front() == doctest::Approx(std::log10(0.5)));
  CHECK(figures.at("stable.gradient.deepnorm").front() == doctest::Approx(std::log10(2)));
  CHECK(figures.at("stable.gradient.admin").front() == 0);

  // A control that fails has no update; without five seeds nothing is decided.
  const auto failing = [&](const std::string& run) {
    Measured one = measured(run);
    const double seed = std::atof(run.c_str() + run.rfind("-s") + 2);
    if (run.starts_with("rate-Admin") && seed >= static_cast<double>(grid.judging.front() + 4))
      one.numbers["loss"] = 4;
    return one;
  };
  figures = figures_of(failing);
  CHECK(figures.at("stable.update.admin").size() == 4);
  CHECK(figures.objections.at("stable.update.admin").why == "failed runs on 8 of 12 seeds");
  CHECK(figures.at("stable.survives.admin").back() == 0);
  CHECK(!figures.objections.contains("stable.update.deepnorm"));

  // Post-LN that survives everywhere: the rate at which it fails is outside the ladder.
  const auto alive = [&](const std::string& run) {
    Measured one = measured(run);
    one.numbers["loss"] = 1.5;
    return one;
  };
  figures = figures_of(alive);
  CHECK(!figures.contains("stable.fails"));
  CHECK(figures.objections.at("stable.fails").why == "the search ends at its edge: Post-LN");
}

TEST_CASE("failed runs have no difference of losses with held updates") {
  const Study& study = study_named("update-size");
  StudyResults results{.options = {.budget = Budget::full}, .records = {}, .planned = 12};
  const std::vector<std::uint64_t> seeds = update_size::seeds_of(results.options);
  for (const std::uint64_t seed : seeds) {
    Measured& one = results.records[update_size::train_name(seed)].measured;
    one.numbers = {{"larger.first", 0}, {"learned.held", 0}, {"loss.held", 2}};
    one.numbers["loss.post"] = seed < seeds.front() + 3 ? 2.5 : recall_task().context_free_loss();
  }
  const Figures figures = study.figures(results);
  CHECK(figures.at("eased.held") == std::vector<double>(3, 0.5));
  CHECK(figures.objections.at("eased.held").why == "failed runs on 9 of 12 seeds");
}

TEST_CASE("a training at a rate: its largest early update, the same each time") {
  const Measured once = update_size::measure_rate("Post-LN", 1e-3, 1000, 2, 25),
                 again = update_size::measure_rate("Post-LN", 1e-3, 1000, 2, 25);
  CHECK(once.numbers == again.numbers);
  CHECK(once.numbers.at("gradient") > 0);
  const std::vector<double>& updates = once.series.at("updates");
  REQUIRE(updates.size() == 25);
  CHECK(once.numbers.at("update") == *std::max_element(updates.begin(), updates.begin() + 20));
  CHECK(once.numbers.at("loss") < 4);
}

TEST_CASE("sizes of updates: growing with their number, the same each time") {
  const Measured once = update_size::measure_sizes("Post-LN", 2, 1000),
                 again = update_size::measure_sizes("Post-LN", 2, 1000);
  CHECK(once.numbers == again.numbers);
  CHECK(once.numbers.at("update.1") > 0);
  CHECK(once.numbers.at("update.16") > 4 * once.numbers.at("update.1"));
  CHECK(once.numbers.at("update.16") < 0.5 * once.numbers.at("logits"));
  CHECK(once.series.at("updates").size() == 16);
}

TEST_CASE("held updates stay near Pre-LN's at the same step, and the others do not") {
  const Measured trained = update_size::measure_training(1000, 6, 12);
  const auto largest_ratio = [&](const char* series) {
    const std::vector<double>&values = trained.series.at(series), &pre = trained.series.at("updates.pre");
    double most = 0;
    for (std::size_t i = 0; i < pre.size(); ++i) most = std::max(most, values.at(i) / pre[i]);
    return most;
  };
  CHECK(largest_ratio("updates.held") < 1.06);
  CHECK(largest_ratio("updates.held") == trained.numbers.at("held.most"));
  CHECK(largest_ratio("updates.post") > 2);
  CHECK(trained.numbers.at("larger.first") ==
        doctest::Approx(std::log10(trained.series.at("updates.post").front() /
                                   trained.series.at("updates.pre").front())));
  CHECK(trained.series.at("losses.post").front() == trained.series.at("losses.held").front());
  CHECK(trained.numbers.at("loss.slower") != trained.numbers.at("loss.post"));
}
