#pragma once
// Curvature: second derivatives by central differences of gradients. The tape has no gradients of gradients,
// by design (docs/tape.md); in f64 these differences are accurate to about eight digits if the parameters
// have similar magnitudes. Every call of the loss has its effects: buffers it updates, such as BatchNorm's
// running statistics in training mode, stay updated.

#include <cstdint>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/ops/gradcheck.h"

namespace gradus {

/// H v, the product of the loss's Hessian with respect to the parameters and v, in the parameters' shapes:
/// (g(w + h v) - g(w - h v)) / 2h, where g is the gradient and the step h v has the length eps max(1, |w|).
/// Two forward and two backward passes. The loss has one element; parameters and v are f64, one v for each;
/// the parameters are changed in place and restored exactly, and their grad is not touched.
/// `const TensorList hv = hvp([&] { return model.loss(x, y); }, model.parameters(), v);`
TensorList hvp(const TensorFunction& loss, const std::vector<Tensor>& parameters,
               const std::vector<Tensor>& v, double eps = 1e-5);

struct SharpnessOptions {
  std::int64_t iterations =
      100;                  // at most so many products H v, twice that where it has negative eigenvalues
  double tolerance = 1e-3;  // ends when the residual is at most this share of the eigenvalue found, or
                            // of a negative one that is larger; less than 1e-8 is hardly reached
  double eps = 1e-5;        // as in hvp
  Generator generator = Generator(0);  // draws the start; a copy, so no other stream is affected
};
/// The result of sharpness().
struct Sharpness {
  double value = 0;             // v^T H v of the last v, of length 1
  std::int64_t iterations = 0;  // products used
  bool converged = false;       // the residual is within the tolerance
  double residual = 0;          // |H v - value v|: an eigenvalue is at most so far from the value
};
/// The largest curvature: the largest eigenvalue of the loss's Hessian, by power iteration. If the eigenvalue
/// of largest magnitude is negative, -a, the iteration continues with H + a, whose largest is a above H's. If
/// the largest ones are close, the value lies between them. Gradient descent is stable on a
/// quadratic while lr < 2 / sharpness. `const double top = sharpness([&] { return model.loss(x, y); },
/// model.parameters()).value;`
Sharpness sharpness(const TensorFunction& loss, const std::vector<Tensor>& parameters,
                    const SharpnessOptions& options = {});

}  // namespace gradus
