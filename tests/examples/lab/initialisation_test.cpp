#include "lab/studies/compare/start.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"
#include "lab/studies/compare/analysis/start_sentence.h"
#include "lab/studies/stack.h"
#include "made_up.h"
#include "near.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;

namespace {

/// States with Xiong et al.'s weights, both placements at each depth.
std::vector<InitialState> states_at(std::initializer_list<std::int64_t> depths, std::int64_t seeds = 10,
                                    std::uint64_t seed = 0) {
  std::vector<InitialState> states;
  for (const std::int64_t layers : depths)
    for (const nn::Placement& placement : Settings().placements)
      states.push_back(
          measure_start({.placement = placement, .layers = layers, .seed = seed, .seeds = seeds}));
  return states;
}

}  // namespace

TEST_CASE("Theorem 1 and Lemma 2 of Xiong et al. hold for the library's blocks") {
  const std::vector<InitialState> states = states_at({2, 8, 32});
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
    if (state.placement == nn::post_ln())
      for (const double norm : state.norm_squared) CHECK(norm == doctest::Approx(1.5).epsilon(0.25));
  }
}

TEST_CASE("the gradient of the activations is that of finite differences in scale") {
  // At the top of a Post-LN stack the head alone is above: |dL/dx| of a random head is about 1.
  const auto states = states_at({2}, 3);
  for (const InitialState& state : states) {
    CHECK(state.activation_gradient.back() > 0.1);
    CHECK(state.activation_gradient.back() < 3);
  }
}

TEST_CASE("the share of the first block is its gradient over the last one's") {
  const auto states = states_at({2}, 1);
  for (const InitialState& state : states) {
    CHECK(state.weight_share.at(0) == doctest::Approx(state.gradient[0] / state.gradient[1]));
    CHECK(state.activation_share.at(0) ==
          doctest::Approx(state.activation_gradient[0] / state.activation_gradient[1]));
  }
}

TEST_CASE("the same seed gives the same figures, another seed others") {
  const double a = states_at({2}, 2)[0].top_gradient;
  CHECK(a == states_at({2}, 2)[0].top_gradient);
  CHECK(a != states_at({2}, 2, 100)[0].top_gradient);
}

TEST_CASE("norms outside the bounds of Lemma 2 are detected in any layer of any depth") {
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
  CHECK_THROWS_WITH_AS(check_theorem1(states_at({2}, 1)), "check_theorem1: depth 32 was not measured", Error);
}

TEST_CASE("the Jacobian of layer norm: the right formula, and the errors of the wrong ones") {
  const JacobianCheck check = check_layer_norm_jacobian(6, 0);
  CHECK(check.max_error < 1e-8);
  CHECK(check.wrong_mean_only > 0.05);
  CHECK(check.wrong_constant_sigma > 0.05);
}

TEST_CASE("before the first step no Post-LN gradient vanishes as the norms alone would predict") {
  const double alone = norms_alone(32);
  CHECK(alone == test::near(0.00187, 0.01));  // (2/3)^15.5
  std::size_t measured = 0;
  for (StartOptions start : plan_starts(Settings().placements, 0)) {
    if (start.layers != 32) continue;
    start.seeds = 4;
    const InitialState state = measure_start(start);
    ++measured;
    CAPTURE(start.name());
    CHECK(state.median.size() == 32);
    CHECK(state.median.back() == 1);
    for (std::size_t l = 0; l < state.median.size(); ++l) {
      CHECK(state.low[l] <= state.median[l]);
      CHECK(state.median[l] <= state.high[l]);
    }
    const double first = state.median.front();
    const bool branches_are_small = state.scheme == "small" || state.scheme == "gpt2";
    if (state.placement == nn::post_ln()) {
      CHECK(state.low.front() > 50 * alone);
      CHECK(first > 0.2);
      CHECK(first < 3);
    } else {
      CHECK((branches_are_small ? first < 1.5 : first > 2));
    }
  }
  CHECK(measured == 10);
}
