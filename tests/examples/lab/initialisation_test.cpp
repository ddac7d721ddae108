#include "lab/start/initialisation.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"
#include "lab/studies/compare/analysis/verdict.h"
#include "made_up.h"

using namespace gradus;
using namespace gradus::lab;

TEST_CASE("Theorem 1 and Lemma 2 of Xiong et al. hold for the library's blocks") {
  const std::vector<InitialState> states = measure_initialisation({.depths = {2, 8, 32}});
  const Theorem1 theorem = check_theorem1(states);
  CHECK(theorem.post_ratio_L32_L2 > kPostRatioLow);
  CHECK(theorem.post_ratio_L32_L2 < kPostRatioHigh);
  CHECK(theorem.pre_ratio_L8_L32 > kPreRatioLow);
  CHECK(theorem.pre_ratio_L8_L32 < kPreRatioHigh);
  CHECK(theorem.pre_norm_inside_lemma2.value());
  for (const InitialState& state : states) {
    const auto depth = static_cast<std::size_t>(state.layers);
    CHECK(state.norm_squared.size() == depth);
    CHECK(state.activation_gradient.size() == depth);
    CHECK(state.gradient.back() == doctest::Approx(state.top_gradient));
    CHECK(state.top_gradient_std > 0);
    CHECK(state.weight_share.size() == 10);
    CHECK(state.activation_share.size() == 10);
    if (state.placement == Placement::post)
      for (const double norm : state.norm_squared) CHECK(norm == doctest::Approx(1.5).epsilon(0.25));
  }
}

TEST_CASE("the gradient of the activations is that of finite differences in scale") {
  // At the top of a Post-LN stack the head alone is above: |dL/dx| of a random head is about 1.
  const auto states = measure_initialisation({.depths = {2}, .seeds = 3});
  for (const InitialState& state : states) {
    CHECK(state.activation_gradient.back() > 0.1);
    CHECK(state.activation_gradient.back() < 3);
  }
}

TEST_CASE("the share of the first block is that of its gradient in the last one's") {
  const auto states = measure_initialisation({.depths = {2}, .seeds = 1});
  for (const InitialState& state : states) {
    CHECK(state.weight_share.at(0) == doctest::Approx(state.gradient[0] / state.gradient[1]));
    CHECK(state.activation_share.at(0) ==
          doctest::Approx(state.activation_gradient[0] / state.activation_gradient[1]));
  }
}

TEST_CASE("the same seed gives the same figures, another seed others") {
  const InitialisationOptions options{.depths = {2}, .seeds = 2};
  InitialisationOptions other = options;
  other.seed = 100;
  const double a = measure_initialisation(options)[0].top_gradient;
  CHECK(a == measure_initialisation(options)[0].top_gradient);
  CHECK(a != measure_initialisation(other)[0].top_gradient);
}

TEST_CASE("norms outside the bounds of Lemma 2 are seen in any layer of any depth") {
  const Initialisation start = test::made_up_start();
  CHECK(check_theorem1(start.states).pre_norm_inside_lemma2.value());
  const auto holds_with = [&](std::size_t layer, double norm) {
    std::vector<InitialState> states = start.states;
    states[2].norm_squared[layer] = norm;  // Pre-LN with 4 layers
    return check_theorem1(states).pre_norm_inside_lemma2.value();
  };
  CHECK(holds_with(0, 2.4));
  CHECK_FALSE(holds_with(0, 2.6));
  CHECK(holds_with(3, 3.1));
  CHECK_FALSE(holds_with(3, 2.9));
}

TEST_CASE("a depth that was not measured is named") {
  CHECK_THROWS_WITH_AS(check_theorem1(measure_initialisation({.depths = {2}, .seeds = 1})),
                       "check_theorem1: depth 32 was not measured", Error);
}

TEST_CASE("the Jacobian of layer norm: the right formula, and how far off the wrong ones are") {
  const JacobianCheck check = check_layer_norm_jacobian(6, 0);
  CHECK(check.max_error < 1e-8);
  CHECK(check.wrong_mean_only > 0.05);
  CHECK(check.wrong_constant_sigma > 0.05);
}
