#include "gradus/nn/norm/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/reduce/var_mean.h"

namespace gradus::nn {

namespace {

/// (x - mean) / sqrt(var + eps), with the moments of x over `axes`. If a channel's variance overflows, or is
/// so small that the derivative of its square root might, x is first multiplied by a power of 2 in that
/// channel.
Tensor normalized(const Tensor& x, const VarMean& moments, const Axes& axes, double eps) {
  const Tensor of_root = moments.var + eps;
  const double least = x.dtype() == f32 ? 0x1p-80 : 0x1p-600;
  const auto in_range = [=](double v) { return !(v <= least || std::isinf(v)); };  // NaN passes
  std::vector<double> scaled_eps = of_root.to_vector<double>();
  if (std::all_of(scaled_eps.begin(), scaled_eps.end(), in_range))
    return moments.deviations(x) * rsqrt(of_root);
  const Tensor largest = max(abs(moments.deviations(x).detach()), axes, /*keepdim=*/true);
  std::vector<double> scale = largest.to_vector<double>();
  const int most = x.dtype() == f32 ? 126 : 1022;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const double size = std::max(scale[i], std::sqrt(eps));
    const bool keeps = in_range(scaled_eps[i]) || scale[i] == 0;  // ordinary, or constant
    scale[i] = keeps ? 1 : std::ldexp(1, -std::clamp(std::ilogb(size), -most, most));
    scaled_eps[i] = scale[i] == 1 ? eps : std::pow(scale[i] * std::sqrt(eps), 2);
  }
  const auto tensor_of = [&](const std::vector<double>& values) {
    return from_vector(values, of_root.shape()).to(x.dtype());
  };
  const Tensor scaled = x * tensor_of(scale);
  const VarMean of = var_mean(scaled, axes, /*unbiased=*/false);
  return of.deviations(scaled) * rsqrt(of.var + tensor_of(scaled_eps));
}

}  // namespace

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

/// As in PyTorch: the running variance is unbiased, the batch's is not. When out of memory, nothing changes.
void BatchNorm::update(const Tensor& mean, const Tensor& var, std::int64_t count) const {
  const NoGrad guard;
  const double m = options_.momentum, n = static_cast<double>(count);
  const Tensor new_mean = running_mean * (1 - m) + mean.reshape({channels_}) * m;
  const Tensor new_var = running_var * (1 - m) + var.reshape({channels_}) * (m * n / (n - 1));
  const Tensor batches = num_batches_tracked + 1;
  running_mean.copy_(new_mean);
  running_var.copy_(new_var);
  num_batches_tracked.copy_(batches);
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_channels("BatchNorm", x, options_.axis, channels_, weight.defined() ? weight.dtype() : x.dtype());
  const Shape shape = channel_shape(x, options_.axis, channels_);
  const bool of_batch = is_training() || !options_.running_stats;
  VarMean moments;
  Tensor y;
  const std::int64_t count = x.numel() / channels_;
  if (of_batch) {
    Axes others;
    for (std::int64_t i = 0; i < x.dim(); ++i)
      if (i != (options_.axis < 0 ? x.dim() + options_.axis : options_.axis)) others.push_back(i);
    check(count > 1, "BatchNorm: expects more than one value per channel in training, got x {}", x.shape());
    moments = var_mean(x, others, /*unbiased=*/false);
    y = normalized(x, moments, others, options_.eps);
  } else {
    check(!isinf(running_var).any(),
          "BatchNorm: running_var {} contains inf, so eval mode would give 0: in training a variance "
          "overflowed {}: make x smaller, or train in f64",
          running_var.shape(), running_var.dtype());
    y = (x - running_mean.reshape(shape)) * rsqrt(running_var.reshape(shape) + options_.eps);
  }
  if (options_.affine) y = y * weight.reshape(shape) + bias.reshape(shape);
  // Last, so that a call that fails does not change the running statistics.
  if (is_training() && options_.running_stats && !recomputing()) update(moments.mean, moments.var, count);
  return report(y);
}

}  // namespace gradus::nn
