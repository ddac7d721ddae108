#pragma once
// Sliding windows for convolutions and pooling: views of x.

#include "gradus/nn/convolution/conv.h"

namespace gradus::nn {

/// [B, C, T] -> [B, C, T', size]
Tensor windows_1d(const char* layer, const Tensor& x, std::int64_t size, std::int64_t step);
/// [B, C, H, W] -> [B, C, H', W', h, w]
Tensor windows_2d(const char* layer, const Tensor& x, const Size2& size, const Size2& step);

}  // namespace gradus::nn
