// Putting by index. Written for axis 1 of three; other axes alike. Every index is checked before anything is
// written.
//
//   op            y                                              gradient
//   scatter_add   y = x, y[i][index[i][j][k]][k] += s[i][j][k]   dx = dy, ds = gather(dy, index)
//   scatter       y = x, y[i][index[i][j][k]][k] = s[i][j][k]    dx = dy, but 0 where one was put;
//                                                                ds the same, but 0 where a later one was put
//   index_add     y = x, y[i][index[j]][k] += s[i][j][k]         dx = dy, ds = index_select(dy, index)
//
// Saved: the index alone. Where it repeats, the order of j decides. The loops are in index_loops.h. On the
// tape the gradients are ops of this list: to put 0 where one was put is scatter(dy, index, 0).

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/shape/index_loops.h"

namespace gradus {

namespace {

/// scatter's gradient for x: overwritten elements get none.
Array without_places(const Array& dy, int axis, const Array& index) {
  const Array dx = dy.clone();
  put_scattered<Set>("scatter backward", dx, axis, index, array::scalar(0, dy.dtype()).expand(index.shape()));
  return dx;
}

Tensor without_places(const Tensor& dy, int axis, const Array& index) {
  return scatter(dy, axis, Tensor(index), 0);
}

/// Which entries of the source are the last that were put in their places, given the shape of y.
Array put_last(const Shape& shape, int axis, const Array& index) {
  const Array places = Array::empty(shape, i64);
  Strides along = Dims::filled(index.dim(), 0);
  along[axis] = 1;
  const Array order = arange(index.shape()[axis]).array().as_strided(index.shape(), along, 0);
  put_scattered<Set>("scatter backward", places, axis, index, order);
  return array::compare("scatter backward", kernels::Compare::eq, gathered(places, axis, index), order);
}

/// scatter's gradient for the source: that of its places, for the entry that was put there last.
Array of_last(const Array& dy, int axis, const Array& index) {
  const Array last = put_last(dy.shape(), axis, index);
  return array::where(last, gathered(dy, axis, index), array::scalar(0, dy.dtype()));
}

Tensor of_last(const Tensor& dy, int axis, const Array& index) {
  return where(Tensor(put_last(dy.shape(), axis, index)), gather(dy, axis, Tensor(index)), 0);
}

/// Checks the arguments of scatter and scatter_add.
void check_source(const char* op, const Array& x, int axis, const Array& index, const Array& source) {
  check_same_dtype(op, x, source, "x and source");
  check(index.shape() == source.shape(), "{}: index {} and source {} must have the same shape", op,
        index.shape(), source.shape());
  check_index_fits(op, x, axis, index);
}

}  // namespace

Tensor scatter_add(const Tensor& x, Int axis, const Tensor& index, const Tensor& source) {
  const Array &a = operand("scatter_add", x), &s = operand("scatter_add", source);
  const Array& i = index_operand("scatter_add", index);
  const int at = normalize_axis("scatter_add", axis, x.dim());
  check_source("scatter_add", a, at, i, s);
  const Array y = a.clone();
  put_scattered<Add>("scatter_add", y, at, i, s);
  return record("scatter_add", y, {&x, &source},
                [at, saved = Saved(i)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {dy, of[1] ? gather(dy, at, Tensor(*saved)) : Tensor()};
                  else
                    return {dy, of[1] ? gathered(dy, at, *saved) : Array()};
                });
}

Tensor scatter(const Tensor& x, Int axis, const Tensor& index, const Tensor& source) {
  const Array &a = operand("scatter", x), &s = operand("scatter", source);
  const Array& i = index_operand("scatter", index);
  const int at = normalize_axis("scatter", axis, x.dim());
  check_source("scatter", a, at, i, s);
  const Array y = a.clone();
  put_scattered<Set>("scatter", y, at, i, s);
  return record(
      "scatter", y, {&x, &source}, [at, saved = Saved(i)]<class V>(const V& dy, auto of) -> GradsOf<V> {
        return {of[0] ? without_places(dy, at, *saved) : V(), of[1] ? of_last(dy, at, *saved) : V()};
      });
}

Tensor scatter(const Tensor& x, Int axis, const Tensor& index, Scalar value) {
  const Array &a = operand("scatter", x), &i = index_operand("scatter", index);
  const int at = normalize_axis("scatter", axis, x.dim());
  check_index_fits("scatter", a, at, i);
  const Array y = a.clone();
  put_scattered<Set>("scatter", y, at, i, array::number_like("scatter", value, a).expand(i.shape()));
  return record("scatter", y, {&x}, [at, saved = Saved(i)]<class V>(const V& dy, auto) -> GradsOf<V> {
    return {without_places(dy, at, *saved)};
  });
}

Tensor index_add(const Tensor& x, Int axis, const Tensor& index, const Tensor& source) {
  const Array &a = operand("index_add", x), &s = operand("index_add", source);
  const Array& i = index_operand("index_add", index);
  const int at = normalize_axis("index_add", axis, x.dim());
  check_same_dtype("index_add", a, s, "x and source");
  check(i.dim() == 1, "index_add: expects a 1-d index, got {}", i.shape());
  Shape rows = a.shape();
  rows[at] = i.numel();
  check(s.shape() == rows, "index_add: expects a source {}, as x {} with the {} rows of the index, got {}",
        rows, a.shape(), i.numel(), s.shape());
  check_range("index_add", i, a.shape(), at);
  const Array y = a.clone();
  put_rows<Add>("index_add", y, at, i, s);
  return record("index_add", y, {&x, &source},
                [at, saved = Saved(i)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {dy, of[1] ? index_select(dy, at, Tensor(*saved)) : Tensor()};
                  else
                    return {dy, of[1] ? selected(dy, at, *saved) : Array()};
                });
}

}  // namespace gradus
