#pragma once
#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

struct BatchNormOptions {
  double eps = 1e-5;          // inside the square root
  double momentum = 0.1;      // how much of a batch goes into the running statistics
  bool affine = true;         // with gain and bias
  bool running_stats = true;  // false: those of the batch, in eval mode too
  std::int64_t axis = 1;      // of the channels
};

/// (x - mean) / sqrt(var + eps) * weight + bias, per channel over all other axes (Ioffe & Szegedy 2015): of
/// the batch in training, and in eval mode of running statistics, which every training call updates. x [B, C,
/// ...] as PyTorch's BatchNorm1d and BatchNorm2d, whose keys these are; another place of the channels by
/// `axis`. In blocks, made by make_norm<BatchNorm>, channels are the last axis, and statistics go over batch
/// and positions. `nn::BatchNorm norm(64);`  Throws on one value a channel in training, which has no
/// variance. A batch whose variance the dtype does not hold (f32: deviations above 1e19 or below 1e-19) is
/// normalized all the same, and so is one far from 0 (in f64, |mean| of less than 9e10 deviations costs the
/// digits that subtracting a rounded mean does). But eval mode has only what running_mean and
/// running_var hold: if a variance is inf there, as in PyTorch, it throws, where PyTorch gives 0. With eps 0
/// a constant channel gives NaN.
struct BatchNorm : Module {
  explicit BatchNorm(std::int64_t channels, const BatchNormOptions& options = {});
  explicit BatchNorm(const NormOptions& options);
  Tensor operator()(const Tensor& x) const;

  Parameter weight, bias;                                 // [C]; undefined where the options say so
  Buffer running_mean, running_var, num_batches_tracked;  // [C], [C], []; undefined likewise

 private:
  void update(const Tensor& mean, const Tensor& var, std::int64_t count) const;
  std::int64_t channels_;
  BatchNormOptions options_;
};

}  // namespace gradus::nn
