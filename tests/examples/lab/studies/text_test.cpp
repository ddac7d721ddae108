#include "lab/studies/text/text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>

#include "fabricated.h"
#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "lab/studies/studies.h"
#include "lab/studies/text/comparison.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace text_test {

namespace {

/// 4 - (4 - end) part / 20 in part 1 .. 20.
Measured made_up_run(double end) {
  std::vector<double> losses;
  for (int part = 1; part <= 20; ++part) losses.push_back(4 - (4 - end) * part / 20);
  return {.numbers = {{"loss", end}, {"diverged", 0}, {"context-free", 3.3}, {"bigram", 2.5}},
          .series = {{"losses", losses}}};
}

bool is_post(const std::string& run) { return run.starts_with("post"); }

bool has(const std::string& run, const char* word) { return run.find(word) != std::string::npos; }

/// The number after a letter or two in a run's name: number_in("...-lr0.002-s3130", "-lr") is 0.002.
double number_in(const std::string& run, const std::string& word) {
  return std::strtod(run.c_str() + run.rfind(word) + word.size(), nullptr);
}

bool judges(const std::string& run) { return number_in(run, "-s") >= 3200; }

/// The loss of a run: a valley over rates with its bottom at `best`, and a little for the seed.
double valley(const std::string& run, double best = 2e-3) {
  return 1.8 + 0.05 * std::abs(std::log2(number_in(run, "-lr") / best)) +
         0.001 * std::fmod(number_in(run, "-s"), 3);
}

/// The full form with all runs of its searches, which follow from each other.
StudyResults finished(const std::function<double(const std::string& run)>& loss) {
  const Study study = text_study();
  StudyResults results{{.budget = Budget::full, .seed = kFullSeed}, {}, 0};
  for (std::size_t before = 1; before != results.records.size();) {
    before = results.records.size();
    const std::vector<StudyRun> runs = planned(study, results.options, results.records).runs;
    for (const StudyRun& run : runs) {
      if (results.has(run.name)) continue;
      Measured measured = made_up_run(loss(run.name));
      // Of 24 layers: without scaling only the first matters; with it, half as much, and the last ones, too.
      measured.series["drop"] = std::vector<double>(24, 0.0);
      measured.series["drop"][0] = has(run.name, "scaled") ? 0.5 : 1;
      measured.series["drop"][23] = has(run.name, "scaled") ? 0.3 : 0;
      results.records[run.name] = {measured, 1};
    }
    results.planned = runs.size();
  }
  return results;
}

std::string outcome(const StudyResults& results, int number, const std::string& id) {
  return test::outcome(text_study().figures(results), number, id);
}

/// Post-LN of 12 layers, 0.05 above Pre-LN, fails on so many of the seeds that judge.
StudyResults post_fails_on(double seeds) {
  return finished([=](const std::string& run) {
    if (!has(run, "best-post-L12")) return valley(run);
    return judges(run) && number_in(run, "-s") < 3230 + seeds ? 3.3 : valley(run) + 0.05;
  });
}

}  // namespace

TEST_CASE("text: the share of steps after which a training reaches another's final loss") {
  CHECK(real_text::share_to({4, 3, 2, 1}, 3) == 0.5);
  CHECK(real_text::share_to({4, 3, 2, 1}, 2.5) == 0.625);  // half way from the second part to the third
  CHECK(real_text::share_to({4, 3, 2, 1}, 9) == 0.25);
  CHECK(real_text::share_to({4, 3, 2, 1}, 1) == 1);
  CHECK(real_text::share_to({4, 3, 2, 1}, 0.5) == 1);  // never
  CHECK(std::isnan(real_text::share_to({}, 1)));
}

TEST_CASE("text: the first measurement has one number per seed") {
  const Study study = text_study();
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const StudyResults results = test::fabricated(study, {.budget = budget}, [](const std::string& run) {
      return made_up_run(is_post(run) ? 2.5 : 2.0);
    });
    const Figures figures = real_text::first_figures(results);
    for (const auto& figure : figures) {
      CAPTURE(figure.first);
      CHECK(figure.second.size() == real_text::grid_of(results.options).seeds.size());
    }
    CHECK(figures.at("end.L12").front() == 0.5);                    // Post-LN minus Pre-LN
    CHECK(figures.at("without.L4").front() == -0.5);                // Pre-LN minus Post-LN
    CHECK(figures.at("time.L4").front() == doctest::Approx(0.75));  // 4 - 2 * 0.75 = 2.5
  }
}

TEST_CASE("text: the runs that are recorded keep their names") {
  std::set<std::string> first;
  for (const StudyRun& run : text_study().plan({.budget = Budget::full, .seed = kFullSeed}))
    if (!run.name.starts_with("best-") && !run.name.starts_with("deep-")) first.insert(run.name);
  CHECK(first.size() == 120);
  CHECK(first.contains("pre-L12-w0-lr0.0005-s3000"));
  CHECK(first.contains("post-L4-w100-lr0.008-s3004"));
}

TEST_CASE("text: the finished searches have every measure of its claims, one number per judging seed") {
  const StudyResults results = finished([](const std::string& run) { return valley(run); });
  CHECK(results.complete());
  const Figures figures = text_study().figures(results);
  for (const Claim& claim : claims())
    for (const Measure& measure : claim.measures) {
      if (claim.study != "text") continue;
      CAPTURE(measure.id);
      REQUIRE(figures.contains(measure.id));
      CHECK(figures.at(measure.id).size() == (claim.number == 65 ? 10 : 12));
      CHECK(measure.prediction.has_value());
      CHECK(!claim.prediction.empty());
    }
  CHECK(figures.objections.empty());
  CHECK(figures.at("share.pre").front() == 0);
  CHECK(figures.at("share.scaling").front() == doctest::Approx(0.375));  // 0.3 of 0.8
  CHECK(figures.at("rise.scaling").front() == doctest::Approx(0.3 / 12));
  CHECK(figures.at("loss.scaling").front() == 0);
  const real_text::Comparison comparison = real_text::placements_compared(results.options);
  const real_text::Choice post(results, comparison, comparison.arms.at(3));
  CHECK(post.arm().title() == "Post-LN, 12 layers");
  CHECK(post.chosen(1)->rate == 2e-3);
}

TEST_CASE("text: some seeds search, others judge") {
  // On the searching seeds Post-LN is lucky with initial weights that are bad on the others.
  const StudyResults results = finished([](const std::string& run) {
    if (!has(run, "best-post") || !has(run, "fan_in")) return valley(run);
    return valley(run) + (judges(run) ? 0.1 : -0.1);
  });
  CHECK(outcome(results, 55, "best.L12") == "yes");
  const Figures figures = text_study().figures(results);
  for (const double difference : figures.at("best.L12")) CHECK(difference == doctest::Approx(0.1));
  // Initial weights that are bad for one placement do not count against it.
  const StudyResults equal = finished(
      [](const std::string& run) { return has(run, "best-post") && has(run, "gpt2") ? 3.3 : valley(run); });
  CHECK(outcome(equal, 55, "best.L12") == "no");
}

TEST_CASE("text: an arm's best has the better warm-up, but claim 56 compares those it names") {
  const StudyResults results = finished([](const std::string& run) {
    return valley(run) + (has(run, "-w0-") ? (has(run, "best-pre") ? 0.07 : -0.03) : 0);
  });
  const Figures figures = text_study().figures(results);
  for (const double value : figures.at("best.L4")) CHECK(value == doctest::Approx(-0.03));
  for (const double value : figures.at("as-well.L4")) CHECK(value == doctest::Approx(0.07));
  CHECK(outcome(results, 55, "best.L4") == "no");
  CHECK(outcome(results, 56, "as-well.L4") == "no");
}

TEST_CASE("text: less time counts seeds; a loss that is not reached has none") {
  const auto post_above = [](double by) {
    return finished([=](const std::string& run) { return valley(run) + (has(run, "-post-") ? by : 0); });
  };
  const Figures sooner = text_study().figures(post_above(0.3)),
                never = text_study().figures(post_above(-0.1));
  CHECK(sooner.at("sooner.L4") == std::vector<double>(12, 1));  // 1.9 of 2.2 nats: 86% of the steps
  CHECK(never.at("sooner.L4") == std::vector<double>(12, 0));
  CHECK(outcome(post_above(0.3), 56, "sooner.L12") == "yes");
  CHECK(outcome(post_above(-0.1), 56, "sooner.L12") == "no");
}

TEST_CASE("text: a search at the end of its ladder decides nothing") {
  const StudyResults results = finished([](const std::string& run) {
    return has(run, "best-post-L12") ? valley(run, 1e-5) + 0.05 : valley(run);
  });
  CHECK(outcome(results, 55, "best.L12") == "not decided: the search ends at its edge: Post-LN, 12 layers");
  CHECK(outcome(results, 55, "best.L4") == "no");
}

TEST_CASE("text: failed runs are apart, and an arm that trains nowhere is not compared") {
  const StudyResults some = post_fails_on(3);
  const Figures figures = text_study().figures(some);
  for (const char* id : {"best.L12", "as-well.L12", "sooner.L12"}) CHECK(figures.at(id).size() == 9);
  for (const double difference : figures.at("best.L12")) CHECK(difference == doctest::Approx(0.05));
  CHECK(figures.at("best.L4").size() == 12);
  CHECK(outcome(some, 55, "best.L12") == "yes");
  CHECK(outcome(post_fails_on(8), 55, "best.L12") == "not decided: failed runs on 8 of 12 seeds");
  CHECK(test::page_of(text_study(), some).find("3 of 12") != std::string::npos);
  const StudyResults nowhere = finished([](const std::string& run) {
    return has(run, "best-post-L12") ? valley(run) + 1 : valley(run);  // above the bigram
  });
  CHECK(outcome(nowhere, 55, "best.L12") == "not measured: Post-LN, 12 layers trains nowhere");
  CHECK(outcome(nowhere, 56, "sooner.L12") == "not measured: Post-LN, 12 layers trains nowhere");
}

TEST_CASE("text: any part of the searches has a page") {
  const StudyResults results = finished([](const std::string& run) { return valley(run); });
  test::check_pages(text_study(), results);
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
                           Measured measured = made_up_run(is_post(run) ? post : pre);
                           if (run.starts_with("deep-")) measured.series["drop"] = {1, 0, 0, 0};
                           return measured;
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
  for (const Figures& figures : {study.figures(few), real_text::first_figures(few)})
    for (const auto& [id, values] : figures) CHECK(values.empty());
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

  // The runs that judge follow from those that search.
  StudyResults searched{{.budget = Budget::quick, .data = file}, {}, 0};
  for (const StudyRun& run : study.plan(searched.options)) searched.records[run.name] = {made_up_run(2), 1};
  std::set<std::string> judging;
  for (const StudyRun& run : study.next(searched).runs)
    if (run.name == "deep-scaled-L4-gpt2-w5-lr0.002-s250") {
      judging.insert(run.name);
      const Measured deep = run.measure();
      CHECK(deep.numbers.at("loss") < deep.numbers.at("start"));
      CHECK(deep.series.at("drop").size() == 4);
    }
  CHECK(judging.size() == 1);
}

}  // namespace text_test
