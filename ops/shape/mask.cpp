// Triangles and one-hot rows.
//
//   tril   y[..., i, j] = x[..., i, j] where j - i <= diagonal, else 0      dx = tril(dy)
//   triu   y[..., i, j] = x[..., i, j] where j - i >= diagonal, else 0      dx = triu(dy)
//   one_hot   y[..., c] = 1 where c = index[...], else 0                    none
//
// Nothing is saved but the diagonal.

#include <algorithm>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

/// x [..., N, M] with every row cut to its columns [begin, end), given the row number.
template <class F>
Array rows_within(const Array& x, F range) {
  const Array dense = x.contiguous();
  const Array y = Array::empty(x.shape(), x.dtype());
  const std::int64_t rows = x.size(-2), columns = x.size(-1);
  if (x.numel() == 0) return y;
  dispatch_all(x.dtype(), [&]<class T>() {
    const T* const from = dense.data<T>();
    T* const to = y.mutable_data<T>();
    parallel_rows(x.numel() / columns, columns, [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        const auto [begin, end] = range(row % rows, columns);
        const T* const xx = from + row * columns;
        T* const yy = to + row * columns;
        std::fill(yy, yy + begin, T{0});
        std::copy(xx + begin, xx + end, yy + begin);
        std::fill(yy + end, yy + columns, T{0});
      }
    });
  });
  return y;
}

using Range = std::pair<std::int64_t, std::int64_t>;

/// i + diagonal (+ 1) within 0 .. columns, whatever the diagonal.
std::int64_t crossing(std::int64_t i, std::int64_t diagonal, std::int64_t columns) {
  return std::clamp<std::int64_t>(diagonal, -i, columns - i) + i;
}

Array lower(const Array& x, std::int64_t diagonal) {
  return rows_within(x, [diagonal](std::int64_t i, std::int64_t columns) {
    return Range(0, crossing(i + 1, diagonal, columns));
  });
}

Array upper(const Array& x, std::int64_t diagonal) {
  return rows_within(x, [diagonal](std::int64_t i, std::int64_t columns) {
    return Range(crossing(i, diagonal, columns), columns);
  });
}

const Array& matrix(const char* op, const Tensor& x) {
  const Array& array = operand(op, x);
  check(array.dim() >= 2, "{}: expects 2 axes or more, got {}", op, x.shape());
  return array;
}

}  // namespace

Tensor tril(const Tensor& x, Int diagonal) {
  return record("tril", lower(matrix("tril", x), diagonal), {&x},
                [diagonal]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {tril(dy, diagonal)};
                  else
                    return {lower(dy, diagonal)};
                });
}

Tensor triu(const Tensor& x, Int diagonal) {
  return record("triu", upper(matrix("triu", x), diagonal), {&x},
                [diagonal]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {triu(dy, diagonal)};
                  else
                    return {upper(dy, diagonal)};
                });
}

Tensor one_hot(const Tensor& index, Int classes) {
  const Array dense = index_operand("one_hot", index).contiguous();
  check(dense.dim() < Dims::kMaxRank,
        "one_hot: {} has {} axes, and there is no room for more: flatten() it first", dense.shape(),
        dense.dim());
  check(classes >= 1, "one_hot: expects 1 class or more, got {}", classes);
  const std::int64_t* const ids = dense.data<std::int64_t>();
  for (std::int64_t i = 0; i < dense.numel(); ++i)
    check(ids[i] >= 0 && ids[i] < classes, "one_hot: index {} in {} is out of range: expects 0 to {}", ids[i],
          index.shape(), classes - 1);
  Shape shape = index.shape();
  shape.push_back(classes);
  const Array y = Array::zeros(shape, i64);
  std::int64_t* const data = y.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < dense.numel(); ++i) data[i * classes + ids[i]] = 1;
  return record("one_hot", y, {&index});
}

}  // namespace gradus
