// Views: the same values under another shape. Nothing is computed and nothing is saved but shapes.
//
//   op                      y                              dx (always of x's shape)
//   reshape, view, flatten  values in row-major order      dy.reshape(x.shape)
//   permute, transpose      y[i_axes] = x[i]               dy with the axes put back
//   squeeze, unsqueeze      axes of size 1 gone or added   dy.reshape(x.shape)
//   expand                  x repeated along axes          dy summed over the repeats
//   select, slice           part of x                      0, with dy in that part
//   contiguous, clone       x in fresh memory              dy
//   to(dtype)               x rounded to dtype             dy converted back
//
// A view shares memory with x, so writing to it under NoGrad writes x. The gradient of the first part is an
// array of x's full shape, mostly zeros; those of other parts are added in their places there
// (part_gradient.h).

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/shape/part_gradient.h"

namespace gradus {

namespace {

/// Records a view with the values of x in the same row-major order on the tape.
Tensor reshaped(const char* op, const Tensor& x, Array y) {
  return record(op, std::move(y), {&x}, [shape = x.shape()]<class V>(const V& dy, auto) -> GradsOf<V> {
    return {dy.reshape(shape)};
  });
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return reshaped("reshape", x, operand("reshape", x).reshape(shape));
}

Tensor view(const Tensor& x, const Shape& shape) {
  const std::optional<Array> y = operand("view", x).try_view(shape);
  check(y.has_value(), "view: {} with strides {} cannot be seen as {} without a copy: use reshape()",
        x.shape(), x.strides(), shape);
  return reshaped("view", x, *y);
}

Tensor flatten(const Tensor& x, Int start, Int end) {
  const Array& array = operand("flatten", x);
  if (x.dim() == 0) return reshaped("flatten", x, array.reshape({1}));
  const int first = normalize_axis("flatten", start, x.dim()), last = normalize_axis("flatten", end, x.dim());
  check(first <= last, "flatten: start {} comes after end {} in {}", start, end, x.shape());
  Shape shape;
  for (int axis = 0; axis < x.dim(); ++axis) {
    if (axis <= first || axis > last)
      shape.push_back(x.shape()[axis]);
    else
      shape[first] *= x.shape()[axis];
  }
  return reshaped("flatten", x, array.reshape(shape));
}

Tensor permute(const Tensor& x, const Dims& axes) {
  Array y = operand("permute", x).permute(axes);
  Dims inverse = axes;
  for (int i = 0; i < axes.size(); ++i) inverse[normalize_axis("permute", axes[i], x.dim())] = i;
  return record("permute", std::move(y), {&x},
                [inverse]<class V>(const V& dy, auto) -> GradsOf<V> { return {dy.permute(inverse)}; });
}

Tensor transpose(const Tensor& x, Int a, Int b) {
  return record("transpose", operand("transpose", x).transpose(a, b), {&x},
                [a, b]<class V>(const V& dy, auto) -> GradsOf<V> { return {dy.transpose(a, b)}; });
}

Tensor squeeze(const Tensor& x) {
  Array y = operand("squeeze", x);
  for (int axis = x.dim() - 1; axis >= 0; --axis)
    if (x.shape()[axis] == 1) y = y.squeeze(axis);
  return reshaped("squeeze", x, std::move(y));
}

Tensor squeeze(const Tensor& x, Int axis) {
  const Array& array = operand("squeeze", x);
  if (x.shape()[normalize_axis("squeeze", axis, x.dim())] != 1) return x;
  return reshaped("squeeze", x, array.squeeze(axis));
}

Tensor unsqueeze(const Tensor& x, Int axis) {
  return reshaped("unsqueeze", x, operand("unsqueeze", x).unsqueeze(axis));
}

Tensor expand(const Tensor& x, const Shape& shape) {
  return record(
      "expand", operand("expand", x).expand(shape), {&x},
      [from = x.shape()]<class V>(const V& dy, auto) -> GradsOf<V> { return {formula::sum_to(dy, from)}; });
}

Tensor contiguous(const Tensor& x) {
  const Array& array = operand("contiguous", x);
  if (array.is_contiguous()) return x;
  return record("contiguous", array.clone(), {&x},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {dy}; });
}

Tensor clone(const Tensor& x) {
  return record("clone", operand("clone", x).clone(), {&x},
                []<class V>(const V& dy, auto) -> GradsOf<V> { return {dy}; });
}

Tensor to(const Tensor& x, DType dtype) {
  const Array& array = operand("to", x);
  if (x.dtype() == dtype) return x;
  check(!is_half(dtype) || !x.requires_grad() || !grad_enabled(),
        "to: {} only stores numbers and has no gradient, which {} {} requires: convert its detach()", dtype,
        x.dtype(), x.shape());
  if (!is_floating(dtype)) return record("to", array.to(dtype), {&x});  // steps have no gradient
  return record("to", array.to(dtype), {&x},
                [from = x.dtype()]<class V>(const V& dy, auto) -> GradsOf<V> { return {dy.to(from)}; });
}

Tensor select(const Tensor& x, Int axis, Int index) {
  return record_part("select", x, [=](const auto& of) { return of.select(axis, index); });
}

Tensor slice(const Tensor& x, Int axis, Int start, std::optional<Int> stop, Int step) {
  return record_part("slice", x, [=](const auto& of) { return of.slice(axis, start, stop, step); });
}

}  // namespace gradus
