#include "lab/studies/norms/norms.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/gradus.h"
#include "lab/studies/norms/shift.h"
#include "made_results.h"

using namespace gradus;
using namespace gradus::lab;

TEST_CASE("DetachedLayerNorm: LayerNorm's output, and a gradient that ignores mean and variance") {
  const DefaultDType dtype(f64);
  Generator generator(3);
  Tensor x(random_normal({5, 8}, 1.0, 2.0, f64, generator));
  const Tensor direction(random_normal({5, 8}, 0.0, 1.0, f64, generator));
  x.requires_grad_();
  const norms::DetachedLayerNorm detached(nn::NormOptions{.d_model = 8});
  const nn::LayerNorm layer(8);
  CHECK(allclose(detached(x), layer(x)));
  (detached(x) * direction).sum().backward();
  const Tensor sigma = sqrt(x.detach().var(-1, {.keepdim = true, .unbiased = false}) + 1e-5);
  CHECK(allclose(x.grad(), direction / sigma));
}

TEST_CASE("gradients of deep stacks: they explode without a norm, and LayerNorm keeps them close") {
  const norms::Start& pre = norms::starts().front();
  const double with = norms::measure_start(pre, norms::kind_named("layer"), 1000).numbers.at("spread");
  const Measured without = norms::measure_start(pre, norms::kind_named("none"), 1000);
  CHECK(with < 3);
  CHECK(without.numbers.at("spread") > 10);
  CHECK(without.series.at("gradient").front() > without.series.at("gradient").back());
}

TEST_CASE("shift: by hand") {
  using namespace norms;
  // Channels 1, 3 and 0, 4: means 2 and 2, deviations 1 and 2; then 4, 4 and 0, 4: means 4 and 2, deviations
  // 0 and 2.
  const Moments before = moments_of(tensor({{{1.0, 0.0}, {3.0, 4.0}}}));
  CHECK(allclose(before.mean, tensor({2.0, 2.0})));
  CHECK(allclose(before.deviation, tensor({1.0, 2.0})));
  const Moments now = moments_of(tensor({{4.0, 0.0}, {4.0, 4.0}}));
  CHECK(input_shift(now, before) == doctest::Approx(0));  // 4 + 1 over 1 + 4
  CHECK(input_shift(before, now) == doctest::Approx(std::log10(5.0 / 4) / 2));
  const std::vector<Tensor> g = {tensor({3.0, 0.0}), tensor({{4.0}})},
                            moved = {tensor({3.0, 30.0}), tensor({{44.0}})};
  CHECK(gradient_change(moved, g) == doctest::Approx(1));  // 50 over 5
}

TEST_CASE("shift: as many measurements as fit, each smaller than the input") {
  const Measured measured = norms::measure_shift(norms::kind_named("layer"), 45, 1000);
  CHECK(measured.series.at("inputs_by_step").size() == 2);
  CHECK(measured.series.at("gradients_by_step").size() == 2);
  CHECK(measured.numbers.at("inputs") < 0);
  CHECK(measured.numbers.at("inputs") > -6);
  CHECK(measured.numbers.at("gradients") < 0.5);
  // The same run gives the same numbers.
  CHECK(norms::measure_shift(norms::kind_named("layer"), 45, 1000).numbers == measured.numbers);
}

TEST_CASE("higher rates are counted seed by seed, since on a grid all of them may agree") {
  // LayerNorm learns at 0.1 on all seeds, without a norm only at 0.03; on one seed both do at 0.1.
  const auto made = [](const std::string& run) -> Measured {
    if (run.starts_with("shift"))
      return {.numbers = {{"inputs", -1}, {"gradients", -1}, {"loss", 1}},
              .series = {{"inputs_by_step", {-1, -1}}, {"gradients_by_step", {-1, -1}}}};
    if (run.starts_with("start")) return {.numbers = {{"spread", 1}}, .series = {{"gradient", {0, 1}}}};
    const bool steep = run.find("lr0.1-") != std::string::npos,
               steepest = run.find("lr0.3-") != std::string::npos;
    const bool without = run.find("-none-") != std::string::npos && !run.ends_with("-s1");
    return {.numbers = {{"loss", steepest || (steep && without) ? 3.0 : 0.5}, {"start", 3}, {"diverged", 0}},
            .series = {}};
  };
  made::check_study("norms", made);
  const Study& study = study_named("norms");
  const Figures figures = study.figures(made::made_results(study, Budget::full, made));
  const std::vector<double>& higher = figures.at("rate.pre24");
  REQUIRE(higher.size() == 11);
  CHECK(higher[0] == doctest::Approx(std::log10(0.1 / 0.03)));
  CHECK(higher[1] == 0);
  const JudgedClaim judged = judge(claim_numbered(39), figures);
  CHECK(judged.measures.at(1).figure == doctest::Approx(10.0 / 11));  // one seed does not prevent it
  CHECK(judged.measures.at(1).judgement == Judgement::holds);
}
