// Sums over any axes, as trees (reduce_tree.h).

#include <algorithm>
#include <array>

#include "gradus/core/array/detail/element.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/reduce_tree.h"

namespace gradus::array {

namespace {

using I = std::int64_t;

template <class T>
struct SumKernel {
  static T run(I n, const T* x) {
    if (n >= kShortReduction) return kernels::table<T>().sum(n, x);
    T total = 0;
    for (I i = 0; i < n; ++i) total += x[i];
    return total;
  }
  static void wide(I rows, I columns, const T* x, I stride, T* y) {
    static constexpr auto ones = [] {
      std::array<T, 64> values{};
      values.fill(T{1});
      return values;
    }();
    kernels::table<T>().gemv_t(rows, columns, x, stride, ones.data(), y);
  }
  static void columns(I rows, I columns, const T* x, I stride, T* y) {
    reduce_columns<SumKernel, SumKernel>(rows, columns, x, stride, y);
  }
};

template <>
struct SumKernel<I> {  // wraps around
  static I wrapped(I a, I b) {
    return static_cast<I>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  static I run(I n, const I* x) {
    I total = 0;
    for (I i = 0; i < n; ++i) total = wrapped(total, x[i]);
    return total;
  }
  static void columns(I rows, I columns, const I* x, I stride, I* y) {
    std::fill_n(y, columns, I{0});
    for (I i = 0; i < rows; ++i)
      for (I j = 0; j < columns; ++j) y[j] = wrapped(y[j], x[i * stride + j]);
  }
};

/// The lowest level of a sum of squares; the levels above are sums.
template <class T>
struct SumSquareKernel {
  static T run(I n, const T* x) {
    if (n >= kShortReduction) return kernels::table<T>().sum_square(n, x);
    T total = 0;
    for (I i = 0; i < n; ++i) total += x[i] * x[i];
    return total;
  }
  static void wide(I rows, I columns, const T* x, I stride, T* y) {
    std::fill_n(y, columns, T{0});
    for (I i = 0; i < rows; ++i) kernels::table<T>().mul_add(columns, x + i * stride, x + i * stride, y);
  }
  static void columns(I rows, I columns, const T* x, I stride, T* y) {
    reduce_columns<SumSquareKernel, SumKernel<T>>(rows, columns, x, stride, y);
  }
};

template <class T, class First>
Array sum_pass(const Array& x, const ReduceView& v) {
  if (v.r == 0 || v.p * v.q == 0) return Array::zeros({v.p, v.q}, dtype_of<T>);
  return reduce_tree<T, First, SumKernel<T>>(x, v);
}

}  // namespace

Array sum(const Array& x, const Axes& axes, bool keepdim) {
  if (!x.defined()) fail_undefined("sum");
  if (x.dtype() == boolean) return sum(x.to(i64), axes, keepdim);  // how many are true
  const Dims which = normalize_axes("sum", axes, x.dim());
  return dispatch_numbers(
      "sum", x, [&]<class T>() { return reduce_axes(x, which, keepdim, sum_pass<T, SumKernel<T>>); });
}

Array sum_square(const char* op, const Array& x, const Axes& axes, bool keepdim) {
  if (!x.defined()) fail_undefined(op);
  const Dims which = normalize_axes(op, axes, x.dim());
  if (which.empty()) return mul(x, x);
  return dispatch_floating(op, x, [&]<class T>() {
    bool first = true;  // squares are taken once, in the first of the passes
    return reduce_axes(x, which, keepdim, [&](const Array& part, const ReduceView& v) {
      return std::exchange(first, false) ? sum_pass<T, SumSquareKernel<T>>(part, v)
                                         : sum_pass<T, SumKernel<T>>(part, v);
    });
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

}  // namespace gradus::array
