// |dL/dx_l| along a stack of 48 blocks that has not been trained, with each norm and with none.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/gradus.h"
#include "lab/studies/norms/norms.h"

namespace gradus::lab::norms {

namespace {

/// norm(f(x)): no shortcut.
struct Plain : nn::Module {
  explicit Plain(const nn::BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return norm(f(x)); }
  nn::Norm norm;
};

void scale_blocks(const nn::GPT& model, double scale) {
  const NoGrad guard;
  for (const auto& [name, w] : model.named_parameters())
    if (name.starts_with("layers.") && w.dim() >= 2) w.copy_(w * scale);
}

}  // namespace

const std::vector<Start>& starts() {
  static const std::vector<Start> all = {
      {"pre-x1", "Pre-LN", nn::pre_ln(), 1},
      {"pre-x2", "Pre-LN, weights x 2", nn::pre_ln(), 2},
      {"post-x1", "Post-LN", nn::post_ln(), 1},
      {"post-x2", "Post-LN, weights x 2", nn::post_ln(), 2},
      {"plain-x1", "norm(f(x))", nn::placement<Plain>({.name = "no shortcut"}), 1}};
  return all;
}

Measured measure_start(const Start& start, const Kind& kind, std::uint64_t seed) {
  const DefaultDType dtype(f64);  // without a norm, numbers leave the range of f32
  TrialOptions options = tiny_trial();
  options.placement = start.placement;
  options.layers = kStartLayers;
  options.block.norm = kind.make;
  options.seed = seed;
  nn::GPT model = new_model(tiny_task(), options);
  scale_blocks(model, start.scale);
  Generator generator(seed, 1);
  const Batch batch = tiny_task().batch(options.batch, generator);
  nn::Probe probe;
  model.loss(batch.inputs, batch.targets).backward();

  // Values that are 0 or not finite count as an end of the range of f64.
  std::vector<double> gradients;
  for (const nn::ProbeRow& row : probe.rows())
    if (row.layer.starts_with("layers.") && row.layer.find('.', 7) == std::string::npos) {
      const double norm = row.activation_gradient_norm;
      gradients.push_back(std::log10(std::isfinite(norm) ? std::max(norm, 1e-308) : 1e308));
    }
  const auto [least, largest] = std::minmax_element(gradients.begin(), gradients.end());
  return {.numbers = {{"spread", *largest - *least}},
          .series = {{"gradient", thinned(gradients, kStartPoints)}}};
}

}  // namespace gradus::lab::norms
