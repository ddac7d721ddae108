#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "lab/statistics/format.h"
#include "lab/studies/compare/report/charts.h"
#include "lab/studies/stack.h"
#include "lab/training/weights.h"

namespace gradus::lab::compare {

namespace {

using kit::AxisKind;
using kit::Series;

constexpr int kReferenceStyle = 7;

std::vector<const InitialState*> states_of(const Initialisation& initialisation,
                                           const nn::Placement& placement) {
  std::vector<const InitialState*> states;
  for (const InitialState& state : initialisation.states)
    if (state.placement == placement) states.push_back(&state);
  return states;
}

const InitialState& deepest(const Initialisation& initialisation, const nn::Placement& placement) {
  const auto states = states_of(initialisation, placement);
  return **std::max_element(states.begin(), states.end(),
                            [](const auto* a, const auto* b) { return a->layers < b->layers; });
}

/// 1, 2, .. n.
std::vector<double> layer_numbers(std::int64_t n) {
  std::vector<double> numbers;
  for (std::int64_t l = 1; l <= n; ++l) numbers.push_back(static_cast<double>(l));
  return numbers;
}

/// Appendix F: how gradients would shrink from the last block down if the norms alone counted.
Series slope(const InitialState& state, bool of_weights) {
  Series slope{.name = "(2/3)^((L−l)/2)",
               .x = layer_numbers(state.layers),
               .markers = false,
               .style = kReferenceStyle};
  const double top = of_weights ? state.gradient.back() : state.activation_gradient.back();
  for (const double l : slope.x)
    slope.y.push_back(top * std::pow(2.0 / 3, (static_cast<double>(state.layers) - l) / 2));
  return slope;
}

/// The title says where the size is measured: in Post-LN before the norm that would hide it.
std::string size_title(const nn::Placement& placement) {
  return placement.name + (placement == nn::post_ln() ? ", before its last norm" : "");
}

}  // namespace

kit::LineChart top_gradient_chart(const Initialisation& initialisation, const Placements& placements) {
  kit::LineChart chart{.title = "Gradient of the last block",
                       .x_label = "layers L",
                       .y_label = "|∂loss/∂W₂| of the last block",
                       .x_axis = AxisKind::log,
                       .y_axis = AxisKind::log};
  for (const nn::Placement& placement : placements) {
    Series series{
        .name = placement.name, .spread = kit::Spread::error_bars, .style = style_of(placements, placement)};
    for (const InitialState* state : states_of(initialisation, placement)) {
      series.x.push_back(static_cast<double>(state->layers));
      series.y.push_back(state->top_gradient);
      series.low.push_back(state->top_gradient - state->top_gradient_std);
      series.high.push_back(state->top_gradient + state->top_gradient_std);
    }
    chart.x_ticks = series.x;
    chart.series.push_back(std::move(series));
  }
  if (!contains(placements, nn::pre_ln())) return chart;
  const Series& pre = chart.series[static_cast<std::size_t>(style_of(placements, nn::pre_ln()))];
  Series root{.name = "∝ 1/√L", .x = pre.x, .markers = false, .style = kReferenceStyle};
  for (const double layers : root.x) root.y.push_back(pre.y.front() * std::sqrt(root.x.front() / layers));
  chart.series.push_back(std::move(root));
  return chart;
}

kit::LineChart norm_chart(const Initialisation& initialisation, const Placements& placements) {
  const std::int64_t layers = deepest(initialisation, placements[0]).layers;
  kit::LineChart chart{.title = fmt::format("Size of activations, {} layers", layers),
                       .x_label = "block l",
                       .y_label = "E|x|²/d after block l",
                       .y_axis = AxisKind::log};
  for (const nn::Placement& placement : placements) {
    const InitialState& state = deepest(initialisation, placement);
    chart.series.push_back({.name = size_title(placement),
                            .x = layer_numbers(state.layers),
                            .y = state.norm_squared,
                            .style = style_of(placements, placement)});
  }
  if (contains(placements, nn::post_ln())) chart.references.push_back({.at = 1.5});
  if (!contains(placements, nn::pre_ln())) return chart;
  Series band{.name = "Lemma 2", .x = layer_numbers(layers), .markers = false, .style = kReferenceStyle};
  for (const double i : band.x) {
    band.y.push_back(1 + i);
    band.low.push_back(1 + i / 2);
    band.high.push_back(1 + 3 * i / 2);
  }
  chart.series.push_back(std::move(band));
  return chart;
}

kit::Panels gradient_panels(const Initialisation& initialisation, const Placements& placements,
                            bool of_weights) {
  kit::Panels panels{.title = of_weights ? "Gradient of W₂, block by block"
                                         : "Gradient of activations, block by block"};
  double smallest = INFINITY;
  for (const nn::Placement& placement : placements) {
    kit::LineChart chart{.title = placement.name,
                         .x_label = "block l",
                         .y_label = of_weights ? "|∂loss/∂W₂| of block l" : "|∂loss/∂x| after block l",
                         .y_axis = AxisKind::log};
    for (const InitialState* state : states_of(initialisation, placement)) {
      const std::vector<double>& values = of_weights ? state->gradient : state->activation_gradient;
      for (const double value : values)
        if (value > 0) smallest = std::min(smallest, value);
      chart.series.push_back(
          {.name = fmt::format("L = {}", state->layers), .x = layer_numbers(state->layers), .y = values});
    }
    if (placement == nn::post_ln())
      chart.series.push_back(slope(deepest(initialisation, placement), of_weights));
    panels.panels.push_back(std::move(chart));
  }
  if (contains(placements, nn::post_ln()))
    panels.panels.front().y_low = smallest / 3;  // the slope leaves the picture, so that the data stay large
  return panels;
}

kit::Panels scheme_panels(const std::vector<InitialState>& schemes, const Placements& placements) {
  kit::Panels panels{.title = "Gradient of W₂ over that of the last block, by initial weights"};
  for (std::size_t i = 0; i < schemes.size(); i += 2) {
    kit::LineChart chart{.title = weight_scheme(schemes[i].scheme).title,
                         .x_label = "block l",
                         .y_label = fmt::format("|∂loss/∂W₂| of block l over block {}", schemes[i].layers),
                         .y_axis = AxisKind::log};
    const auto last = static_cast<double>(schemes[i].layers);
    chart.x_ticks = {1, std::round(last / 2), last};
    for (const InitialState* state : {&schemes[i], &schemes[i + 1]})
      chart.series.push_back({.name = state->placement.name,
                              .x = layer_numbers(state->layers),
                              .y = state->median,
                              .low = state->low,
                              .high = state->high,
                              .style = style_of(placements, state->placement)});
    if (!contains(placements, nn::post_ln())) {
      panels.panels.push_back(std::move(chart));
      continue;
    }
    Series alone{.name = "(2/3)^((L−l)/2)",
                 .x = layer_numbers(schemes[i].layers),
                 .markers = false,
                 .style = kReferenceStyle};
    for (const double l : alone.x)
      alone.y.push_back(norms_alone(schemes[i].layers + 1 - static_cast<std::int64_t>(l)));
    chart.series.push_back(std::move(alone));
    panels.panels.push_back(std::move(chart));
  }
  if (!panels.panels.empty() && contains(placements, nn::post_ln()))
    panels.panels.front().y_low = 0.03;  // the slope leaves the picture
  return panels;
}

}  // namespace gradus::lab::compare
