// all and any: does every element, or some, differ from 0? NaN does. No gradient.

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

using kernels::Compare;

namespace {

/// How many elements of x compare so with 0, along the axes.
Array count(const char* op, const Array& x, Compare with_zero, const Axes& axes, bool keepdim) {
  const Dims which = normalize_axes(op, axes, x.dim());
  return array::sum(array::compare(op, with_zero, x, 0), which, keepdim);
}

}  // namespace

Tensor all(const Tensor& x, const Axes& axes, Flag keepdim) {
  const Array zeros = count("all", operand("all", x), Compare::eq, axes, keepdim);
  return record("all", array::compare("all", Compare::eq, zeros, 0), {&x});
}

Tensor any(const Tensor& x, const Axes& axes, Flag keepdim) {
  const Array others = count("any", operand("any", x), Compare::ne, axes, keepdim);
  return record("any", array::compare("any", Compare::gt, others, 0), {&x});
}

}  // namespace gradus
