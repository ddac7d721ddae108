#pragma once
// Shared by losses between two tensors of one shape.

#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/reduce_in_f64.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

/// Throws unless x, called `name_x`, and the target y have one shape and floating dtype.
inline void check_pair(const char* op, const char* name_x, const Tensor& x, const Tensor& y) {
  const Array &a = floating_operand(op, x), &b = operand(op, y);
  check(a.shape() == b.shape(),
        "{}: {} {} and target {} must have the same shape: reshape() or expand() one of them", op, name_x,
        a.shape(), b.shape());
  array::check_operands(op, a, b);
}

/// The mean of an empty tensor is 0 * inf: NaN. Where the sum exceeds the range of the dtype, the mean may
/// not.
inline Array reduce(const Array& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  const Array total = array::sum(losses);
  if (reduction == Reduction::sum) return total;
  if (!std::isinf(total.item())) return array::mul(total, 1.0 / static_cast<double>(losses.numel()));
  const Array values = losses.contiguous();
  return dispatch_floating("mean", values, [&]<class T>() {
    return array::scalar(in_f64::Deviations(values.data<T>(), values.numel()).mean(), values.dtype());
  });
}

/// The gradient of each of n losses, [] or one each, given that of the result.
template <class V>
V grad_of_each(const V& dy, Reduction reduction, std::int64_t n) {
  return reduction == Reduction::mean ? formula::mul(dy, 1.0 / static_cast<double>(n)) : dy;
}

/// x - y in a backward of inputs x and y, from its saved values d.
inline const Array& difference_of(const Plain&, const Array& d) { return d; }
/// On the tape as d - 0: only the difference of x and y counts.
inline Tensor difference_of(const Taped& of, const Array& d) {
  return of.in(0, d) - of.in(1, array::scalar(0, d.dtype()).expand(d.shape()));
}

}  // namespace gradus
