#pragma once
// Ops that take a part of x, and their gradient.

#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"

namespace gradus {

/// A gradient that is dy in part(x), a view of x, and 0 elsewhere. part takes an Array or a Tensor.
template <class F>
Gradient into_part(const Shape& shape, const Array& dy, F part) {
  return {shape, dy.dtype(), [dy, part](const Array& dx, bool add) {
            if (add) {
              part(dx).add_(dy);
            } else {
              dx.fill_(0);
              part(dx).copy_(dy);
            }
          }};
}

/// The same on the tape, where its own gradient is the part again.
template <class F>
Tensor into_part(const Shape& shape, const Tensor& dy, F part) {
  const Array dx = Array::zeros(shape, dy.dtype());
  part(dx).copy_(dy.array());
  return record("into_part", dx, {&dy},
                [part]<class V>(const V& d, auto) -> GradsOf<V> { return {part(d)}; });
}

/// Records part(x) on the tape.
template <class F>
Tensor record_part(const char* op, const Tensor& x, F part) {
  return record(op, part(operand(op, x)), {&x},
                [shape = x.shape(), part]<class V>(const V& dy, auto) -> GradsOf<V> {
                  return {into_part(shape, dy, part)};
                });
}

}  // namespace gradus
