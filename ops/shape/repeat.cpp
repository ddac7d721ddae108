// Repeated copies of x.
//
//   op                  y, written for axis 1 of two, of n elements   gradient
//   repeat              y[i][r n + j] = x[i][j], r < counts[1]        dx[i][j] = sum over r of dy[i][r n + j]
//   repeat_interleave   y[i][k] = x[i][j], j each counts[j] times     dx[i][j] = sum over its k of dy[i][k]
//
// repeat is a view of more axes, expanded and copied, axis by axis; repeat_interleave an index_select.

#include <algorithm>

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

/// [.., n, ..] -> [.., count n, ..], where `outer` and `inner` are the products of the sizes around n.
struct Repeat {
  I outer, count, n, inner;

  Array of(const Array& x) const {
    return x.reshape({outer, 1, n, inner})
        .expand({outer, count, n, inner})
        .reshape({outer, count * n, inner});
  }
  template <class V>
  V backward(const V& dy) const {
    return formula::sum(dy.reshape({outer, count, n, inner}), Axes{1});
  }
};

/// repeat_interleave for an index made from counts.
Tensor in_a_row(const Tensor& x, const Array& counts, std::optional<Int> axis) {
  const Tensor from = axis ? x : flatten(x);
  const int at = axis ? normalize_axis("repeat_interleave", *axis, x.dim()) : 0;
  const I size = from.shape()[at];
  check(counts.dim() == 0 || counts.shape() == Shape{1} || counts.shape() == Shape{size},
        "repeat_interleave: expects {} counts for axis {} of {}, or one, got {}", size, at, from.shape(),
        counts.shape());
  const Array dense = counts.expand(Shape{size}).contiguous();
  const I* const count = dense.data<I>();
  I total = 0;
  for (I j = 0; j < size; ++j) {
    check(count[j] >= 0, "repeat_interleave: expects counts of 0 or more, got {}", count[j]);
    check(!__builtin_add_overflow(total, count[j], &total),
          "repeat_interleave: the counts for {} add up to more than memory can address", from.shape());
  }
  const Array index = Array::empty({total}, i64, "repeat_interleave");
  I* to = index.mutable_data<I>();
  for (I j = 0; j < size; ++j) to = std::fill_n(to, count[j], j);
  return index_select(from, at, Tensor(index));
}

}  // namespace

Tensor repeat(const Tensor& x, const Dims& counts) {
  const Array& a = operand("repeat", x);
  check(counts.size() >= a.dim(), "repeat: expects a count for each axis of {}, got {}", a.shape(), counts);
  for (const I count : counts) check(count >= 0, "repeat: expects counts of 0 or more, got {}", counts);
  Shape shape = a.shape(), result = counts;
  while (shape.size() < counts.size()) shape.insert(0, 1);
  for (int axis = 0; axis < shape.size(); ++axis)
    check(!__builtin_mul_overflow(result[axis], shape[axis], &result[axis]),
          "repeat: {} times {} has more elements than memory can address", counts, a.shape());
  numel(result, "repeat");
  // From the last axis on, so the first copies are small.
  Array y = a.reshape(shape);
  std::vector<Repeat> steps;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (counts[axis] == 1) continue;
    Shape front, back;
    for (int i = 0; i < shape.size(); ++i) {
      if (i < axis) front.push_back(shape[i]);
      if (i > axis) back.push_back(result[i]);
    }
    steps.push_back({numel(front), counts[axis], shape[axis], numel(back)});
    y = steps.back().of(y);
  }
  y = y.reshape(result);
  // Where nothing, or an axis of size 1, was repeated, it is still a view.
  if (y.storage() == a.storage() || !y.is_contiguous()) y = y.clone();
  return record("repeat", y, {&x}, [steps, from = a.shape()]<class V>(const V& dy, auto) -> GradsOf<V> {
    V dx = dy;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) dx = step->backward(dx);
    return {dx.reshape(from)};
  });
}

Tensor repeat_interleave(const Tensor& x, Int count, std::optional<Int> axis) {
  operand("repeat_interleave", x);
  return in_a_row(x, array::scalar(static_cast<I>(count), i64), axis);
}

Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<Int> axis) {
  operand("repeat_interleave", x);
  if (!counts.defined()) fail_undefined("repeat_interleave", "the counts");
  check(counts.dtype() == i64, "repeat_interleave: expects i64 counts, got {} {}: convert with .to(i64)",
        counts.dtype(), counts.shape());
  return in_a_row(x, counts.array(), axis);
}

}  // namespace gradus
