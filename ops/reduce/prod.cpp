// prod: products over axes.
//
//   y = x_0 x_1 ... x_(n-1)      dx_i = dy (product of all x_j but x_i)      saves x
//
// The product of the others is had from those before i and those behind it, not as y / x_i: so it is right
// where x_i is 0, or y has left the range. f32 is multiplied in f64, as cumsum adds: no tree keeps the range.
//
// Further derivatives are those of y as products of pairs, of pairs of pairs, ...: there is no division
// either.

#include <algorithm>
#include <vector>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/tape/grad.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

template <class T>
using Product = std::conditional_t<std::is_same_v<T, I>, std::uint64_t, double>;  // integers wrap

/// The reduced axes behind the others, which keep their order.
Dims order_of(int rank, const Dims& axes) {
  Dims order;
  for (int i = 0; i < rank; ++i)
    if (!axes.contains(i)) order.push_back(i);
  for (const I axis : axes) order.push_back(axis);
  return order;
}

/// One product a row of n values.
Array products(const Array& rows, I n, const Shape& shape) {
  const Array y = Array::empty(shape, rows.dtype());
  dispatch_numbers("prod", rows, [&]<class T>() {
    const T* const x = rows.data<T>();
    T* const py = y.mutable_data<T>();
    parallel_rows(y.numel(), n, [=](I begin, I end) {
      for (I i = begin; i < end; ++i) {
        Product<T> product = 1;
        for (I j = 0; j < n; ++j) product *= static_cast<Product<T>>(x[i * n + j]);
        py[i] = static_cast<T>(product);
      }
    });
  });
  return y;
}

/// dx of rows of n values, given one dy a row.
Array gradient_of_rows(const Array& rows, I n, const Array& dy) {
  const Array dx = Array::empty(rows.shape(), rows.dtype());
  dispatch_floating(rows.dtype(), [&]<class T>() {
    const T *const px = rows.data<T>(), *const g = dy.data<T>();
    T* const out = dx.mutable_data<T>();
    parallel_rows(dy.numel(), 2 * n, [=](I begin, I end) {
      std::vector<double> before(static_cast<std::size_t>(n));
      for (I i = begin; i < end; ++i) {
        const T* const x = px + i * n;
        double product = 1;
        for (I j = 0; j < n; product *= x[j++]) before[static_cast<std::size_t>(j)] = product;
        product = 1;
        for (I j = n - 1; j >= 0; product *= x[j--])
          out[i * n + j] = static_cast<T>(g[i] * (before[static_cast<std::size_t>(j)] * product));
      }
    });
  });
  return dx;
}

/// The products of `count` rows of n values [count], in ops: each time the first half of the rows times the
/// second.
Tensor by_halves(const Tensor& x, const Dims& order, I count, I n) {
  Tensor rows = x.to(f64).permute(order).reshape({count, n});
  for (; n > 1; n = rows.size(1)) {
    const I half = n / 2;
    const Tensor pairs = rows.slice(1, 0, half) * rows.slice(1, half, 2 * half);
    rows = n % 2 == 0 ? pairs : cat({pairs, rows.slice(1, 2 * half)}, 1);
  }
  return sum(rows, 1).to(x.dtype());  // of one value, or of none, where only the shape of dx matters
}

/// dx in ops: a pass back through the products. It ends at a view of x, so no hook of x is called for it.
Tensor derivative(const Tensor& dy, const Tensor& x, const Dims& order, I n) {
  const Tensor at = x.reshape(x.shape()), y = by_halves(at, order, dy.numel(), n);
  return grad(y, {at}, {.grad_output = dy.reshape(y.shape()), .create_graph = true})[0];
}

}  // namespace

Tensor prod(const Tensor& x, const Axes& axes, Flag keepdim) {
  const Array from = operand("prod", x).dtype() == boolean ? x.array().to(i64) : x.array();
  const Dims which = normalize_axes("prod", axes, x.dim()), order = order_of(x.dim(), which);
  const Shape shape = reduced_shape(x.shape(), which, keepdim);
  I n = 1;
  for (const I axis : which) n *= x.shape()[static_cast<int>(axis)];
  return record("prod", products(from.permute(order).contiguous(), n, shape), {&x},
                [x = Saved(from), order, n]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>) {
                    return {derivative(dy, of.in(0, x), order, n)};
                  } else {
                    const Array rows = x->permute(order).contiguous();
                    const Array dx = gradient_of_rows(rows, n, dy.contiguous());
                    Dims back = order;  // where each axis of x went
                    for (int i = 0; i < order.size(); ++i) back[static_cast<int>(order[i])] = i;
                    return {dx.permute(back)};
                  }
                });
}

}  // namespace gradus
