#pragma once
// Elementwise loops over short rows, such as [N, 3] + [3] or [N, 1] * [1, 3]: a kernel call for
// every row of three would cost ten times its work. So many rows are one run, and an operand that repeats a
// row, or each of its values, is written out into a buffer small enough to stay in the nearest cache.

#include <algorithm>
#include <tuple>

#include "gradus/core/array/detail/strided.h"

namespace gradus {

/// Elements to a run. Also the longest row where this pays.
inline constexpr std::int64_t kShortRun = 1024, kShortRow = 24;

/// Rows of n values `inner` apart, the rows `outer` apart.
struct ShortRows {
  std::int64_t n, inner, outer;

  bool dense() const { return inner == 1 && outer == n; }
  /// Whether RunsOfRows can: no gaps, rows that are all the same, or rows of one value.
  bool fit() const { return dense() || outer == 0 || inner == 0; }
};

/// One operand of a loop over short rows, as runs without gaps.
template <class T>
class RunsOfRows {
 public:
  using I = std::int64_t;

  explicit RunsOfRows(const ShortRows& rows) : rows_(rows) {}

  /// To be called before the runs: x is the first row.
  void begin(const T* x) {
    x_ = x;
    if (rows_.outer != 0) return;
    for (I i = 0; i < rows_.n; ++i) buffer_[i] = x[i * rows_.inner];
    for (I filled = rows_.n; filled < kShortRun; filled *= 2)
      std::copy_n(buffer_, std::min(filled, kShortRun - filled), buffer_ + filled);
  }

  /// `count` rows from the given one on; good until the next call.
  const T* run(I row, I count) {
    const T* const x = x_ + row * rows_.outer;
    if (rows_.dense()) return x;
    if (rows_.outer != 0) repeat_values(x, count);
    return buffer_;
  }

 private:
  // Eight copies at a time are one or two vectors; those too many are overwritten by the next row.
  void repeat_values(const T* x, I count) {
    for (I row = 0; row < count; ++row)
      for (I i = 0; i < rows_.n; i += 8) std::fill_n(buffer_ + row * rows_.n + i, 8, x[row * rows_.outer]);
  }

  ShortRows rows_;
  const T* x_ = nullptr;
  T buffer_[kShortRun + 8];
};

template <int N>
ShortRows short_rows(const StridedLoop<N>& loop, int operand) {
  return {loop.inner(), loop.inner_stride(operand), loop.rank() > 1 ? loop.stride(1, operand) : 0};
}

/// Whether the loop's rows are short and many, those of operand 0, the result, have no gaps, and the others
/// fit RunsOfRows.
template <int N>
bool has_short_rows(const StridedLoop<N>& loop) {
  if (loop.rank() < 2 || loop.inner() > kShortRow || loop.inner() * loop.size(1) < kShortRun / 4)
    return false;
  for (int k = 1; k < N; ++k)
    if (!short_rows(loop, k).fit()) return false;
  return short_rows(loop, 0).dense();
}

/// f(n, at, operands...) for runs that together cover such a loop, on the pool: n elements of the result from
/// offset `at` on, and a pointer to as many of each of the other operands, whose data is given.
template <int N, class F, class... T>
void for_each_run(const StridedLoop<N>& loop, F f, const T*... data) {
  using I = std::int64_t;
  const I n = loop.inner(), step = kShortRun / n;
  loop.parallel_rows_of_axis(kGrain / n, [&](I rows, const typename StridedLoop<N>::Offsets& at) {
    int k = 0;
    const auto next = [&](auto) { return short_rows(loop, ++k); };
    std::tuple<RunsOfRows<T>...> operands{next(data)...};  // in braces: made in order
    const auto walk = [&](RunsOfRows<T>&... operand) {
      int i = 0;
      (operand.begin(data + at[++i]), ...);
      for (I row = 0; row < rows; row += step) {
        const I count = std::min(step, rows - row);
        f(count * n, at[0] + row * n, operand.run(row, count)...);
      }
    };
    std::apply(walk, operands);
  });
}

}  // namespace gradus
