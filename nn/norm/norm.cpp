#include "gradus/nn/norm/norm.h"

#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

LayerNorm::LayerNorm(std::int64_t dim, const LayerNormOptions& options)
    : Module("LayerNorm"), dim_(dim), eps_(options.eps) {
  expect_positive("LayerNorm", "dim", dim);
  expect_eps("LayerNorm", options.eps);
  if (!options.affine) return;
  weight = parameter("weight", ones({dim}));
  if (options.bias) bias = parameter("bias", zeros({dim}));
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_last_axis("LayerNorm", "x", x, dim_, weight.defined() ? weight.dtype() : x.dtype());
  return report(layer_norm(x, weight, bias, eps_));
}

RMSNorm::RMSNorm(std::int64_t dim, const RMSNormOptions& options)
    : Module("RMSNorm"), dim_(dim), eps_(options.eps) {
  expect_positive("RMSNorm", "dim", dim);
  expect_eps("RMSNorm", options.eps);
  if (options.affine) weight = parameter("weight", ones({dim}));
}

Tensor RMSNorm::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_last_axis("RMSNorm", "x", x, dim_, weight.defined() ? weight.dtype() : x.dtype());
  return report(rms_norm(x, weight, eps_));
}

}  // namespace gradus::nn
