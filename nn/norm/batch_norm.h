#pragma once
#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

struct BatchNormOptions {
  double eps = 1e-5;          // inside the square root
  double momentum = 0.1;      // the weight of a batch in the running statistics
  bool affine = true;         // with weight and bias
  bool running_stats = true;  // false: the batch's statistics, in eval mode too
  std::int64_t axis = 1;      // of the channels
};

/// (x - mean) / sqrt(var + eps) * weight + bias, per channel over all other axes (Ioffe & Szegedy 2015), with
/// the batch's statistics in training and running statistics, which every training call updates, in eval
/// mode. x [B, C, ...] as in PyTorch's BatchNorm1d and BatchNorm2d, whose keys it has; `axis` selects another
/// channel axis. In blocks, made by make_norm<BatchNorm>, channels are the last axis, and statistics are over
/// batch and positions. `nn::BatchNorm norm(64);`  Throws for one value per channel in training, which has no
/// variance. A batch is normalized correctly even if its variance overflows or underflows the dtype (f32:
/// deviations above 1e19 or below 1e-19), or if it is far from 0 (in f64, a |mean| of less than 9e10
/// deviations costs the digits that subtracting a rounded mean does). But eval mode only has running_mean and
/// running_var: if a variance there is inf, it throws, where PyTorch gives 0. With eps 0 a constant channel
/// gives NaN.
struct BatchNorm : Module {
  explicit BatchNorm(std::int64_t channels, const BatchNormOptions& options = {});
  explicit BatchNorm(const NormOptions& options);
  Tensor operator()(const Tensor& x) const;

  Parameter weight, bias;                                 // [C]; undefined without affine
  Buffer running_mean, running_var, num_batches_tracked;  // [C], [C], []; undefined without running_stats

 private:
  void update(const Tensor& mean, const Tensor& var, std::int64_t count) const;
  std::int64_t channels_;
  BatchNormOptions options_;
};

}  // namespace gradus::nn
