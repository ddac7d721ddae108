// cumsum: running sums along an axis.
//
//   y_i = x_0 + ... + x_i        dx_i = dy_i + ... + dy_(n-1), the same from the other end; saves nothing
//
// f32 is summed in f64: a running sum has no tree to keep its rounding small.

#include <algorithm>
#include <array>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

constexpr std::int64_t kSideBySide = 64;  // summed side by side

template <class T>
using Total = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, double>;  // integers wrap

/// Columns of n values, `stride` apart, from the first (or last, with step -stride) on.
template <class T>
void sum_columns(std::int64_t n, std::int64_t columns, std::int64_t step, const T* x, T* y) {
  std::array<Total<T>, kSideBySide> totals{};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      totals[static_cast<std::size_t>(j)] += static_cast<Total<T>>(x[i * step + j]);
      y[i * step + j] = static_cast<T>(totals[static_cast<std::size_t>(j)]);
    }
}

/// x as [P, n, Q], summed along its middle axis, forwards or backwards.
template <class T>
Array running_sum_of(const Array& x, int axis, bool backwards) {
  const Array dense = x.contiguous(), y = Array::empty(x.shape(), x.dtype());
  if (y.numel() == 0) return y;
  const std::int64_t n = x.shape()[axis];
  std::int64_t q = 1;
  for (int i = axis + 1; i < x.dim(); ++i) q *= x.shape()[i];
  const std::int64_t blocks = (q - 1) / kSideBySide + 1, groups = x.numel() / (n * q);
  const std::int64_t first = backwards ? (n - 1) * q : 0, step = backwards ? -q : q;
  const T* const px = dense.data<T>();
  T* const py = y.mutable_data<T>();
  parallel_rows(groups * blocks, 8 * n * std::min(q, kSideBySide), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t column = i % blocks * kSideBySide, at = i / blocks * n * q + first + column;
      sum_columns(n, std::min(kSideBySide, q - column), step, px + at, py + at);
    }
  });
  return y;
}

Array running_sum(const Array& x, int axis, bool backwards) {
  if (x.dtype() == boolean) return running_sum(x.to(i64), axis, backwards);
  return dispatch_numbers("cumsum", x, [&]<class T>() { return running_sum_of<T>(x, axis, backwards); });
}

/// Linear in x: the gradient is the same op from the other end.
Tensor cumsum_op(const Tensor& x, int axis, bool backwards) {
  return record("cumsum", running_sum(x.array(), axis, backwards), {&x},
                [axis, backwards]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {cumsum_op(dy, axis, !backwards)};
                  else
                    return {running_sum(dy, axis, !backwards)};
                });
}

}  // namespace

Tensor cumsum(const Tensor& x, Int axis) {
  const int at = normalize_axis("cumsum", axis, operand("cumsum", x).dim());
  return cumsum_op(x, at, /*backwards=*/false);
}

}  // namespace gradus
