// Picking by index. Written for axis 1 of three; other axes alike. Every index is checked before anything is
// written.
//
//   op            y                                           gradient
//   gather        y[i][j][k] = x[i][index[i][j][k]][k]        dx = 0, dx[i][index[i][j][k]][k] += dy[i][j][k]
//   index_select  y[i][j][k] = x[i][index[j]][k]              dx = 0, dx[i][index[j]][k] += dy[i][j][k]
//   embedding     y[..., c] = weight[ids[...], c]             dweight = 0, dweight[id, c] += dy[..., c]
//
// Saved: the index alone. Where an index repeats, sums are made in the order of j. The loops are in
// index_loops.h. On the tape dx is scatter_add's or index_add's, whose gradients are gather and index_select.

#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/shape/index_loops.h"

namespace gradus {

namespace {

/// The gradient of a table [.., V, ..] of which the rows `index` were taken.
Gradient into_rows(const Shape& shape, int axis, const Saved& index, const Array& dy) {
  return {shape, dy.dtype(), [=, at = *index](const Array& dx, bool add) {
            if (!add) dx.fill_(0);
            put_rows<Add>("index_select backward", dx, axis, at, dy);
          }};
}

Tensor into_rows(const Shape& shape, int axis, const Saved& index, const Tensor& dy) {
  return index_add(Tensor(Array::zeros(shape, dy.dtype())), axis, Tensor(*index), dy);
}

/// The gradient of x [..] of which the elements at `index` were gathered.
Gradient into_places(const Shape& shape, int axis, const Saved& index, const Array& dy) {
  return {shape, dy.dtype(), [axis, at = *index, dy](const Array& dx, bool add) {
            if (!add) dx.fill_(0);
            put_scattered<Add>("gather backward", dx, axis, at, dy);
          }};
}

Tensor into_places(const Shape& shape, int axis, const Saved& index, const Tensor& dy) {
  return scatter_add(Tensor(Array::zeros(shape, dy.dtype())), axis, Tensor(*index), dy);
}

}  // namespace

Tensor gather(const Tensor& x, Int axis, const Tensor& index) {
  const Array &a = operand("gather", x), &i = index_operand("gather", index);
  const int at = normalize_axis("gather", axis, x.dim());
  check_index_fits("gather", a, at, i);
  return record("gather", picked(gathered(a, at, i)), {&x},
                [shape = x.shape(), at, saved = Saved(i)]<class V>(const V& dy, auto) -> GradsOf<V> {
                  return {into_places(shape, at, saved, dy)};
                });
}

Tensor index_select(const Tensor& x, Int axis, const Tensor& index) {
  const Array &a = operand("index_select", x), &i = index_operand("index_select", index);
  const int at = normalize_axis("index_select", axis, x.dim());
  check(i.dim() == 1, "index_select: expects a 1-d index, got {}", i.shape());
  check_range("index_select", i, a.shape(), at);
  return record("index_select", picked(selected(a, at, i)), {&x},
                [shape = x.shape(), at, saved = Saved(i)]<class V>(const V& dy, auto) -> GradsOf<V> {
                  return {into_rows(shape, at, saved, dy)};
                });
}

Tensor embedding(const Tensor& ids, const Tensor& weight) {
  const Array &i = index_operand("embedding", ids), &w = operand("embedding", weight);
  check(i.dim() < Dims::kMaxRank,
        "embedding: ids {} have {} axes, and there is no room for more: flatten() them first", i.shape(),
        i.dim());
  check(w.dim() == 2, "embedding: expects a weight [V, C], got {}", w.shape());
  check_range("embedding", i, w.shape(), 0);
  Shape shape = i.shape();
  shape.push_back(w.shape()[1]);
  const Array flat = i.reshape({i.numel()});
  return record("embedding", picked(selected(w, 0, flat).reshape(shape)), {&weight},
                [rows = w.shape(), saved = Saved(flat)]<class V>(const V& dy, auto) -> GradsOf<V> {
                  return {into_rows(rows, 0, saved, dy.reshape({saved->numel(), rows[1]}))};
                });
}

}  // namespace gradus
