#pragma once
// The gradient of an op that takes a part of x.

#include "gradus/core/tape/autograd.h"

namespace gradus {

/// A gradient that is dy in part(x), a view of x, and 0 elsewhere.
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

}  // namespace gradus
