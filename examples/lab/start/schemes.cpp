#include "lab/start/schemes.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gradus/gradus.h"
#include "gradus/kit/program/detail/check.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

constexpr Scheme kSchemes[] = {Scheme::xiong, Scheme::fan_in, Scheme::xavier, Scheme::small, Scheme::gpt2};

/// The word of the files.
const char* name_of(Scheme scheme) {
  switch (scheme) {
    case Scheme::xiong:
      return "xiong";
    case Scheme::fan_in:
      return "fan_in";
    case Scheme::xavier:
      return "xavier";
    case Scheme::small:
      return "small";
    case Scheme::gpt2:
      return "gpt2";
  }
  return "";
}

nn::TransformerEncoder make_encoder(Scheme scheme, const Placement& placement, const SchemeOptions& options) {
  const bool xiong = scheme == Scheme::xiong;
  return nn::TransformerEncoder(
      {.layers = options.layers,
       .placement = in_library(placement),
       .block = {
           .d_model = options.d_model, .heads = xiong ? 1 : 4, .d_ff = (xiong ? 1 : 4) * options.d_model}});
}

/// Of the entries of a matrix [out, in]; queries, keys and values, which are kept in one, are three of
/// [d, d].
double deviation(Scheme scheme, const std::string& name, const Shape& shape, std::int64_t layers) {
  const auto in = static_cast<double>(shape[1]);
  const double out = name.ends_with("in_proj_weight") ? in : static_cast<double>(shape[0]);
  const bool into_residual = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight");
  switch (scheme) {
    case Scheme::xiong:
    case Scheme::fan_in:
      return 1 / std::sqrt(in);
    case Scheme::xavier:
      return std::sqrt(2 / (in + out));
    case Scheme::small:
      return 0.02;
    case Scheme::gpt2:
      return into_residual ? 0.02 / std::sqrt(2.0 * static_cast<double>(layers)) : 0.02;
  }
  return 0;
}

/// The same for both placements: what one of them has beside the matrices draws nothing.
StateDict draw_weights(Scheme scheme, const nn::TransformerEncoder& encoder, const SchemeOptions& options,
                       Generator& generator) {
  if (scheme == Scheme::xiong) return xiong_weights(encoder, options.d_model, generator);
  StateDict weights;
  for (const auto& [name, value] : encoder.state_dict()) {
    if (name.ends_with("bias"))
      weights.set(name, zeros_like(value));
    else if (value.dim() < 2)
      weights.set(name, value.clone());
    else
      weights.set(name,
                  randn(value.shape(), generator) * deviation(scheme, name, value.shape(), options.layers));
  }
  return weights;
}

/// |dL/dW2| by block, over that of the last.
std::vector<double> profile(const nn::TransformerEncoder& encoder, const SchemeOptions& options,
                            Generator& generator) {
  const Tensor head =
      randn({options.classes, options.d_model}, generator) / std::sqrt(static_cast<double>(options.d_model));
  const Tensor x = randn({1, options.positions, options.d_model}, generator);
  const Tensor target = randint(0, options.classes, {1}, generator);
  nn::profile_admin_([&] { encoder(x); });
  encoder.zero_grad();
  cross_entropy(linear(encoder(x).select(1, 0), head), target).backward();
  std::vector<double> norms;
  for (std::size_t l = 0; l < encoder.layers.size(); ++l)
    norms.push_back(encoder.layers[l].parameter("linear2.weight").grad().norm().item());
  const double last = norms.back();
  if (last > 0)  // ReZero's is 0
    for (double& norm : norms) norm /= last;
  return norms;
}

SchemeState measure_one(Scheme scheme, const Placement& placement, const SchemeOptions& options) {
  const nn::TransformerEncoder encoder = make_encoder(scheme, placement, options);
  std::vector<std::vector<double>> by_block(static_cast<std::size_t>(options.layers));
  for (std::int64_t seed = 0; seed < options.seeds; ++seed) {
    Generator generator(options.seed + static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(scheme));
    encoder.load_state_dict(draw_weights(scheme, encoder, options, generator));
    set_own_values(encoder, placement, options.seed + static_cast<std::uint64_t>(seed));
    const std::vector<double> norms = profile(encoder, options, generator);
    for (std::size_t l = 0; l < norms.size(); ++l) by_block[l].push_back(norms[l]);
  }
  SchemeState state{.scheme = scheme, .placement = placement, .median = {}, .low = {}, .high = {}};
  for (const std::vector<double>& values : by_block) {
    const Spread spread = spread_of(values);
    state.median.push_back(median(values));
    state.low.push_back(spread.low);
    state.high.push_back(spread.high);
  }
  return state;
}

/// Null is NaN: without norms gradients may overflow.
std::vector<double> numbers(const kit::Json& json) {
  std::vector<double> values;
  for (const kit::Json& value : json) values.push_back(kit::number(value));
  return values;
}

}  // namespace

std::string title_of(Scheme scheme) {
  switch (scheme) {
    case Scheme::xiong:
      return "Xiong et al.";
    case Scheme::fan_in:
      return "N(0, 1/fan_in)";
    case Scheme::xavier:
      return "Xavier";
    case Scheme::small:
      return "N(0, 0.02²)";
    case Scheme::gpt2:
      return "GPT-2, scaled";
  }
  return "";
}

std::vector<SchemeState> measure_schemes(const SchemeOptions& options) {
  std::vector<SchemeState> states;
  for (const Scheme scheme : kSchemes)
    for (const Placement& placement : options.placements)
      states.push_back(measure_one(scheme, placement, options));
  return states;
}

double norms_alone(std::int64_t layers) { return std::pow(2.0 / 3, static_cast<double>(layers - 1) / 2); }

kit::Json json_of(const std::vector<SchemeState>& states) {
  kit::Json json = kit::Json::array();
  for (const SchemeState& state : states)
    json.push_back({{"scheme", name_of(state.scheme)},
                    {"placement", name_of(state.placement)},
                    {"median", state.median},
                    {"low", state.low},
                    {"high", state.high}});
  return json;
}

std::vector<SchemeState> schemes_from(const kit::Json& json) {
  std::vector<SchemeState> states;
  for (const kit::Json& one : json) {
    const auto name = one.at("scheme").get<std::string>();
    const auto* const scheme =
        std::find_if(std::begin(kSchemes), std::end(kSchemes), [&](Scheme s) { return name == name_of(s); });
    kit::check(scheme != std::end(kSchemes), "lab: no initial weights are called \"{}\"", name);
    states.push_back({.scheme = *scheme,
                      .placement = placement_named(one.at("placement").get<std::string>()),
                      .median = numbers(one.at("median")),
                      .low = numbers(one.at("low")),
                      .high = numbers(one.at("high"))});
    const SchemeState& state = states.back();
    kit::check(!state.median.empty() && state.low.size() == state.median.size() &&
                   state.high.size() == state.median.size(),
               "lab: median, low and high of initial weights expect a number a block each");
    kit::check(states.size() % 2 == 1 || states[states.size() - 2].scheme == state.scheme,
               "lab: initial weights expect two placements each");
  }
  kit::check(states.size() % 2 == 0, "lab: initial weights expect two placements each");
  return states;
}

}  // namespace gradus::lab
