#pragma once
// Iterating over N arrays of one shape together: axes of size 1 are dropped and adjacent ones merged where
// the strides of all N allow it, so most loops become one long inner run.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "gradus/core/shape.h"
#include "gradus/core/threads/parallel.h"

namespace gradus {

/// Elements per chunk of elementwise work: enough to outweigh waking a thread.
inline constexpr std::int64_t kGrain = 16384;

/// For a loop whose chunks have this many elements.
constexpr Wake wake_for(std::int64_t elements) {
  return elements > 16 * kGrain ? Wake::at_once : Wake::if_long;
}

/// f(begin, end) over `count` rows of `size` elements each, on the pool: about kGrain elements to a chunk.
template <class F>
void parallel_rows(std::int64_t count, std::int64_t size, F&& f) {
  parallel_for(count, kGrain / (size < 1 ? 1 : size), f, wake_for(size));
}

template <int N>
class StridedLoop {
 public:
  using Offsets = std::array<std::int64_t, N>;

  /// strides[k] are operand k's strides for `shape` (0 on broadcast axes).
  StridedLoop(const Shape& shape, const std::array<Strides, N>& strides) {
    for (int axis = shape.size() - 1; axis >= 0; --axis) add_axis(shape[axis], strides, axis);
    if (rank_ == 0) push(1, {});
  }

  std::int64_t inner() const { return sizes_[0]; }
  std::int64_t inner_stride(int operand) const { return strides_[0][operand]; }
  // The remaining axes, innermost first.
  int rank() const { return rank_; }
  std::int64_t size(int axis) const { return sizes_[axis]; }
  std::int64_t stride(int axis, int operand) const { return strides_[axis][operand]; }
  std::int64_t outer() const {
    std::int64_t n = 1;
    for (int i = 1; i < rank_; ++i) n *= sizes_[i];
    return n;
  }

  /// Element offsets of every operand at outer index `row`.
  Offsets offsets(std::int64_t row) const { return offsets_without(0, row); }
  /// The same when `row` counts over all axes but the innermost and `skipped`.
  Offsets offsets_without(int skipped, std::int64_t row) const {
    Offsets at{};
    for (int i = 1; i < rank_; ++i) {
      if (i == skipped) continue;
      const std::int64_t index = row % sizes_[i];
      row /= sizes_[i];
      for (int k = 0; k < N; ++k) at[k] += index * strides_[i][k];
    }
    return at;
  }

  /// f(n, offsets) for runs that together cover everything, on the pool: cut by `grain` elements.
  template <class F>
  void parallel(std::int64_t grain, F&& f, Wake wake = Wake::if_long) const {
    const std::int64_t n = inner(), rows = outer();
    if (n == 0 || rows == 0) return;
    if (rows == 1 && n <= grain) {
      f(n, Offsets{});
      return;
    }
    if (n > grain) {  // long runs: cut each
      const std::int64_t pieces = (n + grain - 1) / grain;
      const auto run_piece = [&](std::int64_t piece, std::int64_t) {
        Offsets at = offsets(piece / pieces);
        const std::int64_t begin = piece % pieces * grain;
        for (int k = 0; k < N; ++k) at[k] += begin * inner_stride(k);
        f(n - begin < grain ? n - begin : grain, at);
      };
      parallel_for(rows * pieces, 1, run_piece, wake);
    } else {  // short runs: many to a chunk
      const auto each = [&](std::int64_t count, Offsets at) {
        for (; count > 0; --count) {
          f(n, at);
          for (int k = 0; k < N; ++k) at[k] += strides_[1][k];
        }
      };
      parallel_rows_of_axis(grain / n, each, wake);
    }
  }

  /// f(rows, offsets of the first) for up to `grain` consecutive rows of inner() elements along the second
  /// axis, on the pool.
  template <class F>
  void parallel_rows_of_axis(std::int64_t grain, F&& f, Wake wake = Wake::if_long) const {
    const std::int64_t along = rank_ > 1 ? sizes_[1] : 1;
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t rows = std::min(end - begin, along - begin % along);
        f(rows, offsets(begin));
        begin += rows;
      }
    };
    parallel_for(outer(), grain, run, wake);
  }

 private:
  void push(std::int64_t size, const Offsets& stride) {
    sizes_[rank_] = size;
    strides_[rank_++] = stride;
  }

  void add_axis(std::int64_t size, const std::array<Strides, N>& strides, int axis) {
    if (size == 1) return;
    Offsets stride;
    bool merges = rank_ > 0;
    for (int k = 0; k < N; ++k) {
      stride[k] = strides[k][axis];
      merges = merges && stride[k] == strides_[rank_ - 1][k] * sizes_[rank_ - 1];
    }
    if (merges)
      sizes_[rank_ - 1] *= size;
    else
      push(size, stride);
  }

  // Innermost first.
  std::int64_t sizes_[Dims::kMaxRank] = {};
  Offsets strides_[Dims::kMaxRank] = {};
  int rank_ = 0;
};

/// Whether elements may share memory, as in an expanded array or overlapping windows.
inline bool shares_elements(const Shape& shape, const Strides& strides) {
  // In increasing order, each stride must lead past everything the smaller ones reach.
  std::pair<std::int64_t, std::int64_t> axes[Dims::kMaxRank];  // stride, steps
  int count = 0;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (shape[axis] < 2) continue;
    int at = count++;
    for (; at > 0 && axes[at - 1].first > std::abs(strides[axis]); --at) axes[at] = axes[at - 1];
    axes[at] = {std::abs(strides[axis]), shape[axis] - 1};
  }
  std::int64_t reach = 0;
  for (int i = 0; i < count; ++i) {
    if (axes[i].first <= reach) return true;
    reach += axes[i].first * axes[i].second;
  }
  return false;
}

/// Strides that read `shape` broadcast to `target`: 0 where an axis is repeated.
inline Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target) {
  Strides result = Dims::filled(target.size(), 0);
  const int lead = target.size() - shape.size();
  for (int i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 || target[lead + i] == 1) result[lead + i] = strides[i];
  return result;
}

}  // namespace gradus
