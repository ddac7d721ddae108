// Properties of all studies.
#include "lab/studies/studies.h"

#include <doctest/doctest.h>

#include <set>

#include "gradus/kit/data/files.h"
#include "lab/claims/ledger.h"
#include "lab/program/study_page.h"
#include "support.h"

using namespace gradus::lab;

TEST_CASE("plans name each run once, and are the same each time") {
  for (const Study& study : studies())
    for (const Budget budget : {Budget::quick, Budget::standard, Budget::full}) {
      INFO(study.name, " ", name_of(budget));
      const std::vector<StudyRun> plan = study.plan({.budget = budget}),
                                  again = study.plan({.budget = budget});
      REQUIRE(plan.size() == again.size());
      CHECK(!plan.empty());
      std::set<std::string> names;
      for (std::size_t i = 0; i < plan.size(); ++i) {
        CHECK(names.insert(plan[i].name).second);
        CHECK(plan[i].name == again[i].name);
        CHECK(plan[i].name.find_first_of(", \n\"") == std::string::npos);  // names are written to CSV
        CHECK(plan[i].seconds > 0);
      }
    }
}

TEST_CASE("budgets: quick in a minute on two cores, standard in half an hour, all full ones in ten hours") {
  double quick = 0, full = 0;
  for (const Study& study : studies()) {
    INFO(study.name);
    const auto seconds = [&](Budget budget) {
      double sum = 0;
      const Following all = planned(study, {.budget = budget}, {});
      for (const StudyRun& run : all.runs) sum += run.seconds;
      return sum + all.seconds_later;
    };
    CHECK(seconds(Budget::quick) <= 2 * 60);
    CHECK(seconds(Budget::standard) <= 2 * 30 * 60);
    quick += seconds(Budget::quick);
    full += seconds(Budget::full);
  }
  CHECK(quick <= 2 * 600);
  CHECK(full <= 2 * 10 * 3600);
}

TEST_CASE("a study without runs has no figures, but a page") {
  for (const Study& study : studies()) {
    INFO(study.name);
    const StudyResults nothing{.options = {}, .records = {}, .planned = 1};
    for (const auto& figure : study.figures(nothing)) {
      INFO(figure.first);
      CHECK(figure.second.empty());
    }
    const gradus::test::ScratchFolder folder;
    write_study(folder.path(),
                {.study = study.name, .options = {}, .shard = {}, .machine = {{"gradus", "1"}}});
    const MeasuredStudy measured{read_folder(folder.path(), study_named), {}};
    const std::string sentence = write_study_page(measured);
    CHECK((sentence.find("not measured") != std::string::npos || sentence.starts_with("Nothing has been")));
    CHECK(gradus::kit::read_file(folder / "report.html").find("No run has finished yet.") !=
          std::string::npos);
  }
}

TEST_CASE("the ledger's page explains every interval, and the correction over the ledger") {
  const gradus::test::ScratchFolder folder;
  gradus::kit::make_folder(folder / "best");
  write_study(folder / "best", {.study = "best", .options = {}, .shard = {}, .machine = {{"gradus", "1"}}});
  write_index(folder.path(), studies_in(folder.path()));
  const std::string page = gradus::kit::read_file(folder / "claims.html");
  for (const char* words :
       {"t interval", "Bootstrap interval", "Logit interval", "Interval of the median",
        "Clopper-Pearson interval", "only if all ten agree", "can hardly change a verdict"}) {
    INFO(words);
    CHECK(page.find(words) != std::string::npos);
  }
}

TEST_CASE("every study has a claim, a title, a question and a scope") {
  std::set<std::string> names;
  for (const Study& study : studies()) {
    INFO(study.name);
    CHECK(names.insert(study.name).second);
    CHECK(study.question.ends_with("?"));
    CHECK(!study.scope.empty());  // each of its verdicts names it
    bool any = false;
    for (const Claim& claim : claims()) any = any || claim.study == study.name;
    CHECK(any);
  }
  CHECK_THROWS_WITH(study_named("none"), doctest::Contains("there is no study 'none'"));
}
