#pragma once
// Rows that layer_norm and rms_norm redo in f64, forward and backward: those whose squares leave the
// range of their dtype, whose deviations x - mean or whose 1 / deviation may, and those so far from 0 that
// rounding the mean shows in x - mean. The kernel's mean and rstd tell which.

#include <cmath>

#include "gradus/ops/array/reduce_in_f64.h"

namespace gradus {

/// fast(first, last) for runs of ordinary rows from begin to end and again(row) for each other row, in order.
/// Without a mean (null) rows are normalized about 0.
template <class T, class Fast, class Again>
void for_each_run(std::int64_t begin, std::int64_t end, const T* mean, const T* rstd, Fast fast,
                  Again again) {
  constexpr bool single = sizeof(T) == sizeof(float);
  // Squares of smaller deviations lose digits; of larger ones, x - mean may overflow.
  constexpr T most = single ? T(0x1p51) : T(0x1p484), least = single ? T(0x1p-100) : T(0x1p-900);
  constexpr T far = 160;  // as in var: below, a rounded mean moves y by less than 80 epsilon
  const auto split = [&](auto good) {
    if (in_f64::all_good<T>(begin, end, good)) [[likely]]
      return fast(begin, end);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t first = row;
      while (row < end && good(row)) ++row;
      if (first < row) fast(first, row);
      if (row < end) again(row);
    }
  };
  const auto in_range = [=](std::int64_t row) { return (rstd[row] > least) & (rstd[row] < most); };
  if (!mean) return split(in_range);
  split([=](std::int64_t row) { return in_range(row) & (std::abs(mean[row]) * rstd[row] < far); });
}

/// A row in f64: xhat = (x - mean) / root, about 0 without `centred`.
template <class T>
class RowInF64 {
 public:
  RowInF64(const T* x, std::int64_t n, double eps, bool centred)
      : d_(x, n, centred, std::sqrt(eps)), n_(n), centred_(centred) {
    const double of_eps = d_.over_unit(std::sqrt(eps));
    root_ = std::sqrt(d_.squares() / static_cast<double>(n) + of_eps * of_eps);
  }

  /// False where an element is NaN or infinite: such rows are left to the kernel.
  bool finite() const { return std::isfinite(root_); }

  void normalize(const T* weight, const T* bias, T* y, T* mean, T* rstd) const {
    for (std::int64_t i = 0; i < n_; ++i)
      y[i] = static_cast<T>(xhat(i) * (weight ? static_cast<double>(weight[i]) : 1) +
                            (bias ? static_cast<double>(bias[i]) : 0));
    if (mean) *mean = static_cast<T>(d_.mean());
    *rstd = static_cast<T>(d_.over_unit(1 / root_));
  }

  /// Writes dx and adds to dweight and dbias; those that are null are not needed.
  void grad(const T* weight, const T* dy, T* dx, T* dweight, T* dbias) const {
    const auto dn = [=](std::int64_t i) {
      return static_cast<double>(dy[i]) * (weight ? static_cast<double>(weight[i]) : 1);
    };
    double sum = 0, products = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      sum += dn(i);
      products += dn(i) * xhat(i);
      if (dweight)
        dweight[i] = static_cast<T>(static_cast<double>(dweight[i]) + static_cast<double>(dy[i]) * xhat(i));
      if (dbias) dbias[i] += dy[i];
    }
    const double count = static_cast<double>(n_), mean_dn = centred_ ? sum / count : 0;
    for (std::int64_t i = 0; dx && i < n_; ++i)
      dx[i] = static_cast<T>(d_.over_unit((dn(i) - mean_dn - xhat(i) * (products / count)) / root_));
  }

 private:
  double xhat(std::int64_t i) const { return d_[i] / root_; }
  in_f64::Deviations<T> d_;
  std::int64_t n_;
  bool centred_;
  double root_;  // in units of d_
};

}  // namespace gradus
