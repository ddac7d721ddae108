#pragma once
// Reductions redone, one row at a time in f64, where the fast path failed: a sum or square left the range
// of the dtype, or the rounding of a mean shows in the deviations from it, while the result itself is within
// the range. 3e38 is the mean and the norm of 3e38, and its variance is 0. Numbers are scaled, so that
// nothing leaves the range of f64 either; all other rows keep their bits.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "gradus/core/array/array.h"
#include "gradus/core/array/detail/strided.h"

namespace gradus::in_f64 {

/// The deviations of a row from its mean, or from 0, divided by `unit`: the largest of them, or `at_least` if
/// that is larger. So they are at most 1. Numbers are scaled by a power of 2 first: nothing overflows, and
/// underflow costs no digits.
template <class T>
class Deviations {
 public:
  Deviations(const T* x, std::int64_t n, bool from_mean = true, double at_least = 0) : x_(x) {
    double low = INFINITY, high = -INFINITY, total = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      low = std::min(low, static_cast<double>(x[i]));
      high = std::max(high, static_cast<double>(x[i]));
    }
    by_ = std::max(-low, high) > 0x1p800 ? 0x1p-128 : 0x1p128;
    const double count = static_cast<double>(n);
    if (from_mean) {
      for (std::int64_t i = 0; i < n; ++i) total += static_cast<double>(x[i]) * by_;
      centre_ = std::clamp(total / count, low * by_, high * by_);  // of equal numbers it is their value
    }
    unit_ = at_least * by_;
    for (std::int64_t i = 0; i < n; ++i) unit_ = std::max(unit_, std::abs(deviation(i)));
    if (unit_ == 0) unit_ = 1;
    if (from_mean) {
      for (std::int64_t i = 0; i < n; ++i) rest_ += deviation(i) / unit_;
      rest_ /= count;
    }
    for (std::int64_t i = 0; i < n; ++i) squares_ += (*this)[i] * (*this)[i];
  }

  double operator[](std::int64_t i) const { return deviation(i) / unit_ - rest_; }
  /// The sum of their squares; NaN where an element is NaN or infinite.
  double squares() const { return squares_; }
  double times_unit(double v) const { return v / by_ * unit_; }
  double over_unit(double v) const { return v * by_ / unit_; }
  double mean() const { return centre_ / by_; }
  /// The part of the mean that `rounded`, the same mean in T, leaves out.
  double rest(T rounded) const {
    return (centre_ - static_cast<double>(rounded) * by_) / by_ + times_unit(rest_);
  }

 private:
  double deviation(std::int64_t i) const { return static_cast<double>(x_[i]) * by_ - centre_; }
  const T* x_;
  double by_, unit_, centre_ = 0, rest_ = 0, squares_ = 0;  // centre_ is off by rest_ units, from rounding
};

/// sqrt(sum x^2)
template <class T>
double norm(const T* x, std::int64_t n) {
  double scale = 0, sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (x[i] != x[i]) return std::numeric_limits<double>::quiet_NaN();
    scale = std::max(scale, std::abs(static_cast<double>(x[i])));
  }
  if (scale == 0 || std::isinf(scale)) return scale;
  for (std::int64_t i = 0; i < n; ++i) {
    const double q = static_cast<double>(x[i]) / scale;
    sum += q * q;
  }
  return scale * std::sqrt(sum);
}

/// Whether good(i) holds from begin to end. Branch-free, with integers as wide as T, so it vectorizes.
template <class T, class Good>
bool all_good(std::int64_t begin, std::int64_t end, Good good) {
  using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  Word bad = 0;
  for (std::int64_t i = begin; i < end; ++i) bad |= good(i) ? 0 : 1;
  return bad == 0;
}

/// The same from 0 to n, by all threads.
template <class T, class Good>
bool all_good_in_parallel(std::int64_t n, Good good) {
  std::atomic<bool> all = true;
  parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    if (!all_good<T>(begin, end, good)) all = false;
  });
  return all;
}

/// again(i, row i) for each of `results` that is not good. make_rows() gives the values, n per row.
template <class T, class Good, class MakeRows, class Again>
void for_each_bad(std::int64_t results, std::int64_t n, Good good, MakeRows make_rows, Again again) {
  constexpr std::int64_t kBlock = 256;  // looked through one by one where not all are good
  if (n == 0 || all_good_in_parallel<T>(results, good)) return;
  const Array rows = make_rows();
  const T* const data = rows.template data<T>();
  parallel_rows((results - 1) / kBlock + 1, n * kBlock, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      const std::int64_t begin = block * kBlock, end = std::min(results, begin + kBlock);
      if (all_good<T>(begin, end, good)) continue;
      for (std::int64_t i = begin; i < end; ++i)
        if (!good(i)) again(i, data + i * n);
    }
  });
}

}  // namespace gradus::in_f64
