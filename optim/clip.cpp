#include "gradus/optim/clip.h"

#include <cmath>

#include "gradus/core/dispatch.h"
#include "gradus/core/parallel.h"
#include "gradus/core/profile.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus::optim {

namespace {
constexpr std::int64_t kPiece = 4096;  // summed in the gradient's own precision; pieces are added in double

double sum_square(const Array& gradient) {
  const Array dense = gradient.contiguous();
  const std::int64_t n = dense.numel();
  count_bytes(static_cast<double>(n) * static_cast<double>(size_of(dense.dtype())));
  const std::int64_t pieces = (n + kPiece - 1) / kPiece;
  const Array sums = Array::empty({pieces}, f64);
  double* const parts = sums.mutable_data<double>();
  dispatch_floating("grad_norm", dense.dtype(), [&]<class T>() {
    const T* const data = dense.data<T>();
    parallel_for(pieces, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = i * kPiece, size = std::min(kPiece, n - begin);
        parts[i] = static_cast<double>(kernels::table<T>().sum_square(size, data + begin));
      }
    });
  });
  double total = 0;
  for (std::int64_t i = 0; i < pieces; ++i) total += parts[i];
  return total;
}

void scale(const Array& gradient, double factor) {
  const Array dense = gradient.contiguous();
  dispatch_floating("clip_grad_norm", dense.dtype(), [&]<class T>() {
    T* const data = dense.mutable_data<T>();
    count_bytes(2.0 * static_cast<double>(dense.numel()) * static_cast<double>(sizeof(T)));
    parallel_for(dense.numel(), 4 * kPiece, [&](std::int64_t begin, std::int64_t end) {
      kernels::table<T>().scale(end - begin, static_cast<T>(factor), data + begin, data + begin);
    });
  });
  if (!gradient.is_contiguous())
    gradient.copy_(dense);
  else
    gradient.storage().bump_version();
}
}  // namespace

double grad_norm(const std::vector<Tensor>& parameters) {
  double total = 0;
  for (const Tensor& parameter : parameters)
    if (const Tensor gradient = parameter.grad(); gradient.defined()) total += sum_square(gradient.array());
  return std::sqrt(total);
}

double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
  const ProfileRange range("clip_grad_norm");
  check(max_norm > 0, "clip_grad_norm: expects a max_norm above 0, got {}", max_norm);
  const double norm = grad_norm(parameters);
  if (!std::isfinite(norm) || norm <= max_norm) return norm;
  for (const Tensor& parameter : parameters)
    if (const Tensor gradient = parameter.grad(); gradient.defined())
      scale(gradient.array(), max_norm / (norm + 1e-6));
  return norm;
}

}  // namespace gradus::optim
