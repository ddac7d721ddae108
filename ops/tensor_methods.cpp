// The methods of Tensor that compute: each is the op of the same name.

#include "gradus/core/tensor.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

// --- views and indexing
Tensor Tensor::select(Int axis, Int index) const& { return gradus::select(*this, axis, index); }
Tensor Tensor::select(Int axis, Int index) && {
  const Tensor whole = std::move(*this);  // gone when the part is written
  return whole.select(axis, index);
}
Tensor Tensor::slice(Int axis, Int start, std::optional<Int> stop, Int step) && {
  const Tensor whole = std::move(*this);
  return whole.slice(axis, start, stop, step);
}
Tensor Tensor::slice(Int axis, Int start, std::optional<Int> stop, Int step) const& {
  return gradus::slice(*this, axis, start, stop, step);
}
Tensor Tensor::unfold(Int axis, Int size, Int step) const { return gradus::unfold(*this, axis, size, step); }
Tensor Tensor::reshape(const Shape& shape) const { return gradus::reshape(*this, shape); }
Tensor Tensor::view(const Shape& shape) const { return gradus::view(*this, shape); }
Tensor Tensor::permute(const Dims& axes) const { return gradus::permute(*this, axes); }
Tensor Tensor::transpose(Int a, Int b) const { return gradus::transpose(*this, a, b); }
Tensor Tensor::t() const {
  check(operand("t", *this).dim() == 2, "t: expects a matrix, got {}: use transpose(a, b)", shape());
  return gradus::transpose(*this, 0, 1);
}
Tensor Tensor::squeeze() const { return gradus::squeeze(*this); }
Tensor Tensor::squeeze(Int axis) const { return gradus::squeeze(*this, axis); }
Tensor Tensor::unsqueeze(Int axis) const { return gradus::unsqueeze(*this, axis); }
Tensor Tensor::expand(const Shape& shape) const { return gradus::expand(*this, shape); }
Tensor Tensor::repeat(const Dims& counts) const { return gradus::repeat(*this, counts); }
Tensor Tensor::flatten(Int start, Int end) const { return gradus::flatten(*this, start, end); }
Tensor Tensor::contiguous() const { return gradus::contiguous(*this); }
Tensor Tensor::clone() const { return gradus::clone(*this); }
Tensor Tensor::to(DType dtype) const { return gradus::to(*this, dtype); }

// --- reductions
Tensor Tensor::sum(const Axes& axes, Flag keepdim) const { return gradus::sum(*this, axes, keepdim); }
Tensor Tensor::mean(const Axes& axes, Flag keepdim) const { return gradus::mean(*this, axes, keepdim); }
Tensor Tensor::var(const Axes& axes, const VarOptions& options) const {
  return gradus::var(*this, axes, options);
}
Tensor Tensor::std(const Axes& axes, const VarOptions& options) const {
  return gradus::std(*this, axes, options);
}
Tensor Tensor::prod(const Axes& axes, Flag keepdim) const { return gradus::prod(*this, axes, keepdim); }
Tensor Tensor::max(const Axes& axes, Flag keepdim) const { return gradus::max(*this, axes, keepdim); }
Tensor Tensor::min(const Axes& axes, Flag keepdim) const { return gradus::min(*this, axes, keepdim); }
std::pair<Tensor, Tensor> Tensor::max_with_indices(Int axis, Flag keepdim) const {
  return gradus::max_with_indices(*this, axis, keepdim);
}
std::pair<Tensor, Tensor> Tensor::min_with_indices(Int axis, Flag keepdim) const {
  return gradus::min_with_indices(*this, axis, keepdim);
}
Tensor Tensor::argmax(std::optional<Int> axis, Flag keepdim) const {
  return gradus::argmax(*this, axis, keepdim);
}
Tensor Tensor::argmin(std::optional<Int> axis, Flag keepdim) const {
  return gradus::argmin(*this, axis, keepdim);
}
Tensor Tensor::norm(Scalar p, const Axes& axes, Flag keepdim) const {
  return gradus::norm(*this, p, axes, keepdim);
}

bool Tensor::all() const {
  if (is_half(operand("all", *this).dtype())) detail::fail_half("all", dtype(), shape());
  return array::sum(array().to(boolean)).item() == static_cast<double>(numel());
}
bool Tensor::any() const {
  if (is_half(operand("any", *this).dtype())) detail::fail_half("any", dtype(), shape());
  return array::sum(array().to(boolean)).item() > 0;
}
Tensor Tensor::all(const Axes& axes, Flag keepdim) const { return gradus::all(*this, axes, keepdim); }
Tensor Tensor::any(const Axes& axes, Flag keepdim) const { return gradus::any(*this, axes, keepdim); }

// --- elementwise
Tensor Tensor::abs() const { return gradus::abs(*this); }
Tensor Tensor::pow(double exponent) const { return gradus::pow(*this, exponent); }
Tensor Tensor::square() const { return gradus::square(*this); }
Tensor Tensor::sqrt() const { return gradus::sqrt(*this); }
Tensor Tensor::exp() const { return gradus::exp(*this); }
Tensor Tensor::log() const { return gradus::log(*this); }
Tensor Tensor::tanh() const { return gradus::tanh(*this); }
Tensor Tensor::sigmoid() const { return gradus::sigmoid(*this); }
Tensor Tensor::relu() const { return gradus::relu(*this); }
Tensor Tensor::clamp(std::optional<Scalar> low, std::optional<Scalar> high) const {
  return gradus::clamp(*this, low, high);
}
Tensor Tensor::sign() const { return gradus::sign(*this); }
Tensor Tensor::floor() const { return gradus::floor(*this); }
Tensor Tensor::ceil() const { return gradus::ceil(*this); }
Tensor Tensor::round() const { return gradus::round(*this); }
Tensor Tensor::isnan() const { return gradus::isnan(*this); }
Tensor Tensor::isinf() const { return gradus::isinf(*this); }
Tensor Tensor::isfinite() const { return gradus::isfinite(*this); }
Tensor Tensor::matmul(const Tensor& other) const { return gradus::matmul(*this, other); }
Tensor Tensor::softmax(Int axis) const { return gradus::softmax(*this, axis); }

}  // namespace gradus
