// The computations of the study of attention: subspaces, matches, the axis of a softmax.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "gradus/core/creation.h"
#include "gradus/nn/attention/attention_maps.h"
#include "gradus/ops/ops.h"
#include "lab/studies/attention/axis.h"
#include "lab/studies/attention/inside.h"
#include "lab/studies/attention/parts.h"
#include "lab/study/records.h"
#include "lab/training/trial.h"
#include "made_results.h"

namespace gradus::lab::attention {

TEST_CASE("subspaces: the same, orthogonal, and a plane turned by 30 degrees") {
  const Tensor a = tensor({{1.0, 0.0, 0.0, 0.0}, {1.0, 2.0, 0.0, 0.0}});
  const Tensor same = tensor({{3.0, 1.0, 0.0, 0.0}, {0.0, 5.0, 0.0, 0.0}});
  CHECK(subspace_angles(a, same).overlap == doctest::Approx(1));
  CHECK(subspace_angles(a, same).smallest == doctest::Approx(0).epsilon(1e-4));
  const Tensor apart = tensor({{0.0, 0.0, 1.0, 0.0}, {0.0, 0.0, 1.0, 1.0}});
  CHECK(subspace_angles(a, apart).overlap == doctest::Approx(0));
  CHECK(subspace_angles(a, apart).smallest == doctest::Approx(90));
  // One direction turned by 30 degrees, the other orthogonal: cosines sqrt(3)/2 and 0.
  const Tensor turned = tensor({{std::sqrt(3.0), 0.0, 1.0, 0.0}, {0.0, 0.0, 0.0, 2.0}});
  CHECK(subspace_angles(a, turned).smallest == doctest::Approx(30));
  CHECK(subspace_angles(a, turned).overlap == doctest::Approx(0.375));
}

TEST_CASE("matches: a head that attends by the name before a letter, and one with no preference") {
  // A newline 0, then names 1 and 2, letters 5 and 6: \n 1 5 2 6 1 5 2 6.
  const Tensor document = tensor({{0, 1, 5, 2, 6, 1, 5, 2}});
  std::vector<float> q(16, 0), k(16, 0);
  const auto set = [](std::vector<float>& x, int place, float a, float b) {
    x[static_cast<std::size_t>(2 * place)] = a;
    x[static_cast<std::size_t>(2 * place + 1)] = b;
  };
  set(q, 5, 1, 0);  // the second mention of box 1
  set(q, 7, 0, 1);  // of box 2
  set(k, 2, 3, 0);  // box 1's letter
  set(k, 6, 2, 0);
  set(k, 4, 0, 2);  // box 2's
  const Matching good = matching_of(from_vector(q, {1, 8, 2}), from_vector(k, {1, 8, 2}), document);
  CHECK(good.auc == 1);
  CHECK(good.cosine == doctest::Approx(1));
  CHECK(good.mass > 0.3);
  const Matching bad = matching_of(from_vector(k, {1, 8, 2}) * 0.0, from_vector(k, {1, 8, 2}), document);
  CHECK(bad.auc == 0.5);
  CHECK(bad.cosine == doctest::Approx(0));
  const Matching none =
      matching_of(zeros({1, 4, 2}), zeros({1, 4, 2}), tensor({{0, 1, 5, 2}}));  // nothing named twice
  CHECK(std::isnan(none.auc));
}

TEST_CASE("queries and keys are those of the model") {
  for (const bool qk_norm : {false, true})
    for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln()}) {
      const TrialOptions options{.placement = placement,
                                 .layers = 2,
                                 .block = {.d_model = 32, .heads = 4, .qk_norm = qk_norm},
                                 .seed = 3};
      const nn::GPT gpt = new_model(recall_task(), options);
      const Tensor ids = recall_task().validation().inputs.slice(0, 0, 2);
      const nn::AttentionMaps maps;
      gpt(ids);
      const auto layers = queries_and_keys(gpt, ids);
      const Tensor future = triu(ones({32, 32}), 1) > 0.5;
      for (std::size_t i = 0; i < 2; ++i) {
        const Tensor weights = softmax(masked_fill(scores_of(layers[i]), future, -INFINITY), -1);
        CHECK(allclose(weights, maps.all()[i].weights, 1e-4, 1e-5));
      }
      const ScoreSize size = score_size(layers);
      CHECK(size.entropy > 0.1);
      CHECK(size.entropy < 1);
      CHECK(size.largest > 0.1);
    }
}

TEST_CASE(
    "size of scores: by absolute value, of visible pairs; entropy as a share of that of equal weights") {
  // One head of size 1, so scores are q k: the first query sees -6, the second -2 and 0.
  const QueriesKeys seen{tensor({{{{-6.0}, {-2.0}}}}), tensor({{{{1.0}, {0.0}}}})};
  CHECK(score_size({seen}).largest == doctest::Approx(6));
  const double p = 1 / (1 + std::exp(2.0)),
               share = -(p * std::log(p) + (1 - p) * std::log(1 - p)) / std::log(2.0);
  CHECK(score_size({seen}).entropy == doctest::Approx(share));
  const QueriesKeys future{tensor({{{{50.0}, {1.0}}}}), tensor({{{{0.0}, {1.0}}}})};  // 50 is hidden
  CHECK(score_size({future}).largest == doctest::Approx(1));
  CHECK(score_size({seen, future}).largest == doctest::Approx(6));
  CHECK(score_size({seen, future}).entropy ==
        doctest::Approx((score_size({seen}).entropy + score_size({future}).entropy) / 2));
}

TEST_CASE("a softmax over the keys is the library's; over another axis the future is seen") {
  const auto model = [](const nn::Placement& placement) {
    return new_model(recall_task(), {.placement = placement, .layers = 2, .seed = 4});
  };
  const Tensor ids = recall_task().validation().inputs.slice(0, 0, 8);
  const nn::GPT library = model(nn::pre_ln());
  CHECK(allclose(model(pre_ln_over(SoftmaxAxis::keys))(ids), library(ids), 1e-4, 1e-5));
  const Tensor changed = ids.clone();
  changed.slice(1, 20).copy_(recall_task().validation().inputs.slice(0, 8, 16).slice(1, 20));
  for (const SoftmaxAxis axis : {SoftmaxAxis::keys, SoftmaxAxis::queries, SoftmaxAxis::batch}) {
    const nn::GPT gpt = model(pre_ln_over(axis));
    const double change = (gpt(ids) - gpt(changed)).slice(1, 0, 20).abs().max().item();
    CHECK((change == 0) == (axis == SoftmaxAxis::keys));
  }
}

TEST_CASE("the lowest possible loss on given documents") {
  // \n 1 5 2 6 1 5: names cost ln 4, new things ln 6, known ones nothing.
  const Batch windows{.inputs = tensor({{0, 1, 5, 2, 6, 1}}), .targets = tensor({{1, 5, 2, 6, 1, 5}})};
  CHECK(best_loss_on(windows) == doctest::Approx((3 * std::log(4.0) + 2 * std::log(6.0)) / 6));
  // Over many documents it is the language's entropy.
  CHECK(best_loss_on(recall_task().validation()) == doctest::Approx(*recall_task().entropy()).epsilon(0.02));
}

TEST_CASE("the study of attention: both rates are judged, and angles are compared with the start") {
  const auto made = [](const std::string& run) -> Measured {
    Measured measured{
        .numbers = {{"scale.variance", 1}, {"scale.entropy", 0}, {"scale.gradient", 1}},
        .series = {{"losses", {3, 2}}, {"step", {0, 1}}, {"scores", {6, 12}}, {"entropy", {1, 1}}}};
    for (const char* what : {"variance", "entropy", "gradient"})
      for (const char* which : {".raw", ".scaled"})
        measured.series[std::string(what) + which] = std::vector<double>(kHeadSizes.size(), 1);
    measured.series["heads.auc"] = measured.series["heads.mass"] = std::vector<double>(16, 0.5);
    for (const char* number : {"loss", "diverged", "direction", "auc", "cosine", "mass", "leak", "rows",
                               "future", "others", "growth"})
      measured.numbers[number] = 0.5;
    measured.numbers["largest"] = run.find("lr0.01") != std::string::npos ? 2 : 0.5;
    for (const std::string part : {"q", "k", "v"}) {
      measured.numbers["overlap." + part] = measured.numbers["overlap-start." + part] = 1;
      measured.numbers["angle." + part] = 34, measured.numbers["angle-start." + part] = 36;
      measured.numbers["turned." + part] = -2;
    }
    return measured;
  };
  made::check_study("attention", made);
  const Figures figures =
      study_named("attention").figures(made::made_results(study_named("attention"), Budget::full, made));
  CHECK(figures.at("largest.pre-qk.lr0.003").front() == 0.5);
  CHECK(figures.at("largest.pre-qk.lr0.01").front() == 2);
  CHECK(figures.at("turned.k").front() == -2);
}

TEST_CASE("a training records scores and angles before and after") {
  const Measured measured = measure_training("pre", kRate, 3, 5);
  const std::vector<double>& largest = measured.series.at("scores");
  CHECK(measured.numbers.at("largest") == doctest::Approx(std::log10(largest.back())));
  CHECK(measured.numbers.at("growth") == doctest::Approx(largest.back() / largest.front()));
  CHECK(measured.numbers.at("turned.v") ==
        doctest::Approx(measured.numbers.at("angle.v") - measured.numbers.at("angle-start.v")));
  CHECK(measured.numbers.at("turned.v") != 0);
  CHECK(line_of("a run", Record{measured}).contains("scores"));
}

}  // namespace gradus::lab::attention
