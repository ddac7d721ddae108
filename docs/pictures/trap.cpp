// The trap of averaging over positions: see docs/lab.md.

#include <cmath>

#include "docs/pictures/lab_figures.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr std::int64_t T = 8, C = 64, V = 16;

/// As Xiong et al. start: matrices N(0, 1/d), biases 0, queries and keys 0.
nn::PostLNBlock random_block(Generator& generator) {
  const nn::PostLNBlock block({.d_model = C, .heads = 1, .d_ff = C});
  for (const auto& [name, w] : block.named_parameters())
    if (!name.starts_with("norm"))
      nn::init::normal_(w, 0, w.dim() == 2 ? 1 / std::sqrt(double(C)) : 0, generator);
  const NoGrad guard;
  block.self_attn.in_proj_weight.slice(0, 0, 2 * C) = 0.0;
  return block;
}

enum class Judged { one_position, all_positions, all_with_one_target };

/// |dL/dW2| of the last of L Post-LN blocks.
double top_gradient(std::int64_t layers, std::uint64_t seed, Judged judged) {
  Generator generator(seed);
  Tensor x = randn({1, T, C}, generator);
  {
    const NoGrad guard;
    for (std::int64_t l = 1; l < layers; ++l) x = random_block(generator)(x);
  }
  const nn::PostLNBlock last = random_block(generator);
  const std::int64_t count = judged == Judged::one_position ? 1 : T;
  const Tensor head = randn({V, C}, generator) / std::sqrt(double(C));
  Tensor target = randint(0, V, {1, count}, generator);
  if (judged == Judged::all_with_one_target) target = zeros_like(target);
  cross_entropy(linear(last(x).slice(1, 0, count), head), target).backward();
  return last.ffn.linear2.weight.grad().norm().item();
}

TrapRow::Value over_seeds(std::int64_t layers, Judged judged) {
  std::vector<double> values;
  for (std::uint64_t seed = 0; seed < kTrapSeeds; ++seed)
    values.push_back(top_gradient(layers, seed, judged));
  return {lab::mean(values), lab::standard_deviation(values) / std::sqrt(double(kTrapSeeds))};
}

kit::Series series_of(const std::vector<TrapRow>& rows, const char* name, TrapRow::Value TrapRow::*value,
                      int style) {
  kit::Series series{.name = name, .spread = kit::Spread::error_bars, .style = style};
  for (const TrapRow& row : rows) {
    const auto& [mean, error] = row.*value;
    series.x.push_back(static_cast<double>(row.layers));
    series.y.push_back(mean);
    series.low.push_back(mean - 2 * error);
    series.high.push_back(mean + 2 * error);
  }
  return series;
}

}  // namespace

std::vector<TrapRow> measure_trap() {
  std::vector<TrapRow> rows;
  for (const std::int64_t layers : {1, 2, 4, 8, 16, 32})
    rows.push_back({layers, over_seeds(layers, Judged::one_position),
                    over_seeds(layers, Judged::all_positions),
                    over_seeds(layers, Judged::all_with_one_target)});
  return rows;
}

kit::LineChart trap_chart(const std::vector<TrapRow>& rows) {
  return {.title = "Post-LN: whose loss?",
          .description =
              "Bars: two standard errors to either side. Only the mean over positions that share one target "
              "grows with depth by more than its bars.",
          .x_label = "layers L",
          .y_label = "|∂loss/∂W₂| of the last block, mean of 40 seeds",
          .x_axis = kit::AxisKind::log,
          .y_low = 0,
          .x_ticks = {1, 2, 4, 8, 16, 32},
          .series = {series_of(rows, "at one position", &TrapRow::one_position, 1),
                     series_of(rows, "mean over 8 positions", &TrapRow::all_positions, 2),
                     series_of(rows, "mean, the same target at all 8", &TrapRow::one_target, 3)}};
}

}  // namespace gradus::docs
