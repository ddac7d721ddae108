// Placements other than Pre-LN and Post-LN: on the command line, in files, in models and in reports.

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/gradus.h"
#include "lab/program/options.h"
#include "lab/studies/compare/compare.h"
#include "lab/studies/compare/report/report.h"
#include "lab/studies/compare/training.h"
#include "lab/training/trial.h"
#include "made_up.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;

namespace {

const nn::Placement kPeri = nn::placement_named("peri"), kDeep = nn::placement_named("deepnorm");

/// The placements that --placement selects; nothing if refused.
std::optional<Placements> compared(const char* words) {
  const char* const arguments[] = {"lab", "--placement", words};
  Given given;
  if (parse_comparison(3, arguments, given)) return std::nullopt;
  return settings_of(given.options).placements;
}

nn::GPT model_of(const nn::Placement& placement, bool scaled = false) {
  return make_model(recall_task(),
                    {.placement = placement, .layers = 4, .seed = 3, .residual_scaling = scaled});
}

Results made_up_of(const Placements& placements) {
  Settings settings = test::small_grid();
  settings.placements = placements;
  Results results = test::made_up(settings, [&](const RunOptions& run) {
    return (run.placement == placements[1] ? 1.2 : 1.0) + test::jitter(run);
  });
  results.initialisation = test::made_up_start(0, -0.5, placements);
  return results;
}

/// The whole output: the page with its charts, and summary.json.
std::string told_of(const Placements& placements) {
  const Results results = made_up_of(placements);
  const Verdict verdict = verdict_of(analyse(results), results.initialisation);
  Page page{kit::HtmlReport(placements[0].name + " or " + placements[1].name + "?",
                            question_of(results.settings, results.runs.size()))};
  page.html.verdict(verdict.sentence, verdict.findings);
  draw_report(page, results);
  return page.html.html() + page.files.front().second;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("one placement is compared with Pre-LN, two with each other") {
  CHECK(compared("peri") == Placements{nn::pre_ln(), kPeri});
  CHECK(compared("DeepNorm,Peri-LN") == Placements{kDeep, kPeri});
  CHECK(compared("post,pre") == Placements{nn::post_ln(), nn::pre_ln()});
  for (const char* const bad : {"", "middle", "pre", "peri,peri", "pre,post,peri", "peri,", ",peri"}) {
    CAPTURE(bad);
    CHECK_FALSE(compared(bad));
  }
  CHECK_FALSE(compared("list"));
}

TEST_CASE("every placement has a unique name, from which it is found") {
  std::vector<std::string> words;
  for (const nn::Placement& p : nn::placements()) {
    words.push_back(name_of(p));
    CHECK(nn::placement_named(words.back()) == p);
    CHECK(RunOptions{.placement = p}.name().starts_with(words.back() + "-L2-"));
  }
  std::sort(words.begin(), words.end());
  CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
}

TEST_CASE("models start as their placement requires, and otherwise from the same weights") {
  const nn::GPT pre = model_of(nn::pre_ln());
  for (const nn::Placement& p : nn::placements()) {
    INFO(p.name);
    const nn::GPT model = model_of(p);
    const bool same =
        (model.parameter("layers.1.linear1.weight") == pre.parameter("layers.1.linear1.weight")).all();
    CHECK(same == (p.name != "DeepNorm"));
    CHECK(parameters_sha256(model) == parameters_sha256(model_of(p)));
    if (p.leave) continue;
    CHECK(model.transformer.norm.has_value() == p.final_norm);
  }
  CHECK(model_of(nn::placement_named("ReZero")).parameter("layers.2.norm1.alpha").item() == 0);
  const nn::GPT admin = model_of(nn::admin());
  CHECK(admin.parameter("layers.0.norm1.shortcut")[0].item() == 1);
  CHECK(admin.parameter("layers.3.norm2.shortcut")[0].item() > 1.5);  // sqrt of what seven branches add up to
  // Xavier with gain (8 L)^(-1/4) for 32 -> 128 and 4 layers.
  const double beta = std::pow(32.0, -0.25), expected = beta * std::sqrt(2.0 / 160);
  const double deviation =
      std::sqrt(model_of(kDeep).parameter("layers.1.linear1.weight").square().mean().item());
  CHECK(deviation / expected == doctest::Approx(1).epsilon(0.05));
  CHECK((model_of(kDeep, true).parameter("layers.1.linear2.weight") * std::sqrt(8.0) -
         model_of(kDeep).parameter("layers.1.linear2.weight"))
            .abs()
            .max()
            .item() < 1e-6);
}

TEST_CASE("every placement is measured before the first step, with its own initial values") {
  for (const nn::Placement& p : nn::placements()) {
    INFO(p.name);
    const InitialState state = measure_start({.placement = p, .layers = 3, .seeds = 2});
    CHECK(std::isfinite(state.norm_squared.back()));
    CHECK((state.top_gradient > 0) == (p.name != "ReZero"));
    CHECK(state.weight_share.empty() == (p.name == "ReZero"));
    CHECK(measure_start({.placement = p, .scheme = "xavier", .layers = 2, .seeds = 1}).median.size() == 2);
  }
}

TEST_CASE("the report names the compared placements, and no others") {
  const std::string text = told_of({kDeep, kPeri});
  CHECK(says(text, "DeepNorm or Peri-LN?"));
  CHECK(says(text, "Peri − DeepNorm +0.2"));
  CHECK(says(text, "DeepNorm ended below the 3-gram baseline"));
  CHECK(says(text, "<code>x + LN(f(LN(x)))</code>"));
  for (const char* const other : {"Pre-LN", "Post-LN", "Theorem 1", "Lemma 2", "appendix F", "theorem1"}) {
    CAPTURE(other);
    CHECK_FALSE(says(text, other));
  }
}

TEST_CASE("statements about Pre-LN or Post-LN alone appear only if it is compared") {
  const std::string pre = told_of({nn::pre_ln(), kPeri}), post = told_of({kPeri, nn::post_ln()});
  CHECK(says(pre, "Theorem 1 of Xiong et al. for Pre-LN"));
  CHECK(says(pre, "the bounds of their Lemma 2"));
  CHECK(says(pre, "pre_ratio_L8_L32"));
  CHECK_FALSE(says(pre, "post_ratio_L32_L2"));
  CHECK_FALSE(says(pre, "Post-LN"));
  CHECK(says(post, "Theorem 1 of Xiong et al. for Post-LN"));
  CHECK(says(post, "appendix F"));
  CHECK(says(post, "Why Post-LN fails"));
  CHECK_FALSE(says(post, "Pre-LN"));
}
