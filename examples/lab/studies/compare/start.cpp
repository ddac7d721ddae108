#include "lab/studies/compare/start.h"

#include <fmt/format.h>

#include <cmath>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/stack.h"
#include "lab/training/trial.h"

namespace gradus::lab::compare {

namespace {

constexpr std::int64_t kDepths[] = {2, 4, 8, 16, 32, 48};
constexpr const char* kOtherSchemes[] = {"fan_in", "xavier", "small", "gpt2"};

/// The measurements of one seed, by block.
struct OneSeed {
  std::vector<double> norm_squared, gradient, activation_gradient;
};

double mean_square(const Tensor& x) {
  return x.detach().square().sum().item() / static_cast<double>(x.numel());
}

OneSeed measure_seed(const StartOptions& options, std::uint64_t seed) {
  Generator generator(seed, static_cast<std::uint64_t>(options.layers));
  const Stack stack = make_stack(options.placement, options.scheme, options.layers, seed, generator);
  const nn::TransformerEncoder& encoder = stack.encoder;
  const nn::Probe probe;
  const bool is_post = options.placement == nn::post_ln();
  OneSeed one;
  Tensor x = options.placement.enter ? options.placement.enter(stack.input) : stack.input;
  for (const nn::AnyBlock& block : encoder.layers) {
    const Tensor input = x;
    x = nn::observe(block, block(input));
    one.norm_squared.push_back(mean_square(is_post ? sum_of(block, input, x) : x));
  }
  if (encoder.norm) x = (*encoder.norm)(x);
  stack.loss(x).backward();
  const std::vector<nn::ProbeRow> rows = probe.rows();
  for (std::size_t l = 0; l < encoder.layers.size(); ++l) {
    one.activation_gradient.push_back(rows[l].activation_gradient_norm);
    one.gradient.push_back(encoder.layers[l].parameter("linear2.weight").grad().norm().item());
  }
  return one;
}

/// The first block's gradient over the last one's, by seed. There is no share where gradients are 0, as in
/// ReZero, or overflow, as they can in a deep stack without norms.
std::vector<double> shares(const std::vector<OneSeed>& seeds, std::vector<double> OneSeed::*values) {
  std::vector<double> all;
  for (const OneSeed& one : seeds)
    if (const double share = (one.*values).front() / (one.*values).back(); std::isfinite(share))
      all.push_back(share);
  return all;
}

std::vector<double> means(const std::vector<OneSeed>& seeds, std::vector<double> OneSeed::*values) {
  std::vector<double> sums((seeds.front().*values).size());
  for (const OneSeed& one : seeds)
    for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += (one.*values)[l];
  for (double& sum : sums) sum /= static_cast<double>(seeds.size());
  return sums;
}

/// Gradients over that of the last block; ReZero's 0 stays 0.
void add_profile(InitialState& state, const std::vector<OneSeed>& seeds) {
  for (std::size_t l = 0; l < state.gradient.size(); ++l) {
    std::vector<double> values;
    for (const OneSeed& one : seeds) {
      const double last = one.gradient.back();
      values.push_back(last > 0 ? one.gradient[l] / last : one.gradient[l]);
    }
    const Spread spread = spread_of(values);
    state.median.push_back(lab::median(values));
    state.low.push_back(spread.low);
    state.high.push_back(spread.high);
  }
}

/// The series of a run and where they are kept.
constexpr std::pair<const char*, std::vector<double> InitialState::*> kSeries[] = {
    {"sizes", &InitialState::norm_squared},
    {"gradients", &InitialState::gradient},
    {"activations", &InitialState::activation_gradient},
    {"weight-shares", &InitialState::weight_share},
    {"activation-shares", &InitialState::activation_share},
    {"median", &InitialState::median},
    {"low", &InitialState::low},
    {"high", &InitialState::high}};

}  // namespace

std::string StartOptions::name() const {
  return fmt::format("start-{}-{}-L{}", name_of(placement), scheme, layers);
}

std::vector<StartOptions> plan_starts(const Placements& placements, std::uint64_t seed) {
  std::vector<StartOptions> plan;
  for (const std::int64_t layers : kDepths)
    for (const nn::Placement& placement : placements)
      plan.push_back({.placement = placement, .layers = layers, .seed = seed});
  for (const char* const scheme : kOtherSchemes)
    for (const nn::Placement& placement : placements)
      plan.push_back({.placement = placement, .scheme = scheme, .seed = seed});
  return plan;
}

InitialState measure_start(const StartOptions& options) {
  std::vector<OneSeed> seeds;
  std::vector<double> tops;
  for (std::int64_t seed = 0; seed < options.seeds; ++seed) {
    kit::stop_if_interrupted();
    seeds.push_back(measure_seed(options, options.seed + static_cast<std::uint64_t>(seed)));
    tops.push_back(seeds.back().gradient.back());
  }
  InitialState state{.placement = options.placement,
                     .scheme = options.scheme,
                     .layers = options.layers,
                     .norm_squared = means(seeds, &OneSeed::norm_squared),
                     .gradient = means(seeds, &OneSeed::gradient),
                     .activation_gradient = means(seeds, &OneSeed::activation_gradient),
                     .top_gradient = mean(tops),
                     .top_gradient_std = standard_deviation(tops),
                     .weight_share = shares(seeds, &OneSeed::gradient),
                     .activation_share = shares(seeds, &OneSeed::activation_gradient)};
  add_profile(state, seeds);
  return state;
}

Initialisation measure_initialisation(const Placements& placements, std::uint64_t seed) {
  std::vector<InitialState> states;
  for (const StartOptions& options : plan_starts(placements, seed)) states.push_back(measure_start(options));
  return initialisation_of(states, check_layer_norm_jacobian(6, seed));
}

Measured measured_of(const InitialState& state) {
  Measured measured{.numbers = {{"top", state.top_gradient}, {"top-deviation", state.top_gradient_std}}};
  for (const auto& [name, values] : kSeries) measured.series[name] = state.*values;
  return measured;
}

InitialState state_of(const StartOptions& options, const StudyResults& results) {
  InitialState state{.placement = options.placement, .scheme = options.scheme, .layers = options.layers};
  state.top_gradient = results.number(options.name(), "top");
  state.top_gradient_std = results.number(options.name(), "top-deviation");
  for (const auto& [name, values] : kSeries) state.*values = results.series(options.name(), name);
  return state;
}

Initialisation initialisation_of(const std::vector<InitialState>& states, const JacobianCheck& jacobian) {
  Initialisation all{.states = {}, .schemes = {}, .jacobian = jacobian};
  const StartOptions standard;
  for (const InitialState& state : states) {
    if (state.scheme == standard.scheme) all.states.push_back(state);
    if (state.layers == standard.layers) all.schemes.push_back(state);
  }
  return all;
}

}  // namespace gradus::lab::compare
