#pragma once
// Reductions again, one row at a time in f64, where the fast way went wrong: a sum or square left
// the range, or a mean was rounded by more than its numbers differ, while the result itself is a good number.
// 3e38 is the mean and the norm of 3e38, and its variance is 0. Numbers are scaled, so that nothing leaves
// the range of f64 either; the rows that went well keep their bits.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "gradus/core/array/array.h"
#include "gradus/core/array/detail/strided.h"

namespace gradus::in_f64 {

/// Never outside the range of the numbers: of equal ones it is their value.
template <class T>
double mean(const T* x, std::int64_t n) {
  double sum = 0, low = INFINITY, high = -INFINITY;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = x[i];
    sum += v * 0x1p-64;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return std::clamp(sum / static_cast<double>(n) * 0x1p64, low, high);  // NaN passes
}

/// The sum of squares about the mean: 4 `squares` times the square of `half`.
struct Spread {
  double squares, half;
};

/// Of d = x - m: sum d^2 - (sum d)^2 / n takes out what the mean m was rounded by.
template <class T>
Spread spread(const T* x, std::int64_t n) {
  const double m = mean(x, n);
  if (!std::isfinite(m)) return {std::numeric_limits<double>::quiet_NaN(), 1};
  // x - m may overflow
  const auto half = [&](std::int64_t i) { return 0.5 * static_cast<double>(x[i]) - 0.5 * m; };
  double scale = 0;
  for (std::int64_t i = 0; i < n; ++i) scale = std::max(scale, std::abs(half(i)));
  if (scale == 0) return {0, 1};
  double squares = 0, sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double q = half(i) / scale;
    squares += q * q;
    sum += q;
  }
  return {std::max(squares - sum * sum / static_cast<double>(n), 0.0), scale};
}

template <class T>
double var(const T* x, std::int64_t n, double k) {
  const auto [squares, half] = spread(x, n);
  return 4 * (squares / k) * half * half;
}

/// sqrt(var), which may be a good number where var is none.
template <class T>
double std(const T* x, std::int64_t n, double k) {
  const auto [squares, half] = spread(x, n);
  return 2 * (std::sqrt(squares / k) * half);
}

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

/// Whether good(i) holds from begin to end. Without jumps, and in words as wide as T: so it becomes vectors.
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

/// again(i, row i) for each of `results` that is not good. make_rows() gives the numbers, n in a row.
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
