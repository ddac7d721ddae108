// Other placements than Pre-LN and Post-LN: on the command line, in files, in models and in what is said.

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "lab/statistics/words.h"
#include "lab/studies/compare/report/report.h"
#include "lab/studies/compare/report/summary.h"
#include "made_up.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

const Placement kPeri = placement_named("peri"), kDeep = placement_named("deepnorm");

/// What --placement makes of the words; nothing where they are refused.
std::optional<Placements> compared(const char* words) {
  const char* const arguments[] = {"lab", "--placement", words};
  LabOptions options;
  if (parse(3, arguments, options)) return std::nullopt;
  CHECK(options.initialisation.placements == options.placements);
  return options.placements;
}

nn::GPT model_of(const Placement& placement, bool scaled = false) {
  const ModelOptions model{.d_model = 8, .heads = 2, .batch = 2, .steps = 1};
  return make_model(Task(RecallOptions{}), model,
                    {.placement = placement, .layers = 4, .seed = 3, .residual_scaling = scaled});
}

Results made_up_of(const Placements& placements) {
  LabOptions options = test::small_grid();
  options.placements = options.initialisation.placements = placements;
  Results results = test::made_up(options, [&](const RunOptions& run) {
    return (run.placement == placements[1] ? 1.2 : 1.0) + test::jitter(run);
  });
  results.initialisation = test::made_up_start(0, -0.5, placements);
  return results;
}

/// All that a reader is told: the page with its charts, and summary.json.
std::string told_of(const Placements& placements) {
  const Results results = made_up_of(placements);
  const Analysis analysis = analyse(results);
  const Verdict verdict = verdict_of(analysis, results.initialisation);
  return draw_report(results, analysis, verdict).html + summary_of(results, analysis, verdict).dump();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What fits into no file of a lab of these placements.
std::string complaint(const Placements& placements, const Initialisation& start) {
  const test::ScratchFolder folder;
  write_config(folder.path(), made_up_of(placements).config);
  write_initialisation(folder.path(), start);
  try {
    read_results(folder.path());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("one placement is compared with Pre-LN, two with each other") {
  CHECK(compared("peri") == Placements{Placement::pre, kPeri});
  CHECK(compared("DeepNorm,Peri-LN") == Placements{kDeep, kPeri});
  CHECK(compared("post,pre") == Placements{Placement::post, Placement::pre});
  for (const char* const bad : {"", "middle", "pre", "peri,peri", "pre,post,peri", "peri,", ",peri"}) {
    CAPTURE(bad);
    CHECK_FALSE(compared(bad));
  }
  CHECK_FALSE(compared("list"));
}

TEST_CASE("every placement has a word of its own, which it comes back from") {
  std::vector<std::string> words;
  for (const nn::Placement& p : nn::placements()) {
    const Placement placement{p.name};
    words.push_back(name_of(placement));
    CHECK(placement_named(words.back()) == placement);
    CHECK(RunOptions{.placement = placement}.name().starts_with(words.back() + "-L2-"));
  }
  std::sort(words.begin(), words.end());
  CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
}

TEST_CASE("a lab of other placements comes back from its files; older files are of Pre-LN and Post-LN") {
  const test::ScratchFolder folder;
  write_config(folder.path(), made_up_of({kDeep, kPeri}).config);
  CHECK(read_config(folder.path()).options.placements == Placements{kDeep, kPeri});
  CHECK(read_config(folder.path()).options.initialisation.placements == Placements{kDeep, kPeri});
  write_config(folder.path(), made_up_of(LabOptions().placements).config);
  CHECK_FALSE(says(kit::read_file(folder / "config.json"), "placements"));
  CHECK(read_config(folder.path()).options.placements == LabOptions().placements);

  const Placements two = {Placement::pre, kPeri};
  CHECK(complaint(two, test::made_up_start(0, -0.5, two)) == "");
  CHECK(
      says(complaint(two, test::made_up_start()), "it has Post-LN, config.json compares Pre-LN and Peri-LN"));
}

TEST_CASE("models start as their placement has it, and otherwise from the same weights") {
  const nn::GPT pre = model_of(Placement::pre);
  for (const nn::Placement& p : nn::placements()) {
    INFO(p.name);
    const nn::GPT model = model_of({p.name});
    const bool same =
        (model.parameter("layers.1.linear1.weight") == pre.parameter("layers.1.linear1.weight")).all();
    CHECK(same == (p.name != "DeepNorm"));
    CHECK(parameters_sha256(model) == parameters_sha256(model_of({p.name})));
    if (p.leave) continue;
    CHECK(model.transformer.norm.has_value() == p.final_norm);
  }
  CHECK(model_of({"ReZero"}).parameter("layers.2.norm1.alpha").item() == 0);
  const nn::GPT admin = model_of({"Admin"});
  CHECK(admin.parameter("layers.0.norm1.shortcut")[0].item() == 1);
  CHECK(admin.parameter("layers.3.norm2.shortcut")[0].item() > 1.5);  // sqrt of what seven branches add up to
  // Xavier with gain (8 L)^(-1/4) for 8 -> 32 and 4 layers.
  const double beta = std::pow(32.0, -0.25), expected = beta * std::sqrt(2.0 / 40);
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
    const auto states = measure_initialisation({.depths = {3}, .seeds = 2, .placements = {kPeri, {p.name}}});
    REQUIRE(states.size() == 2);
    CHECK(states[1].placement == Placement{p.name});
    CHECK(std::isfinite(states[1].norm_squared.back()));
    CHECK((states[1].top_gradient > 0) == (p.name != "ReZero"));
    CHECK(states[1].weight_share.empty() == (p.name == "ReZero"));
    const auto schemes = measure_schemes({.layers = 2, .seeds = 1, .placements = {kPeri, {p.name}}});
    CHECK(schemes_from(json_of(schemes))[1].median == schemes[1].median);
  }
}

TEST_CASE("what is said names the placements that were compared, and no others") {
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

TEST_CASE("what is true of Pre-LN or Post-LN alone is said where it is compared") {
  const std::string pre = told_of({Placement::pre, kPeri}), post = told_of({kPeri, Placement::post});
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
