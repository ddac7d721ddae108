// The basis of the study of blocks: wrong blocks compute their equations, and models have the stated blocks.

#include <doctest/doctest.h>

#include "gradus/core/creation.h"
#include "gradus/ops/ops.h"
#include "lab/studies/blocks/models.h"
#include "lab/studies/blocks/mutants.h"
#include "lab/studies/blocks/parts.h"
#include "made_results.h"
#include "near.h"

namespace gradus::lab::blocks {

TEST_CASE("models by construction, and changed models that differ") {
  for (const auto& [model, number] :
       {std::pair("gpt1", "gpt1.logits"), std::pair("gpt2", "gpt2.formula"), std::pair("gpt3", "gpt3.pre"),
        std::pair("t5", "t5.pre"), std::pair("bert", "bert.post"), std::pair("shortcut", "shortcut.is-post")})
    CHECK(measure_model(model, 1000).numbers.at(number) < 1e-4);
  CHECK(measure_model("gpt1", 1000).numbers.at("gpt1.silenced") > 1e-3);
  CHECK(measure_model("gpt2", 1000).numbers.at("gpt2.names") == 0);
  CHECK(measure_model("bert", 1000).numbers.at("bert.names") == 0);
  CHECK(measure_model("t5", 1000).numbers.at("t5.layernorm") == 0);
  CHECK(measure_model("gpt3", 1000).numbers.at("gpt3.layernorm") == 1);
}

TEST_CASE("a stack written out distinguishes the orders") {
  const nn::TransformerEncoder pre(
      {.layers = 2, .placement = nn::pre_ln(), .block = {.d_model = 8, .heads = 2}});
  draw_all(pre, 1);
  Generator generator(2);
  const Tensor x = randn({2, 5, 8}, generator);
  CHECK(allclose(written_out(pre, x, WrittenOut::pre), pre(x), 1e-4, 1e-5));
  CHECK_FALSE(allclose(written_out(pre, x, WrittenOut::post), pre(x), 1e-2, 1e-2));
}

TEST_CASE("wrong blocks compute their equations") {
  const nn::BlockOptions options{.d_model = 8, .heads = 2};
  Generator generator(3);
  const Tensor x = randn({2, 5, 8}, generator);
  const LongSkipBlock skip(options);
  draw_all(skip, 4);
  const Tensor h = skip.norm1(x + skip.self_attn(x));
  CHECK(allclose(skip(x), skip.norm2(x + skip.ffn(h)), 1e-5, 1e-6));

  const NormedShortcut shortcut(options);
  draw_all(shortcut, 5);
  const Tensor y = shortcut.norm(x);
  CHECK(allclose(shortcut(x, [](const Tensor& z) { return 2.0 * z; }), 3.0 * y, 1e-5, 1e-6));

  for (const Variant& variant : variants())
    if (!variant.meant.empty()) CHECK_FALSE(variant.shipped.empty());
}

TEST_CASE(
    "the study of blocks: every mistake is compared with the intended block, at the rate that is best on "
    "other seeds") {
  const auto measured = [](const std::string& run) -> Measured {
    if (!run.starts_with("train"))
      return {.numbers = {{"gpt1.logits", 0},
                          {"gpt1.silenced", 1},
                          {"gpt2.formula", 0},
                          {"gpt2.names", 0},
                          {"gpt2.vocab", 1},
                          {"gpt2.context", 1},
                          {"gpt3.pre", 0},
                          {"gpt3.layernorm", 1},
                          {"t5.pre", 0},
                          {"t5.layernorm", 0},
                          {"bert.post", 0},
                          {"bert.names", 0},
                          {"shortcut.is-post", 0}},
              .series = {}};
    double loss = run.find("-post-") != std::string::npos    ? 3
                  : run.find("-twice-") != std::string::npos ? 5
                                                             : 1;
    if (run.find("-lr0.003-") != std::string::npos)
      loss += 1;  // all are best at 0.01
    else if (run.find("-lr0.01-") == std::string::npos)
      loss += 2;
    if (run.find("-twice-lr0.003-s0") != std::string::npos)
      loss = -100;  // except on this seed, which may not choose
    return {.numbers = {{"loss", loss}, {"diverged", 0}, {"start", 6}}, .series = {{"losses", {3, 2, 1}}}};
  };
  made::check_study("blocks", measured);
  const Study& study = study_named("blocks");
  const Figures figures = study.figures(made::made_results(study, Budget::full, measured));
  CHECK(figures.at("mutant.twice").at(0) == gradus::test::near(2));
  CHECK(figures.at("mutant.code-pre").at(0) == gradus::test::near(-2));
  CHECK(mistakes().size() == 6);
}

TEST_CASE("Pre-LN without its final norm is one run in the studies of blocks and of the final norm") {
  const auto loss = [](const char* study, const char* run) {
    for (const StudyRun& one : study_named(study).plan({.budget = Budget::quick, .seed = 1000}))
      if (one.name == run) return one.measure().numbers.at("loss");
    FAIL("no run ", run);
    return 0.0;
  };
  CHECK(loss("blocks", "train-no-final-lr0.01-s1000") == loss("final-norm", "L6-without-lr0.01-s1000"));
}

}  // namespace gradus::lab::blocks
