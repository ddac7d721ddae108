#include "lab/studies/stack.h"

#include <cmath>

#include "gradus/gradus.h"
#include "lab/training/weights.h"

namespace gradus::lab {

Tensor Stack::loss(const Tensor& output) const {
  return cross_entropy(linear(output.select(1, 0), head), target);
}

Stack make_stack(const nn::Placement& placement, const std::string& scheme, std::int64_t layers,
                 std::uint64_t seed, Generator& generator) {
  const bool xiong = scheme == "xiong";
  const nn::TransformerEncoder encoder(
      {.layers = layers,
       .placement = placement,
       .block = {.d_model = kStackWidth, .heads = xiong ? 1 : 4, .d_ff = (xiong ? 1 : 4) * kStackWidth}});
  set_weights(encoder, scheme, layers, generator);
  if (placement.init) {
    manual_seed(seed);  // of this thread's generator, which it draws from
    placement.init(encoder, encoder.options().block);
  }
  const Tensor head =
      randn({kStackClasses, kStackWidth}, generator) / std::sqrt(static_cast<double>(kStackWidth));
  const Tensor input = randn({1, kStackPositions, kStackWidth}, generator);
  nn::prepare_(encoder, [&] { encoder(input); });
  return {encoder, head, input, randint(0, kStackClasses, {1}, generator)};
}

Tensor sum_of(const nn::AnyBlock& block, const Tensor& input, const Tensor& output) {
  const auto* const post = block.as<nn::PostLNBlock>();
  if (!post) return output;
  const NoGrad guard;
  const Tensor h = post->norm1(input + post->self_attn(input));
  return h + post->ffn(h);
}

double norms_alone(std::int64_t layers) { return std::pow(2.0 / 3, static_cast<double>(layers - 1) / 2); }

}  // namespace gradus::lab
