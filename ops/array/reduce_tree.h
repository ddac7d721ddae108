#pragma once
// How a reduction over any axes becomes simple passes. A contiguous array whose reduced axes are
// neighbours is [P, R, Q] with R to be reduced; other patterns, such as axes {0, 2} of three, take one such
// pass per group of neighbours, innermost first.
//
// A long pass is a tree: fixed pieces are reduced by a kernel, then the pieces' results in the same way. So
// the rounding error of a sum grows with the logarithm of its length, and the shape alone decides what is
// combined with what: neither threads nor layout change a bit.

#include <algorithm>
#include <utility>

#include "gradus/core/array/array.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/threads/parallel.h"

namespace gradus {

/// Three sizes that describe a contiguous array: P groups of R rows of Q values.
struct ReduceView {
  std::int64_t p = 1, r = 1, q = 1;
};

/// Reduces `axes` (normalized) of x: calls pass(contiguous array, view) -> array of p * q elements for every
/// group of neighbouring axes. The result is contiguous and fresh, with the reduced shape. Other layouts of x
/// are copied first.
template <class Pass>
Array reduce_axes(const Array& x, const Dims& axes, bool keepdim, Pass&& pass) {
  const Shape target = reduced_shape(x.shape(), axes, keepdim);
  Array current = axes.empty() ? x.clone() : x.contiguous();
  Shape left = x.shape();  // sizes not reduced yet; 1 where they are
  for (int last = x.dim() - 1; last >= 0; --last) {
    if (!axes.contains(last)) continue;
    ReduceView view;
    for (int i = last + 1; i < x.dim(); ++i) view.q *= left[i];
    for (view.r = std::exchange(left[last], 1); last > 0 && axes.contains(last - 1); --last)
      view.r *= std::exchange(left[last - 1], 1);
    for (int i = 0; i < last; ++i) view.p *= left[i];
    current = pass(current, view);
  }
  return current.as_strided(target, contiguous_strides(target), current.offset());
}

/// Rows of at most this many values are narrow: a piece takes more of them.
inline constexpr std::int64_t kNarrow = 32;

/// Runs of fewer values are reduced one by one: the call of a kernel would cost more.
inline constexpr std::int64_t kShortReduction = 8;

/// Kernel::columns of First for rows of few values, which would leave most of a vector empty: as many as fit
/// into 64 values count as one row, and its parts are combined at the end, by Next. First and Next have
///   static void wide(rows, columns, x, stride, y)      as columns(), for rows of any length
template <class First, class Next, class T>
void reduce_columns(std::int64_t rows, std::int64_t columns, const T* x, std::int64_t stride, T* y) {
  constexpr std::int64_t kWide = 64;
  const std::int64_t at_once = kWide / columns;
  if (columns > kNarrow || stride != columns || rows < 2 * at_once)
    return First::wide(rows, columns, x, stride, y);
  const std::int64_t width = at_once * columns, whole = rows / at_once, left = rows % at_once;
  T parts[2 * kWide];
  First::wide(whole, width, x, width, parts);
  First::wide(1, left * columns, x + whole * width, left * columns, parts + width);
  Next::wide(at_once + left, columns, parts, columns, y);
}

/// One pass, [P, R, Q] -> [P, Q], where no size is 0. First and Next (for the levels of the tree above the
/// lowest) have
///   static T run(n, x)                                 n values to one
///   static void columns(rows, columns, x, stride, y)   rows, `stride` apart, to one row y
template <class T, class First, class Next = First>
Array reduce_tree(const Array& x, const ReduceView& v) {
  using Size = std::int64_t;
  constexpr Size kRun = 16384, kRows = 64, kColumns = 1024;  // what a kernel reduces at once
  // The length of a piece along R.
  const Size length = v.q == 1 ? kRun : v.q <= kNarrow ? kRows * kNarrow / v.q : kRows;
  const Size parts = (v.r - 1) / length + 1, blocks = (v.q - 1) / kColumns + 1;
  const Array y = Array::empty({v.p, parts, v.q}, x.dtype());
  const T* const px = x.data<T>();
  T* const py = y.mutable_data<T>();
  const Size work = std::min(v.r, length) * std::min(v.q, kColumns);
  if (v.q == 1 && parts == 1) {  // perhaps very many, very short: nothing to work out for each
    parallel_for(v.p, kGrain / work, [=](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) py[i] = First::run(v.r, px + i * v.r);
    });
    return y;
  }
  parallel_for(v.p * parts * blocks, kGrain / work, [=](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      const Size part = i / blocks, column = i % blocks * kColumns;
      const Size group = part / parts, at = part % parts * length;
      const Size n = std::min(length, v.r - at);
      const T* const from = px + (group * v.r + at) * v.q + column;
      if (v.q == 1)
        py[part] = First::run(n, from);
      else
        First::columns(n, std::min(kColumns, v.q - column), from, v.q, py + part * v.q + column);
    }
  });
  return parts == 1 ? y : reduce_tree<T, Next>(y, {v.p, parts, v.q});
}

}  // namespace gradus
