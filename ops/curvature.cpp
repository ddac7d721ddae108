#include "gradus/ops/curvature.h"

#include <cmath>

#include "gradus/core/creation.h"
#include "gradus/core/detail/format.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/detail/derivatives.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using Tensors = std::vector<Tensor>;

/// In f64, in which squares of f32 do not overflow.
double dot(const Tensors& a, const Tensors& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += (a[i].to(f64) * b[i].to(f64)).sum().item();
  return total;
}

/// The loss's gradient on the tape, for any number of products H v.
class TapedGradient {
 public:
  TapedGradient(const TensorFunction& loss, const Tensors& parameters)
      : call_("sharpness", "parameter", loss, parameters, /*taped=*/false) {
    const Tensor& y = call_.loss();
    if (y.requires_grad()) gradients_ = grad(y, call_.inputs, {.create_graph = true, .allow_unused = true});
    bool depends = false;
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      Tensor& g = gradients_[i];
      depends = depends || g.defined();
      if (!g.defined()) g = zeros_like(call_.inputs[i]);
      check(isfinite(g).all(), "sharpness: the loss's gradients are not finite");
    }
    check(depends,
          "sharpness: the loss depends on no parameter: it was computed from others, under NoGrad, or from "
          "what detach() or item() returned");
  }

  /// H v.
  Tensors product(const Tensors& v) const {
    return detail::pull_back(gradients_, v, call_.inputs, {.retain_graph = true});
  }

  Tensors random(Generator& generator) const {
    Tensors v;
    for (const Tensor& w : call_.inputs) v.push_back(randn(w.shape(), generator, f64).to(w.dtype()));
    return v;
  }

 private:
  detail::RecordedCall call_;
  Tensors gradients_;
};

/// Power iteration with H + shift; the value is H's. `size` becomes |H v|, the size of the eigenvalues that
/// are left in v.
Sharpness iterate(const TapedGradient& gradient, double shift, const SharpnessOptions& options,
                  double& size) {
  Generator generator = options.generator;
  Tensors v = gradient.random(generator);
  Sharpness found;
  while (found.iterations < options.iterations) {
    const double scale = 1 / std::sqrt(dot(v, v));
    for (Tensor& part : v) part = part * scale;
    Tensors next = gradient.product(v);
    found.value = dot(v, next);
    size = std::sqrt(dot(next, next));
    ++found.iterations;
    check(std::isfinite(found.value), "sharpness: the loss's second derivatives are not finite");
    Tensors rest;
    for (std::size_t i = 0; i < v.size(); ++i) rest.push_back(next[i] - v[i] * found.value);
    found.residual = std::sqrt(dot(rest, rest));
    found.converged = found.residual <= options.tolerance * std::max(std::abs(found.value), shift);
    if (found.converged) break;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = next[i] + v[i] * shift;
  }
  return found;
}

}  // namespace

Sharpness sharpness(const TensorFunction& loss, const std::vector<Tensor>& parameters,
                    const SharpnessOptions& options) {
  check(options.iterations >= 1 && options.tolerance >= 0,
        "sharpness: expects 1 or more iterations and a tolerance of 0 or more, got {} and {}",
        options.iterations, options.tolerance);
  const TapedGradient gradient(loss, parameters);
  const NoGrad guard;
  double size = 0;
  Sharpness found = iterate(gradient, 0, options, size);
  // Largest in size is a negative eigenvalue, or two of either sign, between which v goes to and fro.
  const bool mixed = !found.converged && found.value < 0.99 * size;
  if (found.value >= 0 && !mixed) return found;
  const std::int64_t before = found.iterations;
  found = iterate(gradient, size, options, size);
  found.iterations += before;
  return found;
}

}  // namespace gradus
