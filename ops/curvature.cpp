#include "gradus/ops/curvature.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/detail/repeatable.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using Tensors = std::vector<Tensor>;

double dot(const Tensors& a, const Tensors& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += (a[i] * b[i]).sum().item();
  return total;
}

/// The loss's gradients at other places: parameters move in place and come back.
class Gradients {
 public:
  Gradients(const char* caller, const TensorFunction& loss, const Tensors& parameters, double eps)
      : caller_(caller), loss_(loss), parameters_(parameters) {
    check(!parameters.empty(), "{}: got no parameters: pass model.parameters()", caller);
    check(eps > 0 && std::isfinite(eps), "{}: expects an eps above 0, got {}", caller, eps);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      detail::check_movable(caller, "parameter", i, parameters[i]);
    for (const Tensor& w : parameters) start_.push_back(w.detach().clone());
    length_ = eps * std::max(1.0, std::sqrt(dot(start_, start_)));
  }
  ~Gradients() { put_back(); }
  Gradients(const Gradients&) = delete;
  Gradients& operator=(const Gradients&) = delete;

  /// H v.
  Tensors product(const Tensors& v) {
    const double norm = std::sqrt(dot(v, v));
    check(std::isfinite(norm), "{}: expects a finite v, got one of length {}", caller_, norm);
    if (norm == 0) {
      Tensors zero;
      for (const Tensor& w : parameters_) zero.push_back(zeros(w.shape(), f64));
      return zero;
    }
    const double h = length_ / norm;
    Tensors result = at(v, h);
    const Tensors behind = at(v, -h);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = (result[i] - behind[i]) / (2 * h);
    put_back();
    return result;
  }

  Tensors random(Generator& generator) const {
    Tensors v;
    for (const Tensor& w : parameters_) v.push_back(randn(w.shape(), generator, f64));
    return v;
  }

 private:
  Tensors at(const Tensors& v, double h) {
    {
      const NoGrad guard;
      for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].copy_(start_[i] + v[i] * h);
    }
    numbers_.again();
    const EnableGrad guard;
    const Tensors y = loss_(parameters_, caller_);
    check(y.size() == 1 && y[0].defined() && y[0].numel() == 1, "{}: expects a loss of one element, got {}",
          caller_,
          y.size() != 1    ? fmt::format("{} tensors", y.size())
          : y[0].defined() ? fmt::format("shape {}", y[0].shape())
                           : "an undefined tensor");
    Tensors gradients = grad(y[0], parameters_, {.allow_unused = true});
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (!gradients[i].defined()) gradients[i] = zeros(parameters_[i].shape(), f64);
    return gradients;
  }

  void put_back() const {
    const NoGrad guard;
    for (std::size_t i = 0; i < start_.size(); ++i) parameters_[i].copy_(start_[i]);
  }

  const char* caller_;
  const TensorFunction& loss_;
  const Tensors& parameters_;
  Tensors start_;
  double length_ = 0;  // of a step
  detail::SameNumbers numbers_;
};

/// Power iteration with H + shift; the value is H's. `size` becomes |H v|, the size of the eigenvalues that
/// are left in v.
Sharpness iterate(Gradients& gradients, double shift, const SharpnessOptions& options, double& size) {
  Generator generator = options.generator;
  Tensors v = gradients.random(generator);
  Sharpness found;
  while (found.iterations < options.iterations) {
    const double scale = 1 / std::sqrt(dot(v, v));
    for (Tensor& part : v) part = part * scale;
    Tensors next = gradients.product(v);
    found.value = dot(v, next);
    size = std::sqrt(dot(next, next));
    ++found.iterations;
    check(std::isfinite(found.value), "sharpness: the loss's gradients are not finite");
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

TensorList hvp(const TensorFunction& loss, const std::vector<Tensor>& parameters,
               const std::vector<Tensor>& v, double eps) {
  Gradients gradients("hvp", loss, parameters, eps);
  check(v.size() == parameters.size(), "hvp: expects one v for each of the {} parameters, got {}",
        parameters.size(), v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    check(v[i].defined(), "hvp: v {} is an undefined tensor", i);
    check(v[i].shape() == parameters[i].shape() && v[i].dtype() == f64,
          "hvp: expects v {} of f64 {}, as its parameter is, got {} {}", i, parameters[i].shape(),
          v[i].dtype(), v[i].shape());
  }
  const NoGrad guard;
  return gradients.product(v);
}

Sharpness sharpness(const TensorFunction& loss, const std::vector<Tensor>& parameters,
                    const SharpnessOptions& options) {
  check(options.iterations >= 1 && options.tolerance >= 0,
        "sharpness: expects 1 or more iterations and a tolerance of 0 or more, got {} and {}",
        options.iterations, options.tolerance);
  Gradients gradients("sharpness", loss, parameters, options.eps);
  const NoGrad guard;
  double size = 0;
  Sharpness found = iterate(gradients, 0, options, size);
  // Largest in size is a negative eigenvalue, or two of either sign, between which v goes to and fro.
  const bool mixed = !found.converged && found.value < 0.99 * size;
  if (found.value >= 0 && !mixed) return found;
  const std::int64_t before = found.iterations;
  found = iterate(gradients, size, options, size);
  found.iterations += before;
  return found;
}

}  // namespace gradus
