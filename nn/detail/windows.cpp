#include "gradus/nn/detail/windows.h"

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

static void expect_fits(const char* layer, const Tensor& x, int axis, std::int64_t size) {
  check(x.size(axis) >= size, "{}: a window of {} does not fit into x {} along axis {}, padding included",
        layer, size, x.shape(), axis);
}

Tensor windows_1d(const char* layer, const Tensor& x, std::int64_t size, std::int64_t step) {
  expect_fits(layer, x, 2, size);
  return unfold(x, 2, size, step);
}

Tensor windows_2d(const char* layer, const Tensor& x, const Size2& size, const Size2& step) {
  expect_fits(layer, x, 2, size.h);
  expect_fits(layer, x, 3, size.w);
  return unfold(unfold(x, 2, size.h, step.h), 3, size.w, step.w);
}

}  // namespace gradus::nn
