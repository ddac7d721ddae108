#include "gradus/nn/layers/linear.h"

#include <cmath>

#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

Linear::Linear(std::int64_t in, std::int64_t out, const LinearOptions& options) : Module("Linear") {
  expect_positive("Linear", "in", in);
  expect_positive("Linear", "out", out);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = parameter("weight", init::uniform_(empty({out, in}), -bound, bound));
  if (options.bias) bias = parameter("bias", init::uniform_(empty({out}), -bound, bound));
}

Linear::Linear(const Parameter& shared, const LinearOptions& options) : Module("Linear") {
  expect_table("Linear", "[out, in]", shared);
  weight = parameter("weight", shared);
  const double bound = 1 / std::sqrt(static_cast<double>(shared.size(1)));
  const DType dtype = is_half(shared.dtype()) ? f32 : shared.dtype();
  if (options.bias) bias = parameter("bias", init::uniform_(empty({shared.size(0)}, dtype), -bound, bound));
}

Tensor Linear::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_last_axis("Linear", "x", x, weight.size(1), weight.dtype());
  return report(linear(x, weight, bias));
}

Tensor Linear::operator()(const Tensor& x, Activation activation) const {
  const Scope scope(path());
  expect_last_axis("Linear", "x", x, weight.size(1), weight.dtype());
  return report(linear(x, weight, bias, activation));
}

}  // namespace gradus::nn
