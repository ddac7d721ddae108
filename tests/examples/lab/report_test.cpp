#include "lab/studies/compare/report/report.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "kit/markup.h"
#include "lab/studies/compare/report/summary.h"
#include "made_up.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;
using test::count_of;
using test::made_up;
using test::made_up_start;
using test::small_grid;

namespace {

std::optional<double> outcome(const RunOptions& run) {
  if (run.lr == 0.01 && run.layers == 12 && run.placement == nn::post_ln()) return std::nullopt;
  return run.placement == nn::post_ln() && run.layers == 12 ? 2.9 : 0.93 + test::jitter(run);
}

Results finished() {
  Results results = made_up(small_grid(), outcome);
  results.initialisation = made_up_start();
  return results;
}

struct Report {
  std::string html;
  std::vector<std::pair<std::string, std::string>> plots;
};

Report report_of(const Results& results) {
  const Verdict verdict = verdict_of(analyse(results), results.initialisation);
  Page page{kit::HtmlReport("Pre-LN or Post-LN?", question_of(results.settings, results.runs.size()))};
  page.html.verdict(verdict.sentence, verdict.findings);
  draw_report(page, results);
  return {page.html.html(), page.plots};
}

Json summary(const Results& results) {
  const Analysis analysis = analyse(results);
  return summary_of(results, analysis, verdict_of(analysis, results.initialisation));
}

}  // namespace

TEST_CASE("the report is one self-contained, sound page") {
  const Report report = report_of(finished());
  CHECK(test::flaw_in(report.html) == "");
  CHECK(report.html.size() < 1'000'000);
  for (const char* reference : {"http:", "https:", "src=", "@import", "url(", "<script", "<link"}) {
    CAPTURE(reference);
    CHECK(report.html.find(reference) == std::string::npos);
  }
  CHECK(count_of(report.html, "<figure") == report.plots.size());
  CHECK(count_of(report.html, "<details>") ==
        report.plots.size() + 1);  // a table each, and one of all settings
  CHECK(count_of(report.html, "class=\"verdict\"") == 1);
  CHECK(report.html.find("What this does not show") != std::string::npos);
  CHECK(report.html.find(">nan<") == std::string::npos);
}

TEST_CASE("charts are self-contained files with unique names") {
  const Report report = report_of(finished());
  CHECK(report.plots.size() == 14);
  std::vector<std::string> names;
  for (const auto& plot : report.plots) {
    const std::string &name = plot.first, &content = plot.second;
    CAPTURE(name);
    CHECK(name.ends_with(".svg"));
    CHECK(test::flaw_in(content) == "");
    CHECK(std::find(names.begin(), names.end(), name) == names.end());
    names.push_back(name);
  }
}

TEST_CASE("a stopped lab has a report of the finished runs") {
  Results results = finished();
  for (const std::size_t left : {std::size_t{50}, std::size_t{1}, std::size_t{0}}) {
    CAPTURE(left);
    results.runs.resize(left);
    const Report report = report_of(results);
    CHECK(test::flaw_in(report.html) == "");
    CHECK(report.html.find("Unfinished") != std::string::npos);
    CHECK(report.html.find(">nan<") == std::string::npos);
  }
  results.initialisation.reset();
  CHECK(test::flaw_in(report_of(results).html) == "");
}

TEST_CASE("settings without runs have no loss") {
  Results results = finished();
  results.runs.resize(1);
  CHECK(count_of(report_of(results).html, "0.0000") == 1);  // the standard deviation of the only run
  for (const Cell& cell : analyse(results).grid) CHECK(std::isnan(cell.loss.mean) != cell.any());
}

TEST_CASE("grids of one value, and one seed, have a report") {
  Settings options = small_grid(1);
  options.depths = {4};
  options.lrs = {0.003};
  options.warmups = {0};
  const Report report = report_of(made_up(options, outcome));
  CHECK(test::flaw_in(report.html) == "");
  CHECK(report.html.find("One seed") != std::string::npos);
}

TEST_CASE("a wide grid stays under a megabyte") {
  Settings options = small_grid(3);
  options.depths = {2, 4, 8, 12, 16, 24};
  options.lrs = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1};
  options.warmups = {0, 50, 200};
  CHECK(report_of(made_up(options, outcome)).html.size() < 1'000'000);
}

TEST_CASE("a text without known entropy has a report that says so, and escapes an odd name") {
  Results results = finished();
  results.task.entropy.reset();
  results.task.name = "a <b> & \"c\".txt";
  const Report report = report_of(results);
  CHECK(test::flaw_in(report.html) == "");
  CHECK(report.html.find("a &lt;b&gt; &amp; ") != std::string::npos);
  CHECK(report.html.find("above the entropy") == std::string::npos);
  CHECK(report.html.find("lowest possible loss is unknown") != std::string::npos);
}

TEST_CASE("the share of a gradient at the first block is given by medians over seeds") {
  const std::string html = report_of(finished()).html;
  CHECK(
      html.find("the first block&#39;s gradient is 0.5 (0.25 to 2) times the last block&#39;s for Post-LN") !=
      std::string::npos);
  CHECK(html.find(
            "the gradient after the first block is 0.3 (0.2 to 8) times that after the last for Post-LN") !=
        std::string::npos);
}

TEST_CASE("summary.json has the keys programs look for") {
  const Json json = summary(finished());
  CHECK(json.at("theorem1").at("post_ratio_L32_L2").get<double>() == doctest::Approx(1));
  CHECK(json.at("theorem1").at("pre_ratio_L8_L32").get<double>() == doctest::Approx(2));
  CHECK(json.at("theorem1").at("pre_norm_inside_lemma2") == true);
  CHECK(json.at("jacobian_max_error") == 1e-10);
  CHECK(json.at("verdict").get<std::string>().starts_with("Pre-LN was ahead in each of 3 seeds"));
  CHECK(json.at("complete") == true);
  const Json& comparisons = json.at("comparisons");
  CHECK(comparisons.size() == 1 + 1 + 3 + 1 + 4);
  CHECK(comparisons.at(0).at("about") == "settings that learned, all settings: Pre-LN - Post-LN");
  CHECK(comparisons.at(0).at("seeds_above_0") == 3);
  CHECK(comparisons.at(0).at("p_corrected") == comparisons.at(0).at("sign_test_p"));
  CHECK(comparisons.at(1).at("p_corrected").get<double>() == 1);
  const Json& runs = json.at("runs");
  CHECK(runs.size() == plan_runs(small_grid()).size());
  std::size_t diverged = 0;
  for (const Json& run : runs) {
    CHECK((run.at("placement") == "pre" || run.at("placement") == "post"));
    CHECK(run.at("layers").is_number_integer());
    CHECK(run.at("lr").is_number());
    CHECK(run.at("warmup").is_number_integer());
    CHECK(run.at("seed").is_number_integer());
    CHECK(run.at("final_loss").is_null() == run.at("diverged").get<bool>());
    CHECK(run.at("parameters_sha256").get<std::string>().size() == 64);
    diverged += run.at("diverged").get<bool>();
  }
  CHECK(diverged == 6);  // 2 warm-ups x 3 seeds
  Results part = finished();
  part.runs.resize(3);
  part.initialisation.reset();
  CHECK(summary(part).at("complete") == false);
  CHECK_FALSE(summary(part).contains("theorem1"));
}
