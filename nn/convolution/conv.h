#pragma once
#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// Sizes along height and width: `3` is {3, 3}.
struct Size2 {
  Size2(std::int64_t both) : h(both), w(both) {}
  Size2(std::int64_t height, std::int64_t width) : h(height), w(width) {}
  std::int64_t h, w;  // height and width
};

struct Conv1dOptions {
  std::int64_t stride = 1;   // from window to window
  std::int64_t padding = 0;  // zeros on both sides
  bool bias = true;          // adds one value per output channel
};

/// Slides windows of `kernel` positions over x [B, in, T] and multiplies each by the weight: [B, out, T'],
/// with T' = (T + 2 padding - kernel) / stride + 1, rounded down. Keys, layout and initial values are
/// PyTorch's; dilation and groups are not supported. Windows are views, so this is one product with T' rows
/// for each of B. `nn::Conv1d conv(8, 16, 3, {.padding = 1});`
struct Conv1d : Module {
  Conv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, const Conv1dOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter weight, bias;  // [out, in, kernel], [out] or undefined

 private:
  Conv1dOptions options_;
};

struct Conv2dOptions {
  Size2 stride = 1;   // pixels from one window to the next
  Size2 padding = 0;  // zeros around the image
  bool bias = true;   // adds one value per output channel
};

/// The same in two dimensions: x [B, in, H, W] -> [B, out, H', W']. `nn::Conv2d conv(3, 16, 5, {.stride =
/// 2});`
struct Conv2d : Module {
  Conv2d(std::int64_t in, std::int64_t out, const Size2& kernel, const Conv2dOptions& options = {});
  Tensor operator()(const Tensor& x) const;

  Parameter weight, bias;  // [out, in, h, w], [out] or undefined

 private:
  Conv2dOptions options_;
};

}  // namespace gradus::nn
