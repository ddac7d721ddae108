// Sliding windows, of which convolutions and pooling are made. Written for axis 1 of three, with n windows.
//
//   y[i][w][k][j] = x[i][w step + j][k]            w < n = (size of the axis - size) / step + 1, j < size
//   dx[i][p][k] = sum of dy[i][w][k][p - w step]   over the windows w that contain p, in order: fold, whose
//                                                  gradient is unfold
//
// y is a view: overlapping windows share elements, and a write there must be one value. Nothing is saved but
// shapes. Each element of dx is one sum, computed by one thread, so the number of threads does not change a
// bit.

#include <algorithm>
#include <vector>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

struct Windows {
  int axis;
  I size, step;

  Array of(const Array& x) const {
    Shape shape = x.shape();
    Strides strides = x.strides();
    shape[axis] = (x.shape()[axis] - size) / step + 1;
    shape.push_back(size);
    strides.push_back(strides[axis]);
    strides[axis] *= step;
    return x.as_strided(shape, strides, x.offset());
  }

  /// For each position along the axis the windows [first, last) that hold it.
  std::vector<std::pair<I, I>> at_positions(I positions, I count) const {
    std::vector<std::pair<I, I>> result;
    result.reserve(static_cast<std::size_t>(positions));
    for (I p = 0; p < positions; ++p)
      result.emplace_back(p < size ? 0 : (p - size) / step + 1, std::min(count, p / step + 1));
    return result;
  }
};

/// dx = (or, with `add`, +=) the elements of the windows dy, each where it came from.
void fold(const Array& dx, const Windows& windows, const Array& dy, bool add) {
  const int axis = windows.axis;
  const I within = dy.strides()[dy.dim() - 1];
  // From one window to the next, and back to the same element of x.
  const I next = dy.strides()[axis] - windows.step * within;
  const auto holders = windows.at_positions(dx.shape()[axis], dy.shape()[axis]);
  // The third operand is the position along the axis.
  Strides from = dy.strides(), position = Dims::filled(dx.dim(), 0);
  from.erase(dy.dim() - 1);
  from[axis] = 0;
  position[axis] = 1;
  const StridedLoop<3> loop(dx.shape(), {dx.strides(), from, position});
  dispatch_floating("unfold backward", dx, [&]<class T>() {
    T* const to = dx.mutable_data<T>();
    const T* const data = dy.data<T>();
    const I sx = loop.inner_stride(0), sy = loop.inner_stride(1), sp = loop.inner_stride(2);
    loop.parallel(kGrain, [=, &holders](I n, const StridedLoop<3>::Offsets& at) {
      for (I i = 0; i < n; ++i) {
        const I p = at[2] + i * sp;
        const auto [first, last] = holders[static_cast<std::size_t>(p)];
        const T* const element = data + at[1] + i * sy + p * within;
        T& sum = to[at[0] + i * sx];
        T total = add ? sum : T{0};
        for (I w = first; w < last; ++w) total += element[w * next];
        sum = total;
      }
    });
  });
}

Tensor fold_op(const Tensor& y, const Windows& windows, const Shape& shape);

/// A pair of linear ops, each with the other as its gradient.
Tensor unfold_op(const Tensor& x, const Windows& windows) {
  return record("unfold", windows.of(x.array()), {&x},
                [windows, shape = x.shape()]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {fold_op(dy, windows, shape)};
                  else
                    return {Gradient(shape, dy.dtype(), [windows, dy](const Array& dx, bool add) {
                      fold(dx, windows, dy, add);
                    })};
                });
}

Tensor fold_op(const Tensor& y, const Windows& windows, const Shape& shape) {
  const Array x = Array::empty(shape, y.dtype());
  fold(x, windows, y.array(), /*add=*/false);
  return record("fold", x, {&y}, [windows]<class V>(const V& dy, auto) -> GradsOf<V> {
    if constexpr (kTaped<V>)
      return {unfold_op(dy, windows)};
    else
      return {windows.of(dy)};
  });
}

}  // namespace

Tensor unfold(const Tensor& x, Int axis, Int size, Int step) {
  const Array& a = operand("unfold", x);
  const int at = normalize_axis("unfold", axis, a.dim());
  check(a.dim() < Dims::kMaxRank, "unfold: {} has {} axes, and there is no room for more: flatten() some",
        a.shape(), a.dim());
  check(size >= 1 && size <= a.shape()[at],
        "unfold: windows of {} do not fit into axis {} of {}: pad it first", size, axis, a.shape());
  check(step >= 1, "unfold: expects a step of 1 or more, got {}", step);
  const Windows windows{at, size, std::min<I>(step, a.shape()[at])};  // no product of a huge one
  return unfold_op(x, windows);
}

}  // namespace gradus
