#pragma once
#include <optional>

#include "gradus/nn/convolution/conv.h"

namespace gradus::nn {

struct Pool1dOptions {
  std::optional<std::int64_t> stride = {};  // not given: the kernel's size, so that windows do not overlap
};
struct Pool2dOptions {
  std::optional<Size2> stride = {};  // as in Pool1dOptions
};

/// The largest element of every window: x [B, C, T] -> [B, C, T']. The gradient goes to the first of equal
/// elements. `nn::MaxPool1d pool(2);`
struct MaxPool1d : Module {
  explicit MaxPool1d(std::int64_t kernel, const Pool1dOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  std::int64_t kernel_, stride_;
};

/// x [B, C, H, W] -> [B, C, H', W']
struct MaxPool2d : Module {
  explicit MaxPool2d(const Size2& kernel, const Pool2dOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  Size2 kernel_, stride_;
};

/// The mean of every window: x [B, C, T] -> [B, C, T'].
struct AvgPool1d : Module {
  explicit AvgPool1d(std::int64_t kernel, const Pool1dOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  std::int64_t kernel_, stride_;
};

/// x [B, C, H, W] -> [B, C, H', W']. (A mean over the whole image is x.mean({-2, -1}).)
struct AvgPool2d : Module {
  explicit AvgPool2d(const Size2& kernel, const Pool2dOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  Size2 kernel_, stride_;
};

}  // namespace gradus::nn
