// Joining and splitting: values are moved, never changed.
//
//   op            y                                        dx
//   cat           x_1, x_2, ... one after another          dx_k = dy's part k (a view)
//   stack         the same along a new axis                dx_k = dy[k] (a view)
//   split, chunk  y_k = x[begin_k : end_k] (views of x)    0, with dy in that part
//   unbind        y_k = x[k] (views of x)                  the same
//   flip          y[i] = x[n-1-i]                          flip(dy)
//   roll          y[(i + shift) mod n] = x[i]              roll(dy, -shift)
//
// Nothing is saved but shapes. Each piece of a split has its own node; the first that passes back makes
// an array of x's full shape, mostly zeros, and the others add their dy in their places there
// (part_gradient.h).

#include <algorithm>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/shape/part_gradient.h"

namespace gradus {

namespace {

/// Throws unless the tensors can lie side by side: all defined, one dtype, equal sizes except along
/// `free_axis`.
void check_joinable(const char* op, const std::vector<Tensor>& xs, int free_axis) {
  const Shape& first = xs[0].shape();
  for (std::size_t k = 1; k < xs.size(); ++k) {
    const Array& x = operand(op, xs[k]);
    if (x.dtype() != xs[0].dtype()) [[unlikely]]
      check_same_dtype(op, xs[0].array(), x, fmt::format("tensors 0 and {}", k).c_str());
    Shape shape = x.shape();
    if (shape.size() == first.size() && free_axis >= 0) shape[free_axis] = first[free_axis];
    if (shape == first) continue;
    if (free_axis < 0) fail_with("{}: number {} is {}, expects {} as number 0", op, k, x.shape(), first);
    fail_with("{}: number {} is {}, expects the sizes of number 0 {} except along axis {}", op, k, x.shape(),
              first, free_axis);
  }
}

std::vector<const Tensor*> pointers(const std::vector<Tensor>& xs) {
  std::vector<const Tensor*> result;
  for (const Tensor& x : xs) result.push_back(&x);
  return result;
}

/// x read backwards along the axes: a view with negative strides, to be copied at once.
Array reversed(const Array& x, const Dims& axes) {
  Strides strides = x.strides();
  std::int64_t offset = x.offset();
  for (const std::int64_t a : axes) {
    const int axis = static_cast<int>(a);
    offset += std::max<std::int64_t>(x.shape()[axis] - 1, 0) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return x.as_strided(x.shape(), strides, offset);
}

/// x moved `shift` places (0 <= shift < size) along an axis.
Array rolled(const Array& x, std::int64_t shift, int axis) {
  const Array y = Array::empty(x.shape(), x.dtype());
  const std::int64_t cut = x.shape()[axis] - shift;
  y.slice(axis, shift).copy_(x.slice(axis, 0, cut));
  y.slice(axis, 0, shift).copy_(x.slice(axis, cut));
  return y;
}

constexpr std::int64_t kMaxEmptyPieces = 1 << 20;

Tensor piece(const char* op, const Tensor& x, int axis, std::int64_t begin, std::int64_t end) {
  return record_part(op, x, [=](const auto& of) { return of.slice(axis, begin, end); });
}

}  // namespace

Tensor cat(const std::vector<Tensor>& xs, Int axis) {
  check(!xs.empty(), "cat: expects one tensor or more, got none");
  const int at = normalize_axis("cat", axis, operand("cat", xs[0]).dim());
  check_joinable("cat", xs, at);
  std::vector<std::int64_t> ends;
  Shape shape = xs[0].shape();
  shape[at] = 0;
  for (const Tensor& x : xs) ends.push_back(shape[at] += x.shape()[at]);
  const Array y = Array::empty(shape, xs[0].dtype());
  for (std::size_t k = 0; k < xs.size(); ++k)
    y.slice(at, ends[k] - xs[k].shape()[at], ends[k]).copy_(xs[k].array());
  return record("cat", y, pointers(xs), [at, ends]<class V>(const V& dy, auto) -> GradsOf<V> {
    GradsOf<V> dx;
    for (std::size_t k = 0; k < ends.size(); ++k)
      dx.push_back(dy.slice(at, k > 0 ? ends[k - 1] : 0, ends[k]));
    return dx;
  });
}

Tensor stack(const std::vector<Tensor>& xs, Int axis) {
  check(!xs.empty(), "stack: expects one tensor or more, got none");
  const int rank = operand("stack", xs[0]).dim();
  check(rank < Dims::kMaxRank, "stack: {} has {} axes, and there is no room for more: use cat", xs[0].shape(),
        rank);
  const int at = normalize_axis("stack", axis, rank + 1);
  check_joinable("stack", xs, -1);
  const auto count = static_cast<std::int64_t>(xs.size());
  Shape shape = xs[0].shape();
  shape.insert(at, count);
  const Array y = Array::empty(shape, xs[0].dtype());
  for (std::int64_t k = 0; k < count; ++k) y.select(at, k).copy_(xs[static_cast<std::size_t>(k)].array());
  return record("stack", y, pointers(xs), [at, count]<class V>(const V& dy, auto) -> GradsOf<V> {
    GradsOf<V> dx;
    for (std::int64_t k = 0; k < count; ++k) dx.push_back(dy.select(at, k));
    return dx;
  });
}

TensorList split(const Tensor& x, const std::vector<std::int64_t>& sizes, Int axis) {
  const int at = normalize_axis("split", axis, operand("split", x).dim());
  const std::int64_t total = x.shape()[at];
  const std::string list = fmt::format("[{}]", fmt::join(sizes, ", "));
  std::int64_t end = 0;
  for (const std::int64_t size : sizes) {
    // Compared before adding, so that no sum overflows.
    check(size >= 0 && size <= total - end, "split: sizes {} do not cut axis {} of {} into pieces", list,
          axis, x.shape());
    end += size;
  }
  check(end == total, "split: sizes {} add up to {}, but axis {} of {} has {}", list, end, axis, x.shape(),
        total);
  TensorList pieces;
  end = 0;
  for (const std::int64_t size : sizes) {
    pieces.push_back(piece("split", x, at, end, end + size));
    end += size;
  }
  return pieces;
}

TensorList split(const Tensor& x, std::initializer_list<std::int64_t> sizes, Int axis) {
  return split(x, std::vector<std::int64_t>(sizes), axis);
}

TensorList split(const Tensor& x, Int size, Int axis) {
  const int at = normalize_axis("split", axis, operand("split", x).dim());
  check(size >= 1, "split: expects a size of 1 or more, got {} for axis {} of {}", size, axis, x.shape());
  const std::int64_t total = x.shape()[at];
  TensorList pieces;
  for (std::int64_t begin = 0; begin < total; begin += std::min<std::int64_t>(size, total - begin))
    pieces.push_back(piece("split", x, at, begin, begin + std::min<std::int64_t>(size, total - begin)));
  if (total == 0) pieces.push_back(piece("split", x, at, 0, 0));
  return pieces;
}

TensorList chunk(const Tensor& x, Int count, Int axis) {
  const int at = normalize_axis("chunk", axis, operand("chunk", x).dim());
  check(count >= 1, "chunk: expects a count of 1 or more, got {} for axis {} of {}", count, axis, x.shape());
  const std::int64_t total = x.shape()[at];
  const std::int64_t size = total / count + (total % count != 0);
  TensorList pieces;
  for (std::int64_t begin = 0; begin < total; begin += size)
    pieces.push_back(piece("chunk", x, at, begin, std::min(begin + size, total)));
  if (total > 0) return pieces;
  // An empty axis gives the requested number of pieces, all empty.
  check(count <= kMaxEmptyPieces, "chunk: expects at most {} pieces of an empty axis, got {}",
        kMaxEmptyPieces, count);
  for (std::int64_t i = 0; i < count; ++i) pieces.push_back(piece("chunk", x, at, 0, 0));
  return pieces;
}

TensorList unbind(const Tensor& x, Int axis) {
  const int at = normalize_axis("unbind", axis, operand("unbind", x).dim());
  TensorList parts;
  for (std::int64_t k = 0; k < x.shape()[at]; ++k) parts.push_back(select(x, at, k));
  return parts;
}

Tensor flip(const Tensor& x, const Axes& axes) {
  const Dims at = normalize_axes("flip", axes, operand("flip", x).dim());
  return record("flip", reversed(x.array(), at).clone(), {&x},
                [at]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {flip(dy, at)};
                  else
                    return {reversed(dy, at).clone()};
                });
}

Tensor roll(const Tensor& x, Int shift, Int axis) {
  const int at = normalize_axis("roll", axis, operand("roll", x).dim());
  const std::int64_t size = std::max<std::int64_t>(x.shape()[at], 1);
  const std::int64_t by = (shift % size + size) % size;
  return record("roll", rolled(x.array(), by, at), {&x},
                [by, size, at]<class V>(const V& dy, auto) -> GradsOf<V> {
                  const std::int64_t back = (size - by) % size;
                  if constexpr (kTaped<V>)
                    return {roll(dy, back, at)};
                  else
                    return {rolled(dy, back, at)};
                });
}

}  // namespace gradus
