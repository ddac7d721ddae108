#include "lab/start/initialisation.h"

#include <algorithm>
#include <cmath>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/analysis/statistics.h"

namespace gradus::lab {

StateDict xiong_weights(const nn::TransformerEncoder& encoder, std::int64_t d, Generator& generator) {
  const double std = 1 / std::sqrt(static_cast<double>(d));
  StateDict weights;
  for (const auto& [name, value] : encoder.state_dict()) {
    if (name.ends_with("bias"))
      weights.set(name, zeros_like(value));
    else
      weights.set(name, value.dim() < 2 ? value.clone() : randn(value.shape(), generator) * std);
    if (name.ends_with("in_proj_weight")) weights.at(name).slice(0, 0, 2 * d) = 0;
  }
  return weights;
}

void set_own_values(const nn::TransformerEncoder& stack, const Placement& placement, std::uint64_t seed) {
  const nn::Placement library = in_library(placement);
  if (!library.init) return;
  manual_seed(seed);  // of this thread's generator, which it draws from
  library.init(stack, stack.options().block);
}

namespace {

double mean_norm_squared(const Tensor& x) {
  return x.detach().square().sum().item() / static_cast<double>(x.numel());
}

/// What norm2 of a Post-LN block gets: the sum whose size Lemma 2 gives.
Tensor before_last_norm(const nn::PostLNBlock& block, const Tensor& x) {
  const NoGrad guard;
  const Tensor h = block.norm1(x + block.self_attn(x));
  return h + block.ffn(h);
}

/// Nothing where there is no gradient, as in ReZero, or none that is finite, as in a deep stack without
/// norms.
void add_share(std::vector<double>& shares, double first, double last) {
  if (std::isfinite(first / last)) shares.push_back(first / last);
}

/// One model, one input, one loss: adds to what `state` has for each layer and returns the top gradient.
double measure_one(const nn::TransformerEncoder& encoder, const InitialisationOptions& options,
                   Generator& generator, InitialState& state) {
  const Tensor head =
      randn({options.classes, options.d_model}, generator) / std::sqrt(static_cast<double>(options.d_model));
  Tensor x = randn({1, options.positions, options.d_model}, generator);
  nn::profile_admin_([&] { encoder(x); });
  const nn::Probe probe;
  const Tensor target = randint(0, options.classes, {1}, generator);
  const nn::Placement& placement = encoder.options().placement;
  if (placement.enter) x = placement.enter(x);
  const bool is_post = placement == nn::post_ln();
  for (std::size_t l = 0; l < encoder.layers.size(); ++l) {
    const Tensor input = x;
    x = nn::observe(encoder.layers[l], encoder.layers[l](input));
    const auto* const post = is_post ? encoder.layers[l].as<nn::PostLNBlock>() : nullptr;
    state.norm_squared[l] += mean_norm_squared(post ? before_last_norm(*post, input) : x);
  }
  if (encoder.norm) x = (*encoder.norm)(x);
  encoder.zero_grad();
  cross_entropy(linear(x.select(1, 0), head), target).backward();
  const std::vector<nn::ProbeRow> rows = probe.rows();
  double first = 0, top = 0;
  for (std::size_t l = 0; l < encoder.layers.size(); ++l) {
    state.activation_gradient[l] += rows[l].activation_gradient_norm;
    top = encoder.layers[l].parameter("linear2.weight").grad().norm().item();
    if (l == 0) first = top;
    state.gradient[l] += top;
  }
  add_share(state.weight_share, first, top);
  add_share(state.activation_share, rows.front().activation_gradient_norm,
            rows[encoder.layers.size() - 1].activation_gradient_norm);
  return top;
}

InitialState measure_depth(const Placement& placement, std::int64_t layers,
                           const InitialisationOptions& options) {
  const auto depth = static_cast<std::size_t>(layers);
  InitialState state{.placement = placement,
                     .layers = layers,
                     .norm_squared = std::vector<double>(depth),
                     .gradient = std::vector<double>(depth),
                     .activation_gradient = std::vector<double>(depth),
                     .weight_share = {},
                     .activation_share = {}};
  const nn::TransformerEncoder encoder(
      {.layers = layers,
       .placement = in_library(placement),
       .block = {.d_model = options.d_model, .heads = 1, .d_ff = options.d_model}});
  std::vector<double> tops;
  for (std::int64_t seed = 0; seed < options.seeds; ++seed) {
    // Weights and input depend on depth and seed only: both placements get the same ones.
    Generator generator(options.seed + static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(layers));
    encoder.load_state_dict(xiong_weights(encoder, options.d_model, generator));
    set_own_values(encoder, placement, options.seed + static_cast<std::uint64_t>(seed));
    tops.push_back(measure_one(encoder, options, generator, state));
  }
  for (auto* const sums : {&state.norm_squared, &state.gradient, &state.activation_gradient})
    for (double& sum : *sums) sum /= static_cast<double>(options.seeds);
  state.top_gradient = mean(tops);
  state.top_gradient_std = standard_deviation(tops);
  return state;
}

bool inside_lemma2(const InitialState& state) {
  for (std::size_t l = 1; l <= state.norm_squared.size(); ++l) {
    const double norm = state.norm_squared[l - 1], low = 1 + 0.5 * static_cast<double>(l),
                 high = 1 + 1.5 * static_cast<double>(l);
    if (norm < low || norm > high) return false;
  }
  return true;
}

}  // namespace

std::vector<InitialState> measure_initialisation(const InitialisationOptions& options) {
  std::vector<InitialState> states;
  for (const std::int64_t layers : options.depths)
    for (const Placement& placement : options.placements) {
      kit::stop_if_interrupted();
      states.push_back(measure_depth(placement, layers, options));
    }
  return states;
}

double top_gradient(const std::vector<InitialState>& states, const Placement& placement,
                    std::int64_t layers) {
  for (const InitialState& state : states)
    if (state.placement == placement && state.layers == layers) return state.top_gradient;
  throw Error("check_theorem1: depth " + std::to_string(layers) + " was not measured");
}

Theorem1 check_theorem1(const std::vector<InitialState>& states) {
  const auto of = [](const Placement& placement) {
    return [&placement](const InitialState& state) { return state.placement == placement; };
  };
  const auto ratio = [&](const Placement& placement, std::int64_t above, std::int64_t below) {
    return top_gradient(states, placement, above) / top_gradient(states, placement, below);
  };
  Theorem1 result;
  if (std::any_of(states.begin(), states.end(), of(Placement::post)))
    result.post_ratio_L32_L2 = ratio(Placement::post, 32, 2);
  if (std::any_of(states.begin(), states.end(), of(Placement::pre))) {
    result.pre_ratio_L8_L32 = ratio(Placement::pre, 8, 32);
    result.pre_norm_inside_lemma2 = std::all_of(states.begin(), states.end(), [&](const InitialState& state) {
      return state.placement != Placement::pre || inside_lemma2(state);
    });
  }
  return result;
}

}  // namespace gradus::lab
