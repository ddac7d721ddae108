// sort and topk along an axis.
//
//   i[j]  = place in x of the j-th value in order (equal values keep their order; NaN is above every number)
//   y[j]  = x[i[j]]
//   dx[k] = dy[j] where i[j] = k; 0 where k was not taken
//
// Saved: i. It is constant, so dx, scatter_add of dy at i, is a function of dy alone. Each line is ordered by
// one thread, so the result does not depend on how many there are.

#include <algorithm>
#include <numeric>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

/// a < b with NaN above every number.
template <class T>
bool below(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return b != b ? a == a : a < b;
  else
    return a < b;
}

/// The first k places of `row` in order; `scratch` is resized to the row.
template <class T>
void order_row(const T* row, I n, I k, bool descending, std::vector<I>& scratch, I* places) {
  scratch.resize(static_cast<std::size_t>(n));
  std::iota(scratch.begin(), scratch.end(), I{0});
  // Ties are broken by position: a total order, the same for full and partial sorts.
  const auto before = [row, descending](I a, I b) {
    if (descending ? below(row[b], row[a]) : below(row[a], row[b])) return true;
    if (descending ? below(row[a], row[b]) : below(row[b], row[a])) return false;
    return a < b;
  };
  if (k < n)
    std::partial_sort(scratch.begin(), scratch.begin() + k, scratch.end(), before);
  else
    std::sort(scratch.begin(), scratch.end(), before);
  std::copy_n(scratch.begin(), k, places);
}

/// Rows [R, n] -> the first k places of each in order [R, k].
Array ordered_places(const char* op, const Array& rows, I k, bool descending) {
  const I n = rows.size(-1);
  Shape shape = rows.shape();
  shape[shape.size() - 1] = k;
  const Array places = Array::empty(shape, i64);
  if (places.numel() == 0) return places;
  dispatch_comparable(op, rows, [&]<class T>() {
    const T* const data = rows.data<T>();
    I* const out = places.mutable_data<I>();
    parallel_rows(rows.numel() / n, 8 * n, [=](I begin, I end) {
      std::vector<I> scratch;
      for (I row = begin; row < end; ++row)
        order_row(data + row * n, n, k, descending, scratch, out + row * k);
    });
  });
  return places;
}

/// to[r][j] = from[r][places[r][j]] or, backwards, to[r][places[r][j]] = from[r][j]. All contiguous rows.
void move_rows(const Array& from, const Array& places, const Array& to, bool backwards) {
  if (places.numel() == 0) return;
  const I k = places.size(-1), n = (backwards ? to : from).size(-1);
  dispatch_all(from.dtype(), [&]<class T>() {
    const T* const x = from.data<T>();
    T* const y = to.mutable_data<T>();
    const I* const at = places.data<I>();
    parallel_rows(places.numel() / k, k, [=](I begin, I end) {
      for (I row = begin; row < end; ++row)
        for (I j = 0; j < k; ++j) {
          const I wide = row * n + at[row * k + j], narrow = row * k + j;
          y[backwards ? wide : narrow] = x[backwards ? narrow : wide];
        }
    });
  });
}

/// The values in order and their places. Lines become rows: the axis is moved last and back.
std::pair<Tensor, Tensor> take_in_order(const char* op, const Tensor& x, int axis, I k, bool descending) {
  const Array rows = x.array().transpose(axis, -1).contiguous();
  const Array places = ordered_places(op, rows, k, descending);
  const Array values = Array::empty(places.shape(), x.dtype());
  move_rows(rows, places, values, /*backwards=*/false);
  Tensor y =
      record(op, values.transpose(axis, -1).contiguous(), {&x},
             [shape = rows.shape(), axis, saved = Saved(places)]<class V>(const V& dy, auto) -> GradsOf<V> {
               const Array zeros = Array::zeros(shape, dy.dtype());
               if constexpr (kTaped<V>) {
                 const Tensor lines = dy.transpose(axis, -1);
                 return {scatter_add(Tensor(zeros), -1, Tensor(*saved), lines).transpose(axis, -1)};
               } else {
                 move_rows(dy.transpose(axis, -1).contiguous(), *saved, zeros, /*backwards=*/true);
                 return {zeros.transpose(axis, -1)};
               }
             });
  // A copy where the axis is last: writing to the indices must not touch what backward saved.
  return {std::move(y), Tensor(places.transpose(axis, -1).clone())};
}

}  // namespace

std::pair<Tensor, Tensor> sort(const Tensor& x, Int axis, Flag descending) {
  const int at = normalize_axis("sort", axis, operand("sort", x).dim());
  return take_in_order("sort", x, at, x.shape()[at], descending);
}

std::pair<Tensor, Tensor> topk(const Tensor& x, Int k, Int axis) {
  const int at = normalize_axis("topk", axis, operand("topk", x).dim());
  check(k >= 0 && k <= x.shape()[at], "topk: expects k from 0 to {} for axis {} of {}, got {}", x.shape()[at],
        axis, x.shape(), k);
  return take_in_order("topk", x, at, k, /*descending=*/true);
}

}  // namespace gradus
