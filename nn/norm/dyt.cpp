#include "gradus/nn/norm/dyt.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

DyT::DyT(std::int64_t dim, const DyTOptions& options) : Module("DyT") {
  expect_positive("DyT", "dim", dim);
  check(std::isfinite(options.alpha), "DyT: expects a finite alpha, got {}", options.alpha);
  alpha = parameter("alpha", full({1}, options.alpha));
  weight = parameter("weight", ones({dim}));
  if (options.bias) bias = parameter("bias", zeros({dim}));
}

Tensor DyT::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_last_axis("DyT", "x", x, weight.size(0), weight.dtype());
  const Tensor y = weight * tanh(alpha * x);
  return report(bias.defined() ? y + bias : y);
}

}  // namespace gradus::nn
