// The information about the input token in a stack's output, and the effect of large branches or inputs.

#include <cmath>

#include "gradus/gradus.h"
#include "lab/studies/start/ridge.h"
#include "lab/studies/start/start.h"
#include "lab/training/weights.h"

namespace gradus::lab::start {

namespace {

constexpr std::int64_t kReadWidth = 32, kReadPositions = 4, kReadLayers = 6;
constexpr std::int64_t kTokens = 3000, kFitted = 2000;

nn::TransformerEncoder stack_of(const std::string& placement, std::uint64_t seed) {
  const nn::TransformerEncoder encoder({.layers = kReadLayers,
                                        .placement = placement_of(placement),
                                        .block = {.d_model = kReadWidth, .heads = 4}});
  Generator generator(seed, 5);
  set_weights(encoder, "fan_in", kReadLayers, generator);
  return encoder;
}

/// x and |x| of the first position of each sequence.
Rows features_of(const Tensor& x) {
  const Tensor first = x.select(1, 0).contiguous();
  const std::vector<double> values = first.to_vector<double>();
  Rows rows(static_cast<std::size_t>(kTokens));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(kReadWidth); ++j) {
      const double value = values[i * static_cast<std::size_t>(kReadWidth) + j];
      rows[i].push_back(value);
      rows[i].push_back(std::abs(value));
    }
  return rows;
}

Tensor blocks_output(const nn::TransformerEncoder& encoder, Tensor x) {
  for (const nn::AnyBlock& block : encoder.layers) x = block(x);
  return x;
}

/// The tokens to distinguish: the log of their scale, and their direction.
struct Tokens {
  Tensor x;  // [kTokens, kReadPositions, kReadWidth]; the first position is the token
  std::vector<double> log_scale;
  Rows directions;  // one target each
};

Tokens draw_tokens(std::uint64_t seed) {
  Generator generator(seed, 6);
  Tokens tokens{
      .x = randn({kTokens, kReadPositions, kReadWidth}, generator), .log_scale = {}, .directions = {}};
  const Tensor log_scale = 0.3 * randn({kTokens, 1}, generator);
  Tensor direction = tokens.x.select(1, 0);
  direction = direction / direction.square().mean(-1, true).sqrt();
  tokens.x.select(1, 0).copy_(direction * log_scale.exp());
  tokens.log_scale = log_scale.flatten().to_vector<double>();
  for (std::int64_t j = 0; j < kReadWidth; ++j)
    tokens.directions.push_back(direction.select(1, j).to_vector<double>());
  return tokens;
}

void multiply_branches(const nn::TransformerEncoder& encoder, double factor) {
  const NoGrad guard;
  for (const auto& [name, w] : encoder.named_parameters())
    if (name.ends_with("out_proj.weight") || name.ends_with("linear2.weight")) w.copy_(w * factor);
}

struct EndSizes {
  double output, gradient;
};

/// Lengths of the stack's output and of the gradient of a random linear function of it.
EndSizes sizes_of(const nn::TransformerEncoder& encoder, Tensor x, const Tensor& weights) {
  x = x.clone();
  x.requires_grad_();
  const Tensor y = encoder(x);
  y.backward(weights);
  return {y.norm().item(), x.grad().norm().item()};
}

}  // namespace

Measured measure_information(std::uint64_t seed) {
  const NoGrad guard;
  const Tokens tokens = draw_tokens(seed);
  const auto fitted = static_cast<std::size_t>(kFitted);
  Measured measured;
  const auto read = [&](const std::string& from, const Tensor& x) {
    const Rows features = features_of(x);
    measured.numbers["norm." + from] = held_out_r2(features, tokens.log_scale, fitted);
    measured.numbers["direction." + from] = mean_held_out_r2(features, tokens.directions, fitted);
  };
  read("input", tokens.x);
  read("branch", layer_norm(tokens.x, {}, {}, 1e-5));
  const nn::TransformerEncoder pre = stack_of("pre", seed);
  const Tensor stream = blocks_output(pre, tokens.x);
  read("pre", stream);
  read("pre-normed", (*pre.norm)(stream));
  read("post", blocks_output(stack_of("post", seed), tokens.x));
  return measured;
}

Measured measure_scaled(std::uint64_t seed) {
  Measured measured;
  Generator generator(seed, 8);
  const Tensor x = randn({1, kReadPositions, kReadWidth}, generator);
  const Tensor weights = randn({1, kReadPositions, kReadWidth}, generator);
  for (const auto& [placement, title] : kPlacements) {
    std::vector<double> outputs, gradients;
    for (const double factor : {1.0, 10.0, 100.0, 1000.0}) {
      const nn::TransformerEncoder encoder = stack_of(placement, seed);
      multiply_branches(encoder, factor);
      const EndSizes sizes = sizes_of(encoder, x, weights);
      outputs.push_back(sizes.output), gradients.push_back(sizes.gradient);
    }
    const EndSizes input = sizes_of(stack_of(placement, seed), 1000.0 * x, weights);
    measured.numbers["output." + placement] = outputs.back() / outputs.front();
    measured.numbers["gradient." + placement] = gradients.back() / gradients.front();
    measured.numbers["output.input." + placement] = input.output / outputs.front();
    measured.series["outputs." + placement] = outputs;
    measured.series["gradients." + placement] = gradients;
  }
  return measured;
}

}  // namespace gradus::lab::start
