#include "gradus/optim/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/kernels/kernels.h"

namespace gradus::optim {

namespace {
/// The sum of squares of a piece. If it overflows or underflows T, it is computed in double.
template <class T>
double sum_square_of(std::int64_t size, const T* data) {
  const double sum = static_cast<double>(kernels::table<T>().sum_square(size, data));
  using Limits = std::numeric_limits<T>;
  if (sizeof(T) == sizeof(double) || (sum > Limits::min() / Limits::epsilon() && sum <= Limits::max()))
    return sum;
  double wide = 0;
  for (std::int64_t i = 0; i < size; ++i) wide += static_cast<double>(data[i]) * static_cast<double>(data[i]);
  return wide;
}

/// Of each block; these sums are added in double.
Array sums_of_blocks(const char* op, const Array& gradient) {
  const Array dense = gradient.contiguous();
  const std::int64_t n = dense.numel();
  count_bytes(static_cast<double>(n) * static_cast<double>(size_of(dense.dtype())));
  const std::int64_t blocks = (n + kNormBlock - 1) / kNormBlock;
  const Array sums = Array::empty({blocks}, f64);
  double* const parts = sums.mutable_data<double>();
  dispatch_floating(op, dense, [&]<class T>() {
    const T* const data = dense.data<T>();
    parallel_for(blocks, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = i * kNormBlock, size = std::min(kNormBlock, n - begin);
        parts[i] = sum_square_of(size, data + begin);
      }
    });
  });
  return sums;
}

double sum_square(const Array& gradient) {
  const Array sums = sums_of_blocks("grad_norm", gradient);
  const double* const parts = sums.data<double>();
  double total = 0;
  for (std::int64_t i = 0; i < sums.numel(); ++i) total += parts[i];
  return total;
}

/// Applies f(n, data), which changes a part of a gradient; several threads call it for different parts.
template <class F>
void rewrite(const char* op, const std::vector<Array>& gradients, F f) {
  std::vector<Array> dense;  // all copies first, so that none changes when out of memory
  for (const Array& gradient : gradients) dense.push_back(gradient.contiguous());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    dispatch_floating(op, dense[i], [&]<class T>() {
      T* const data = dense[i].mutable_data<T>();
      count_bytes(2.0 * static_cast<double>(dense[i].numel()) * static_cast<double>(sizeof(T)));
      parallel_for(dense[i].numel(), 4 * kNormBlock,
                   [&](std::int64_t begin, std::int64_t end) { f(end - begin, data + begin); });
    });
    if (!gradients[i].is_contiguous())
      gradients[i].copy_(dense[i]);
    else
      gradients[i].storage().bump_version();
  }
}

/// All defined gradients, each once, in order: a parameter may be listed more than once.
std::vector<Array> gradients(const char* who, const std::vector<Tensor>& parameters) {
  std::vector<Array> found;
  std::unordered_set<const Node*> seen;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& parameter = parameters[i];
    check(parameter.defined(), "{}: parameter {} is an undefined tensor", who, i);
    if (const Tensor gradient = parameter.grad();
        gradient.defined() && seen.insert(parameter.node().get()).second)
      found.push_back(gradient.array());
  }
  return found;
}

/// The norm if the sum of squares overflows or underflows: first divides every element by the largest.
double scaled_norm(const std::vector<Array>& gradients) {
  double largest = 0, sum = 0;
  const auto for_each = [&](auto f) {
    for (const Array& gradient : gradients) {
      const Array dense = gradient.contiguous();
      dispatch_floating("grad_norm", dense, [&]<class T>() {
        const T* const data = dense.data<T>();
        for (std::int64_t i = 0; i < dense.numel(); ++i) f(static_cast<double>(data[i]));
      });
    }
  };
  for_each([&](double value) { largest = std::max(largest, std::abs(value)); });
  if (largest == 0 || std::isinf(largest)) return largest;
  for_each([&](double value) { sum += (value / largest) * (value / largest); });
  return largest * std::sqrt(sum);
}

double norm_of(const std::vector<Array>& gradients) {
  using Limits = std::numeric_limits<double>;
  double total = 0;
  for (const Array& gradient : gradients) total += sum_square(gradient);
  const bool good = std::isnan(total) || (total > Limits::min() / Limits::epsilon() && std::isfinite(total));
  return good ? std::sqrt(total) : scaled_norm(gradients);
}

/// Scales gradients of this norm to at most max_norm.
void scale_to(const char* op, const std::vector<Array>& found, double max_norm, double norm) {
  if (!std::isfinite(norm) || norm <= max_norm) return;
  const double factor = max_norm / (norm + 1e-6);
  rewrite(op, found, [=]<class T>(std::int64_t n, T* data) {
    if (factor >= std::numeric_limits<T>::min())
      kernels::table<T>().scale(n, static_cast<T>(factor), data, data);
    else  // the factor is subnormal or 0 in T
      for (std::int64_t i = 0; i < n; ++i)
        data[i] = static_cast<T>(static_cast<double>(data[i]) / norm * max_norm);
  });
}
}  // namespace

double grad_norm(const std::vector<Tensor>& parameters) {
  return norm_of(gradients("grad_norm", parameters));
}

Tensor block_sums(const Tensor& gradient) {
  check(gradient.defined(), "block_sums: the gradient is an undefined tensor");
  return Tensor(sums_of_blocks("block_sums", gradient.array()));
}

double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
  const ProfileRange range("clip_grad_norm");
  check(max_norm > 0, "clip_grad_norm: expects a max_norm above 0, got {}", max_norm);
  const std::vector<Array> found = gradients("clip_grad_norm", parameters);
  check(!found.empty() || parameters.empty(),
        "clip_grad_norm: no parameter has a gradient: call it after backward(); gradients that DataParallel "
        "shards are clipped by "
        "Sharded's clip_grad_norm()");
  const double norm = norm_of(found);
  scale_to("clip_grad_norm", found, max_norm, norm);
  return norm;
}

void clip_grads_with_norm(const std::vector<Tensor>& parameters, double max_norm, double total_norm) {
  const ProfileRange range("clip_grads_with_norm");
  check(max_norm > 0, "clip_grads_with_norm: expects a max_norm above 0, got {}", max_norm);
  scale_to("clip_grads_with_norm", gradients("clip_grads_with_norm", parameters), max_norm, total_norm);
}

void clip_grad_value(const std::vector<Tensor>& parameters, double clip_value) {
  const ProfileRange range("clip_grad_value");
  check(clip_value > 0, "clip_grad_value: expects a clip_value above 0, got {}", clip_value);
  const std::vector<Array> found = gradients("clip_grad_value", parameters);
  rewrite("clip_grad_value", found, [clip_value]<class T>(std::int64_t n, T* data) {
    const T most = static_cast<T>(clip_value);
    for (std::int64_t i = 0; i < n; ++i) data[i] = data[i] < -most ? -most : data[i] > most ? most : data[i];
  });
}

}  // namespace gradus::optim
