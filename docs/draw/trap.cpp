// The trap of averaging over positions: see docs/lab.md.

#include <fmt/format.h>
#include <cmath>

#include "docs/draw/lab_figures.h"
#include "gradus/gradus.h"

namespace gradus::docs {

namespace {

constexpr std::int64_t T = 8, C = 64, V = 16;
constexpr std::int64_t kDepths[] = {1, 2, 4, 8, 16, 32};

/// The initial weights of Xiong et al.: matrices N(0, 1/d), biases 0, queries and keys 0.
nn::PostLNBlock random_block(Generator& generator) {
  const nn::PostLNBlock block({.d_model = C, .heads = 1, .d_ff = C});
  for (const auto& [name, w] : block.named_parameters())
    if (!name.starts_with("norm"))
      nn::init::normal_(w, 0, w.dim() == 2 ? 1 / std::sqrt(double(C)) : 0, generator);
  const NoGrad guard;
  block.self_attn.in_proj_weight.slice(0, 0, 2 * C) = 0.0;
  return block;
}

/// |dL/dW2| of `last`, whose input is x, for the mean loss over the first positions, one for each target.
double top_gradient(const nn::PostLNBlock& last, const Tensor& x, const Tensor& head, const Tensor& targets) {
  last.zero_grad();
  cross_entropy(linear(last(x).slice(1, 0, targets.size(1)), head), targets).backward();
  return last.ffn.linear2.weight.grad().norm().item();
}

/// One value per seed.
struct Values {
  std::vector<double> one_position, all_positions, one_target;
};

/// One stack of 32 blocks: a stack of L consists of its first L, so that depths differ in nothing else.
void measure_seed(std::uint64_t seed, std::vector<Values>& by_depth) {
  Generator generator(seed);
  Tensor x = randn({1, T, C}, generator);
  const Tensor head = randn({V, C}, generator) / std::sqrt(double(C));
  const Tensor targets = randint(0, V, {1, T}, generator);
  std::size_t depth = 0;
  for (std::int64_t l = 1; depth < std::size(kDepths); ++l) {
    const nn::PostLNBlock block = random_block(generator);
    if (l == kDepths[depth]) {
      Values& values = by_depth[depth++];
      values.one_position.push_back(top_gradient(block, x, head, targets.slice(1, 0, 1)));
      values.all_positions.push_back(top_gradient(block, x, head, targets));
      values.one_target.push_back(top_gradient(block, x, head, zeros_like(targets)));
    }
    const NoGrad guard;
    x = block(x);
  }
}

TrapRow::Value value_of(const std::vector<double>& values) {
  return {lab::mean(values), lab::standard_deviation(values) / std::sqrt(double(values.size()))};
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
  std::vector<Values> by_depth(std::size(kDepths));
  for (std::uint64_t seed = 0; seed < kTrapSeeds; ++seed) measure_seed(seed, by_depth);
  std::vector<TrapRow> rows;
  for (std::size_t i = 0; i < by_depth.size(); ++i)
    rows.push_back({kDepths[i], value_of(by_depth[i].one_position), value_of(by_depth[i].all_positions),
                    value_of(by_depth[i].one_target)});
  return rows;
}

kit::LineChart trap_chart(const std::vector<TrapRow>& rows) {
  return {.title = "Post-LN: whose loss?",
          .description =
              "Bars: two standard errors to either side. For the loss at one position the gradient is "
              "constant; for "
              "both means over positions it grows, most if all share one target.",
          .x_label = "layers L",
          .y_label = fmt::format("|∂loss/∂W₂| of the last block, mean of {} seeds", kTrapSeeds),
          .x_axis = kit::AxisKind::log,
          .y_low = 0,
          .x_ticks = {1, 2, 4, 8, 16, 32},
          .series = {series_of(rows, "at one position", &TrapRow::one_position, 1),
                     series_of(rows, "mean over 8 positions", &TrapRow::all_positions, 2),
                     series_of(rows, "mean, the same target at all 8", &TrapRow::one_target, 3)}};
}

}  // namespace gradus::docs
