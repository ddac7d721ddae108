#pragma once
// Curvature: the largest eigenvalue of a loss's Hessian. Products with the Hessian, and the Hessian itself,
// are in functional.h.

#include <concepts>
#include <cstdint>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/ops/functional.h"

namespace gradus {

struct SharpnessOptions {
  std::int64_t iterations = 100;  // at most this many products H v, and as many again if the eigenvalue of
                                  // largest absolute value may be negative
  double tolerance = 1e-3;        // ends when the residual is at most this share of the eigenvalue found, or
                                  // of a negative one that is larger; f32 hardly reaches less than 1e-5
  Generator generator = Generator(0);  // draws the start; a copy, so no other stream is affected
};
/// The result of sharpness().
struct Sharpness {
  double value = 0;             // v^T H v of the last v, of length 1
  std::int64_t iterations = 0;  // products used
  bool converged = false;       // the residual is within the tolerance
  double residual = 0;          // |H v - value v|: some eigenvalue is at most this far from the value
};
/// The largest curvature: the largest eigenvalue of the loss's Hessian, by power iteration. If the eigenvalue
/// of largest absolute value is negative, -a, the iteration continues with H + a, whose largest is a above
/// H's. If the largest ones are close, the value may lie between them. Gradient descent is stable on a convex
/// quadratic while lr < 2 / sharpness. `const double top = sharpness([&] { return model.loss(x, y); },
/// model.parameters()).value;`
///
/// Loss and parameters are as in hvp, f32 or f64; a loss that depends on no parameter is an error. The loss
/// is called once; the tape of the loss and of its gradient, with all that their ops saved, stays in memory
/// until the end, and each product H v is one backward pass through it.
Sharpness sharpness(const TensorFunction& loss, const std::vector<Tensor>& parameters,
                    const SharpnessOptions& options = {});
template <std::same_as<Tensor> T>
Sharpness sharpness(const TensorFunction&, const T&) = delete;  // in braces: sharpness(f, {x})

}  // namespace gradus
