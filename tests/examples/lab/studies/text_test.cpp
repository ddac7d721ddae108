#include "lab/studies/text/text.h"

#include <doctest/doctest.h>

#include <cmath>

#include "fabricated.h"
#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "lab/studies/studies.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

/// 4 - (4 - end) part / 20 in part 1 .. 20.
Measured made_up_run(double end) {
  std::vector<double> losses;
  for (int part = 1; part <= 20; ++part) losses.push_back(4 - (4 - end) * part / 20);
  return {.numbers = {{"loss", end}, {"diverged", 0}, {"context-free", 3.3}, {"bigram", 2.5}},
          .series = {{"losses", losses}}};
}

bool is_post(const std::string& run) { return run.starts_with("post"); }

}  // namespace

TEST_CASE("text: the share of steps after which a training reaches another's final loss") {
  CHECK(real_text::share_to({4, 3, 2, 1}, 3) == 0.5);
  CHECK(real_text::share_to({4, 3, 2, 1}, 2.5) == 0.625);  // half way from the second part to the third
  CHECK(real_text::share_to({4, 3, 2, 1}, 9) == 0.25);
  CHECK(real_text::share_to({4, 3, 2, 1}, 1) == 1);
  CHECK(real_text::share_to({4, 3, 2, 1}, 0.5) == 1);  // never
  CHECK(std::isnan(real_text::share_to({}, 1)));
}

TEST_CASE("text: every measure of its claims comes from its runs, one number per seed") {
  const Study study = text_study();
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const StudyResults results = test::fabricated(study, {.budget = budget}, [](const std::string& run) {
      return made_up_run(is_post(run) ? 2.5 : 2.0);
    });
    const Figures figures = study.figures(results);
    const std::size_t seeds = real_text::grid_of(results.options).seeds.size();
    for (const std::string& id : test::measures_of(study)) {
      CAPTURE(id);
      REQUIRE(figures.contains(id));
      CHECK(figures.at(id).size() == seeds);
    }
    CHECK(figures.at("end.L12").front() == 0.5);                    // Post-LN minus Pre-LN
    CHECK(figures.at("without.L4").front() == -0.5);                // Pre-LN minus Post-LN
    CHECK(figures.at("time.L4").front() == doctest::Approx(0.75));  // 4 - 2 * 0.75 = 2.5
  }
}

TEST_CASE("text: a seed is judged at the rate that the others chose") {
  const Study study = text_study();
  // The highest rate is best for seed 7 by luck; for the others the middle one is.
  const StudyResults results =
      test::fabricated(study, {.budget = Budget::standard, .seed = 7}, [](const std::string& run) {
        const bool lucky = run.find("lr0.008-s7") != std::string::npos;
        return made_up_run(lucky ? 1.0 : run.find("lr0.002-") != std::string::npos ? 2.0 : 2.2);
      });
  const std::vector<double> losses =
      best_of(results, real_text::grid_of(results.options).searches("Pre-LN", 4, {0})).values;
  CHECK(losses.at(0) == 2.0);
}

TEST_CASE("text: the page says which placement ends lower, and exists without runs and with a few") {
  const Study study = text_study();
  const StudyOptions options{.budget = Budget::quick};
  const auto page = [&](double pre, double post) {
    return test::page_of(study, test::fabricated(study, options, [&](const std::string& run) {
                           return made_up_run(is_post(run) ? post : pre);
                         }));
  };
  CHECK(page(2.0, 2.1).find("Pre-LN ends lower, on each of 3 seeds") != std::string::npos);
  CHECK(page(2.0, 2.1).find("Post-LN ends lower") == std::string::npos);
  CHECK(page(2.1, 2.0).find("Post-LN ends lower, on each of 3 seeds") != std::string::npos);
  CHECK(page(2.0, 3.3).find("3 of 3") != std::string::npos);  // failed
  const StudyResults few = test::fabricated(
      study, options, [](const std::string&) { return made_up_run(2); },
      [](const std::string& run) { return run.ends_with("s0") && is_post(run); });
  CHECK(test::page_of(study, few).find("too few runs") != std::string::npos);
  for (const auto& [id, values] : study.figures(few)) CHECK(values.empty());
  CHECK(!test::page_of(study, {.options = options, .records = {}, .planned = 24}).empty());
}

TEST_CASE("text: a run reads the file of --data, or the one in its folder, and is the same each time") {
  const test::ScratchFolder folder;
  const std::filesystem::path file = folder / "tinyshakespeare.txt";
  std::string text;
  for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i * i % 97) + " of a play\n";
  kit::replace_file(file, text);
  const Study study = text_study();
  CHECK(study.files(file) == study.files(folder.path()));
  CHECK_THROWS_WITH_AS(study.files(folder / "none"), doctest::Contains("expects a text file"), Error);

  const auto measured = [&](const std::filesystem::path& data) {
    for (const StudyRun& run : study.plan({.budget = Budget::quick, .data = data}))
      if (run.name == "pre-L4-w0-lr0.002-s0") return run.measure();
    return Measured{};
  };
  const Measured one = measured(file);
  CHECK(one.numbers == measured(folder.path()).numbers);
  CHECK(one.numbers.at("loss") < 2.5);  // of about 3.1 at the start
  CHECK(one.series.at("losses").size() == 20);
}
