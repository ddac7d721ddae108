// Sums over any axes. Long sums are trees: fixed pieces are added by a kernel, then the pieces' sums in the
// same way, so the rounding error grows with the logarithm of the length, and neither threads nor layout
// change a bit of the result.

#include <algorithm>
#include <array>

#include "gradus/core/dispatch.h"
#include "gradus/core/strided.h"
#include "gradus/ops/eager.h"
#include "gradus/ops/reduce_pass.h"

namespace gradus::eager {

namespace {

using I = std::int64_t;

constexpr I kRun = 4096;      // values a kernel adds at once
constexpr I kRows = 64;       // rows added at once when columns are summed
constexpr I kColumns = 1024;  // columns of one piece of work

I pieces(I n, I size) { return (n + size - 1) / size; }

template <class T>
T sum_run(I n, const T* x) {
  if constexpr (std::is_floating_point_v<T>) return kernels::table<T>().sum(n, x);
  std::uint64_t total = 0;  // wraps around
  for (I i = 0; i < n; ++i) total += static_cast<std::uint64_t>(x[i]);
  return static_cast<T>(total);
}

/// y[j] = sum_i x[i][j] for rows `stride` apart.
template <class T>
void sum_columns(I rows, I columns, const T* x, I stride, T* y) {
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr auto ones = [] {
      std::array<T, kRows> values{};
      values.fill(T{1});
      return values;
    }();
    kernels::table<T>().gemv_t(rows, columns, x, stride, ones.data(), y);
  } else {
    std::fill_n(y, columns, T{0});
    for (I i = 0; i < rows; ++i)
      for (I j = 0; j < columns; ++j)
        y[j] =
            static_cast<T>(static_cast<std::uint64_t>(y[j]) + static_cast<std::uint64_t>(x[i * stride + j]));
  }
}

/// [p, r] -> [p]
template <class T>
Array sum_rows(const Array& x, I p, I r) {
  const I parts = pieces(r, kRun);
  const Array y = Array::empty({p, parts}, dtype_of<T>);
  const T* const px = x.data<T>();
  T* const py = y.mutable_data<T>();
  parallel_for(p * parts, kGrain / std::min(r, kRun), [=](I begin, I end) {
    for (I i = begin; i < end; ++i) {
      const I at = i % parts * kRun;
      py[i] = sum_run(std::min(kRun, r - at), px + i / parts * r + at);
    }
  });
  return parts == 1 ? y : sum_rows<T>(y, p, parts);
}

/// [p, r, q] -> [p, q]
template <class T>
Array sum_middle(const Array& x, const ReduceView& v) {
  const I parts = pieces(v.r, kRows), blocks = pieces(v.q, kColumns);
  const Array y = Array::empty({v.p, parts, v.q}, dtype_of<T>);
  const T* const px = x.data<T>();
  T* const py = y.mutable_data<T>();
  const I work = std::min(v.r, kRows) * std::min(v.q, kColumns);
  parallel_for(v.p * parts * blocks, std::max<I>(1, kGrain / work), [=](I begin, I end) {
    for (I i = begin; i < end; ++i) {
      const I column = i % blocks * kColumns, part = i / blocks, row = part % parts * kRows;
      sum_columns(std::min(kRows, v.r - row), std::min(kColumns, v.q - column),
                  px + (part / parts * v.r + row) * v.q + column, v.q, py + part * v.q + column);
    }
  });
  return parts == 1 ? y : sum_middle<T>(y, {v.p, parts, v.q});
}

template <class T>
Array sum_pass(const Array& x, const ReduceView& v) {
  if (v.r == 0 || v.p * v.q == 0) return Array::zeros({v.p, v.q}, dtype_of<T>);
  return v.q == 1 ? sum_rows<T>(x, v.p, v.r) : sum_middle<T>(x, v);
}

}  // namespace

Array sum(const Array& x, const Axes& axes, bool keepdim) {
  check(x.defined(), "sum: the tensor is undefined");
  if (x.dtype() == boolean) return sum(x.to(i64), axes, keepdim);  // counts
  const Dims which = normalize_axes("sum", axes, x.dim());
  return dispatch_all(x.dtype(), [&]<class T>() -> Array {
    if constexpr (std::is_same_v<T, bool>)
      return {};  // converted above
    else
      return reduce_axes(x, which, keepdim, sum_pass<T>);
  });
}

Array sum_to(const Array& dy, const Shape& shape) {
  if (dy.shape() == shape) return dy;
  const int lead = dy.dim() - shape.size();
  Axes repeated;
  for (int i = 0; i < dy.dim(); ++i)
    if (i < lead || shape[i - lead] != dy.shape()[i]) repeated.push_back(i);
  const Array total = sum(dy, repeated);
  return total.as_strided(shape, contiguous_strides(shape), total.offset());
}

}  // namespace gradus::eager
