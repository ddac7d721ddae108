#include "lab/studies/jacobians/own_norm.h"

#include "gradus/gradus.h"

namespace gradus::lab {

namespace {

/// The norm's values, where the gradient of x is the result of `back` for their gradient.
template <class Back>
Tensor with_backward(const Tensor& x, double eps, const Back& back) {
  const Tensor values = layer_norm(x.detach(), {}, {}, eps);
  const Tensor nothing = x - x.detach();  // 0, but on the tape
  if (nothing.requires_grad()) nothing.on_grad(back);
  return values + nothing;
}

Tensor normed(const Tensor& x, double eps, NormBackward backward) {
  if (backward == NormBackward::right) return layer_norm(x, {}, {}, eps);
  const Tensor mu = x.detach().mean(-1, true);
  const Tensor sigma = (x.detach().var(-1, {.keepdim = true, .unbiased = false}) + eps).sqrt();
  if (backward == NormBackward::constant_sigma)
    return with_backward(x, eps, [sigma](const Tensor& g) { return (g - g.mean(-1, true)) / sigma; });
  if (backward == NormBackward::printed)
    return with_backward(x, eps, [sigma, mu](const Tensor& g) { return (g - mu * g.sum(-1, true)) / sigma; });
  return with_backward(x, eps, [sigma](const Tensor& g) { return g / sigma; });
}

}  // namespace

OwnLayerNorm::OwnLayerNorm(const nn::NormOptions& options, NormBackward backward)
    : Module("OwnLayerNorm"), eps_(options.eps), backward_(backward) {
  weight = parameter("weight", ones({options.d_model}));
  bias = parameter("bias", zeros({options.d_model}));
}

Tensor OwnLayerNorm::operator()(const Tensor& x) const { return normed(x, eps_, backward_) * weight + bias; }

nn::MakeNorm own_layer_norm(NormBackward backward) {
  return [backward](const nn::NormOptions& options) -> nn::Norm { return OwnLayerNorm(options, backward); };
}

}  // namespace gradus::lab
