#include "gradus/nn/norm/batch_norm.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

BatchNorm::BatchNorm(std::int64_t channels, const BatchNormOptions& options)
    : Module("BatchNorm"), channels_(channels), options_(options) {
  expect_positive("BatchNorm", "channels", channels);
  expect_eps("BatchNorm", options.eps);
  expect_probability("BatchNorm", "momentum", options.momentum);
  if (options.affine) {
    weight = parameter("weight", ones({channels}));
    bias = parameter("bias", zeros({channels}));
  }
  if (!options.running_stats) return;
  running_mean = buffer("running_mean", zeros({channels}));
  running_var = buffer("running_var", ones({channels}));
  num_batches_tracked = buffer("num_batches_tracked", zeros({}, i64));
}

BatchNorm::BatchNorm(const NormOptions& options)
    : BatchNorm(options.d_model, {.eps = options.eps, .axis = -1}) {}

/// As PyTorch: the running variance is unbiased, that of the batch is not.
void BatchNorm::update(const Tensor& mean, const Tensor& var, std::int64_t count) const {
  const NoGrad guard;
  const double m = options_.momentum, n = static_cast<double>(count);
  running_mean.copy_(running_mean * (1 - m) + mean.reshape({channels_}) * m);
  running_var.copy_(running_var * (1 - m) + var.reshape({channels_}) * (m * n / (n - 1)));
  num_batches_tracked.copy_(num_batches_tracked + 1);
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_channels("BatchNorm", x, options_.axis, channels_, weight.defined() ? weight.dtype() : x.dtype());
  const Shape shape = channel_shape(x, options_.axis, channels_);
  Tensor mean, var;
  if (is_training() || !options_.running_stats) {
    Axes others;
    for (std::int64_t i = 0; i < x.dim(); ++i)
      if (i != (options_.axis < 0 ? x.dim() + options_.axis : options_.axis)) others.push_back(i);
    const std::int64_t count = x.numel() / channels_;
    check(count > 1, "BatchNorm: expects more than one value a channel in training, got x {}", x.shape());
    mean = gradus::mean(x, others, true);
    var = gradus::var(x, others, {.keepdim = true, .unbiased = false});
    if (is_training() && options_.running_stats && !recomputing()) update(mean, var, count);
  } else {
    mean = running_mean.reshape(shape);
    var = running_var.reshape(shape);
  }
  const Tensor y = (x - mean) * rsqrt(var + options_.eps);
  return report(options_.affine ? y * weight.reshape(shape) + bias.reshape(shape) : y);
}

}  // namespace gradus::nn
