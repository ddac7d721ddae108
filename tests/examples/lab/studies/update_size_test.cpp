#include "lab/studies/update_size/update_size.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "made_results.h"
#include "near.h"

using namespace gradus;
using namespace gradus::lab;

TEST_CASE("the study of update sizes: exponents of depth, and losses within a seed") {
  const auto measured = [](const std::string& run) -> Measured {
    if (run.starts_with("train")) {
      Measured trained{.numbers = {{"held.most", 1}, {"larger.first", 0.25}}, .series = {}};
      double loss = 1;
      for (const std::string arm : {"pre", "held", "slower", "post"}) {
        trained.numbers["loss." + arm] = loss++;
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
  CHECK(figures.at("eased.held").front() == 2);
  CHECK(figures.at("learned.held").front() == 1);
  CHECK(figures.at("larger.first").front() == 0.25);
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
