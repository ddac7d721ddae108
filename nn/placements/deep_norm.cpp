#include "gradus/nn/placements/deep_norm.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/module/init.h"

namespace gradus::nn {

namespace {

/// The numbers hold for stacks of these sizes alone.
void expect_depth(const BlockOptions& o, const char* stack, std::int64_t layers) {
  check(
      o.layers == layers,
      "DeepNorm: was made for {0} blocks in the {1}, this one has {2}: use deep_norm({{.encoder_layers = N, "
      ".decoder_layers = M}}) with .{1}_layers = {2}",
      layers, stack, o.layers);
}

double depth(const BlockOptions& options) { return static_cast<double>(options.layers); }

/// The weights of one module; in_proj_weight holds the rows of queries, keys and values.
void set_weights(const Module& m, double beta) {
  if (m.kind() == "MultiheadAttention") {
    const Tensor weight = m.parameter("in_proj_weight");
    const std::int64_t keys = m.parameter("out_proj.weight").size(1), values = (keys + weight.size(0)) / 2;
    init::xavier_normal_(weight.slice(0, 0, keys));
    init::xavier_normal_(weight.slice(0, keys, values));
    init::xavier_normal_(weight.slice(0, values), beta);
  } else if (m.kind() == "Linear") {  // of the FFN, or an attention's output projection
    init::xavier_normal_(m.parameter("weight"), beta);
  }
}

void set_initial_values(const Module& stack, double beta) {
  stack.apply([&](const Module& m) { set_weights(m, beta); });
}

Placement deep_norm_of(const std::function<double(const BlockOptions&)>& alpha,
                       const std::function<double(const BlockOptions&)>& decoder_alpha,
                       std::function<void(const Module&, const BlockOptions&)> init) {
  return {.name = "DeepNorm",
          .equation = "LN(a x + f(x)), a = (2L)^(1/4); others for encoder and decoder",
          .paper = "Wang et al. 2022, arXiv 2203.00555",
          .block =
              [alpha](const BlockOptions& o) {
                const double a = alpha(o);
                return Block<DeepNorm>(o, DeepNorm(o, a), DeepNorm(o, a));
              },
          .decoder_block =
              [decoder_alpha](const BlockOptions& o) {
                const double a = decoder_alpha(o);
                return DecoderBlock<DeepNorm>(o, DeepNorm(o, a), DeepNorm(o, a), DeepNorm(o, a));
              },
          .init = std::move(init)};
}

}  // namespace

DeepNorm::DeepNorm(const BlockOptions& options) : DeepNorm(options, std::pow(2 * depth(options), 0.25)) {}

Placement deep_norm() {
  Placement placement = deep_norm_of([](const BlockOptions& o) { return std::pow(2 * depth(o), 0.25); }, {},
                                     [](const Module& stack, const BlockOptions& o) {
                                       set_initial_values(stack, std::pow(8 * depth(o), -0.25));
                                     });
  placement.decoder_block = [](const BlockOptions&) -> AnyDecoderBlock {
    fail(
        "DeepNorm: a model with a decoder has other numbers, in its encoder too: use "
        "deep_norm({.encoder_layers = "
        "N, .decoder_layers = M}) for both");
  };
  return placement;
}

Placement deep_norm(const DeepNormOptions& options) {
  check(options.encoder_layers > 0 && options.decoder_layers > 0,
        "DeepNorm: expects encoder_layers and decoder_layers of 1 or more, got {} and {}",
        options.encoder_layers, options.decoder_layers);
  const double n = static_cast<double>(options.encoder_layers);
  const double m = static_cast<double>(options.decoder_layers);
  const double both = std::pow(n * n * n * n * m, 1.0 / 16);
  Placement placement = deep_norm_of(
      [both, options](const BlockOptions& o) {
        expect_depth(o, "encoder", options.encoder_layers);
        return 0.81 * both;
      },
      [m, options](const BlockOptions& o) {
        expect_depth(o, "decoder", options.decoder_layers);
        return std::pow(3 * m, 0.25);
      },
      [both, m](const Module& stack, const BlockOptions&) {
        const bool encoder = stack.kind() == "TransformerEncoder";
        set_initial_values(stack, encoder ? 0.87 / both : std::pow(12 * m, -0.25));
      });
  placement.name = fmt::format("DeepNorm {}-{}", options.encoder_layers, options.decoder_layers);
  return placement;
}

}  // namespace gradus::nn
