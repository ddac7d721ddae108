// Largest and smallest elements, and where they are.
//
//   max   y = max_i x_i     dx_i = dy / k where x_i = y (k elements do), else 0      saves x and y
//                           which elements these are is constant: dx is a function of dy alone
//   argmax                  the first i with x_i = y; no gradient
//   max_with_indices        both; dx_i = dy at the first, else 0: gather at argmax
//
// The loops are in ops/array/extreme.cpp.

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using kernels::Binary;
using kernels::Compare;

template <Binary kind>
Tensor extreme_op(const char* op, const Tensor& x, const Axes& axes, bool keepdim) {
  const Array y = array::extreme(op, kind, operand(op, x), axes, keepdim);
  return record(
      op, y, {&x},
      [op, x = Saved(x.array()), y = Saved(y), axes, keepdim]<class V>(const V& dy, auto) -> GradsOf<V> {
        const auto wide = [&](const auto& row) {
          return formula::expand_reduced(row, x->shape(), axes, keepdim);
        };
        const Array hit = array::compare(op, Compare::eq, *x, wide(*y));
        const Array hits = array::sum(hit, axes, keepdim).to(dy.dtype());
        // dx is NaN where the extreme is NaN, which nothing equals.
        if constexpr (kTaped<V>) {
          const Array others = array::binary(op, Binary::div, 0, hits);  // 0, or NaN there
          return {where(Tensor(hit), wide(dy / Tensor(hits)), Tensor(wide(others)))};
        } else {
          return {array::mul(hit.to(dy.dtype()), wide(array::div(dy, hits)))};
        }
      });
}

template <Binary kind>
Tensor arg_extreme(const char* op, const Tensor& x, std::optional<Int> axis, Flag keepdim) {
  return record(op, array::arg_extreme(op, kind, operand(op, x), axis, keepdim), {&x});
}

template <Binary kind>
std::pair<Tensor, Tensor> with_indices(const char* op, const Tensor& x, Int axis, bool keepdim) {
  const Tensor index = arg_extreme<kind>(op, x, axis, /*keepdim=*/true), value = gather(x, axis, index);
  if (keepdim) return {value, index.clone()};  // a copy: writing to it must not touch what backward saved
  return {squeeze(value, axis), squeeze(index, axis).clone()};
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, Flag keepdim) {
  return extreme_op<Binary::maximum>("max", x, axes, keepdim);
}

Tensor min(const Tensor& x, const Axes& axes, Flag keepdim) {
  return extreme_op<Binary::minimum>("min", x, axes, keepdim);
}

std::pair<Tensor, Tensor> max_with_indices(const Tensor& x, Int axis, Flag keepdim) {
  return with_indices<Binary::maximum>("max_with_indices", x, axis, keepdim);
}

std::pair<Tensor, Tensor> min_with_indices(const Tensor& x, Int axis, Flag keepdim) {
  return with_indices<Binary::minimum>("min_with_indices", x, axis, keepdim);
}

Tensor argmax(const Tensor& x, std::optional<Int> axis, Flag keepdim) {
  return arg_extreme<Binary::maximum>("argmax", x, axis, keepdim);
}

Tensor argmin(const Tensor& x, std::optional<Int> axis, Flag keepdim) {
  return arg_extreme<Binary::minimum>("argmin", x, axis, keepdim);
}

}  // namespace gradus
