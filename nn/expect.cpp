#include "gradus/nn/expect.h"

#include "gradus/core/format.h"

namespace gradus::nn {

namespace {
void expect_dtype(const char* layer, const char* what, const Tensor& x, DType dtype) {
  check(x.dtype() == dtype, "{}: expects {} of {}, as its parameters are, got {} {}", layer, what, dtype,
        x.dtype(), x.shape());
}
}  // namespace

void expect_last_axis(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype) {
  check(x.defined(), "{}: {} is an undefined tensor", layer, what);
  check(x.dim() >= 1 && x.size(-1) == size, "{}: expects {} [..., {}], got {}", layer, what, size, x.shape());
  expect_dtype(layer, what, x, dtype);
}

void expect_sequence(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype) {
  check(x.defined(), "{}: {} is an undefined tensor", layer, what);
  check(x.dim() == 3 && x.size(-1) == size, "{}: expects {} [B, T, {}], got {}", layer, what, size,
        x.shape());
  expect_dtype(layer, what, x, dtype);
}

void expect_positive(const char* layer, const char* what, std::int64_t value) {
  check(value > 0, "{}: expects {} of 1 or more, got {}", layer, what, value);
  // Nothing that large fits into memory, and small multiples of such a size cannot overflow.
  check(value <= std::int64_t{1} << 40, "{}: {} is too large: {}", layer, what, value);
}

void expect_probability(const char* layer, const char* what, double p) {
  check(p >= 0 && p < 1, "{}: expects {} in [0, 1), got {}", layer, what, p);
}

}  // namespace gradus::nn
