#pragma once
// Ops that treat the last axis as rows: how rows are counted and cut into chunks.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "gradus/core/array/array.h"
#include "gradus/core/array/detail/strided.h"

namespace gradus {

/// [..., C] as `count` rows of C values.
struct Rows {
  std::int64_t count, columns;

  explicit Rows(const Shape& shape) {
    Shape leading = shape;
    leading.erase(shape.size() - 1);
    count = numel(leading);
    columns = shape.back();
  }

  /// Rows of one chunk of work.
  std::int64_t grain() const {
    return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, columns));
  }

  /// f(begin, end) for chunks of rows, on the pool.
  template <class F>
  void for_each_chunk(F&& f) const {
    if (columns > 0) parallel_rows(count, columns, f);
  }

  /// f(row) for every row, chunks of them on the pool.
  template <class F>
  void for_each(F&& f) const {
    for_each_chunk([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) f(row);
    });
  }
};

/// The rows of a contiguous array [..., C]; of an undefined one, null pointers.
template <class T>
class RowPointers {
 public:
  explicit RowPointers(const Array& array)
      : data_(array.defined() ? array.mutable_data<std::remove_const_t<T>>() : nullptr),
        columns_(array.defined() ? array.shape().back() : 0) {}
  T* operator[](std::int64_t row) const { return data_ ? data_ + row * columns_ : nullptr; }

 private:
  T* data_;
  std::int64_t columns_;
};

/// Sums accumulated over rows: each of a few chunks of rows adds to its own row.
class RowSums {
 public:
  explicit RowSums(const Rows& rows)
      : rows_(rows), step_(std::max(rows.grain(), (rows.count + kMostChunks - 1) / kMostChunks)) {}

  /// One row of zeros per chunk, [chunks, columns], to be added to and then summed over axis 0.
  Array partial_sums(DType dtype) const {
    return Array::zeros({(rows_.count + step_ - 1) / step_, rows_.columns}, dtype);
  }

  /// f(begin, end, chunk) for every chunk of rows, on the pool.
  template <class F>
  void for_each_chunk(F&& f) const {
    if (rows_.columns == 0) return;
    const auto chunk = [&](std::int64_t begin, std::int64_t end) { f(begin, end, begin / step_); };
    parallel_for(rows_.count, step_, chunk, wake_for(step_ * rows_.columns));
  }

  /// f(row, chunk) for every row, the rows of a chunk in order.
  template <class F>
  void for_each(F&& f) const {
    for_each_chunk([&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
      for (std::int64_t row = begin; row < end; ++row) f(row, chunk);
    });
  }

 private:
  static constexpr std::int64_t kMostChunks = 32;
  Rows rows_;
  std::int64_t step_;
};

}  // namespace gradus
