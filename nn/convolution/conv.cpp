#include "gradus/nn/convolution/conv.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/detail/windows.h"
#include "gradus/nn/module/init.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

/// U(-b, b), b = 1 / sqrt(fan_in).
void make_parameters(const Module& module, Parameter& weight, Parameter& bias, const Shape& shape,
                     bool with_bias) {
  double fan_in = 1;
  for (int i = 1; i < static_cast<int>(shape.size()); ++i) fan_in *= static_cast<double>(shape[i]);
  const double bound = 1 / std::sqrt(fan_in);
  weight = module.parameter("weight", init::uniform_(empty(shape), -bound, bound));
  if (with_bias) bias = module.parameter("bias", init::uniform_(empty({shape[0]}), -bound, bound));
}

}  // namespace

Conv1d::Conv1d(std::int64_t in, std::int64_t out, std::int64_t kernel, const Conv1dOptions& options)
    : Module("Conv1d"), options_(options) {
  expect_positive("Conv1d", "in", in);
  expect_positive("Conv1d", "out", out);
  expect_positive("Conv1d", "kernel", kernel);
  expect_positive("Conv1d", "stride", options.stride);
  check(options.padding >= 0, "Conv1d: expects padding of 0 or more, got {}", options.padding);
  make_parameters(*this, weight, bias, {out, in, kernel}, options.bias);
}

Tensor Conv1d::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_image("Conv1d", x, 1, weight.size(1), weight.dtype());
  const Tensor windows = windows_1d("Conv1d", pad(x, {options_.padding, options_.padding}), weight.size(2),
                                    options_.stride);  // [B, in, T', kernel]
  return report(linear(windows.transpose(1, 2).flatten(2), weight.flatten(1), bias).transpose(1, 2));
}

Conv2d::Conv2d(std::int64_t in, std::int64_t out, const Size2& kernel, const Conv2dOptions& options)
    : Module("Conv2d"), options_(options) {
  expect_positive("Conv2d", "in", in);
  expect_positive("Conv2d", "out", out);
  for (const std::int64_t size : {kernel.h, kernel.w}) expect_positive("Conv2d", "kernel", size);
  for (const std::int64_t step : {options.stride.h, options.stride.w})
    expect_positive("Conv2d", "stride", step);
  for (const std::int64_t zeros : {options.padding.h, options.padding.w})
    check(zeros >= 0, "Conv2d: expects padding of 0 or more, got {}", zeros);
  make_parameters(*this, weight, bias, {out, in, kernel.h, kernel.w}, options.bias);
}

Tensor Conv2d::operator()(const Tensor& x) const {
  const Scope scope(path());
  expect_image("Conv2d", x, 2, weight.size(1), weight.dtype());
  const auto& [h, w] = options_.padding;
  const Tensor windows = windows_2d("Conv2d", pad(x, {w, w, h, h}), {weight.size(2), weight.size(3)},
                                    options_.stride);  // [B, in, H', W', h, w]
  return report(
      linear(windows.permute({0, 2, 3, 1, 4, 5}).flatten(3), weight.flatten(1), bias).permute({0, 3, 1, 2}));
}

}  // namespace gradus::nn
