#pragma once
// How a reduction over any axes becomes simple passes (internal). A contiguous array whose reduced axes are
// neighbours is [P, R, Q] with R to be reduced; other patterns, such as axes {0, 2} of three, take one such
// pass per group of neighbours, innermost first.

#include <utility>

#include "gradus/core/array.h"

namespace gradus {

/// Three sizes that stand for a contiguous array: P groups of R rows of Q values.
struct ReduceView {
  std::int64_t p = 1, r = 1, q = 1;
};

/// Reduces `axes` (normalized) of x: calls pass(contiguous array, view) -> array of p * q elements for every
/// group of neighbouring axes. The result is contiguous and fresh, with the reduced shape. Other layouts of x
/// are copied first, so that the order in which numbers are combined depends on the shape alone.
template <class Pass>
Array reduce_axes(const Array& x, const Dims& axes, bool keepdim, Pass&& pass) {
  const Shape target = reduced_shape(x.shape(), axes, keepdim);
  Array current = axes.empty() ? x.clone() : x.contiguous();
  Shape left = x.shape();  // sizes not reduced yet; 1 where they are
  for (int last = x.dim() - 1; last >= 0; --last) {
    if (!axes.contains(last)) continue;
    ReduceView view;
    for (int i = last + 1; i < x.dim(); ++i) view.q *= left[i];
    for (view.r = left[last], left[last] = 1; last > 0 && axes.contains(last - 1); --last)
      view.r *= std::exchange(left[last - 1], 1);
    for (int i = 0; i < last; ++i) view.p *= left[i];
    current = pass(current, view);
  }
  return current.as_strided(target, contiguous_strides(target), current.offset());
}

}  // namespace gradus
