#include "gradus/nn/convolution/pool.h"

#include "gradus/nn/detail/expect.h"
#include "gradus/nn/detail/windows.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

void expect_sizes(const char* layer, std::initializer_list<std::int64_t> kernel,
                  std::initializer_list<std::int64_t> stride) {
  for (const std::int64_t size : kernel) expect_positive(layer, "kernel", size);
  for (const std::int64_t step : stride) expect_positive(layer, "stride", step);
}

Tensor pooled_1d(const char* layer, const Tensor& x, std::int64_t size, std::int64_t step) {
  expect_image(layer, x, 1, 0, x.defined() ? x.dtype() : f32);
  return windows_1d(layer, x, size, step);
}

/// [B, C, H', W', h w]
Tensor pooled_2d(const char* layer, const Tensor& x, const Size2& size, const Size2& step) {
  expect_image(layer, x, 2, 0, x.defined() ? x.dtype() : f32);
  return windows_2d(layer, x, size, step).flatten(4);
}

}  // namespace

MaxPool1d::MaxPool1d(std::int64_t kernel, const Pool1dOptions& options)
    : Module("MaxPool1d"), kernel_(kernel), stride_(options.stride.value_or(kernel)) {
  expect_sizes("MaxPool1d", {kernel_}, {stride_});
}

Tensor MaxPool1d::operator()(const Tensor& x) const {
  const Scope scope(path());
  return report(max_with_indices(pooled_1d("MaxPool1d", x, kernel_, stride_), -1).first);
}

MaxPool2d::MaxPool2d(const Size2& kernel, const Pool2dOptions& options)
    : Module("MaxPool2d"), kernel_(kernel), stride_(options.stride.value_or(kernel)) {
  expect_sizes("MaxPool2d", {kernel_.h, kernel_.w}, {stride_.h, stride_.w});
}

Tensor MaxPool2d::operator()(const Tensor& x) const {
  const Scope scope(path());
  return report(max_with_indices(pooled_2d("MaxPool2d", x, kernel_, stride_), -1).first);
}

AvgPool1d::AvgPool1d(std::int64_t kernel, const Pool1dOptions& options)
    : Module("AvgPool1d"), kernel_(kernel), stride_(options.stride.value_or(kernel)) {
  expect_sizes("AvgPool1d", {kernel_}, {stride_});
}

Tensor AvgPool1d::operator()(const Tensor& x) const {
  const Scope scope(path());
  return report(pooled_1d("AvgPool1d", x, kernel_, stride_).mean(-1));
}

AvgPool2d::AvgPool2d(const Size2& kernel, const Pool2dOptions& options)
    : Module("AvgPool2d"), kernel_(kernel), stride_(options.stride.value_or(kernel)) {
  expect_sizes("AvgPool2d", {kernel_.h, kernel_.w}, {stride_.h, stride_.w});
}

Tensor AvgPool2d::operator()(const Tensor& x) const {
  const Scope scope(path());
  return report(pooled_2d("AvgPool2d", x, kernel_, stride_).mean(-1));
}

}  // namespace gradus::nn
