// Room around a tensor. Per axis, with x of n elements and `before` of the new ones:
//
//   constant    y[i] = x[i - before] where that exists, else value      dx = pad(dy, -pads), a view
//   reflect     y[i] = x[|i - before|], and the same from the end       dx[j] = sum of dy[i] over the i made
//   replicate   y[i] = x[clamp(i - before, 0, n - 1)]                         from j (index_select)
//
// Negative pads cut off. Nothing is saved but the pads; reflect and replicate are an index_select along each
// axis.

#include <algorithm>
#include <cstdlib>

#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

/// Of each axis of x, so many elements before and after it.
struct Pads {
  Dims before, after;
};

Pads per_axis(const Array& x, const std::vector<Int>& pads) {
  const std::string list = fmt::format("[{}]", fmt::join(std::vector<I>(pads.begin(), pads.end()), ", "));
  check(pads.size() % 2 == 0,
        "pad: expects two pads for each axis, before and after, from the last axis on, "
        "got {}",
        list);
  check(pads.size() / 2 <= static_cast<std::size_t>(x.dim()), "pad: pads {} are for {} axes, but x {} has {}",
        list, pads.size() / 2, x.shape(), x.dim());
  Pads result{Dims::filled(x.dim(), 0), Dims::filled(x.dim(), 0)};
  for (std::size_t k = 0; k < pads.size(); k += 2) {
    const int axis = x.dim() - 1 - static_cast<int>(k / 2);
    const I before = pads[k], after = pads[k + 1], size = x.shape()[axis];
    // In an order in which nothing overflows.
    check(before >= -size && after >= -size && std::min<I>(before, 0) + std::min<I>(after, 0) >= -size,
          "pad: pads {} cut more than axis {} of {} has", list, axis, x.shape());
    I sum = 0;
    check(!__builtin_add_overflow(before, after, &sum) && !__builtin_add_overflow(sum, size, &sum),
          "pad: pads {} are too large for {}", list, x.shape());
    result.before[axis] = before;
    result.after[axis] = after;
  }
  return result;
}

/// x where no pad is positive: a part of it.
Array cut(Array x, const Pads& pads) {
  for (int axis = 0; axis < x.dim(); ++axis) {
    const I size = x.shape()[axis], begin = std::max<I>(-pads.before[axis], 0);
    x = x.slice(axis, begin, size + std::min<I>(pads.after[axis], 0));
  }
  return x;
}

bool only_cuts(const Pads& pads) {
  const auto cuts = [](I pad) { return pad <= 0; };
  return std::all_of(pads.before.begin(), pads.before.end(), cuts) &&
         std::all_of(pads.after.begin(), pads.after.end(), cuts);
}

Array padded(const Array& x, const Pads& pads, Scalar value) {
  const Array inside = cut(x, pads);
  if (only_cuts(pads)) return inside;
  Shape shape = inside.shape();
  for (int axis = 0; axis < x.dim(); ++axis)
    shape[axis] += std::max<I>(pads.before[axis], 0) + std::max<I>(pads.after[axis], 0);
  const Array y = Array::full(shape, value, x.dtype(), "pad");
  Array place = y;
  for (int axis = 0; axis < x.dim(); ++axis) {
    const I begin = std::max<I>(pads.before[axis], 0);
    place = place.slice(axis, begin, begin + inside.shape()[axis]);
  }
  place.copy_(inside);
  return y;
}

Pads opposite(Pads pads) {
  for (I& pad : pads.before) pad = -pad;
  for (I& pad : pads.after) pad = -pad;
  return pads;
}

/// Where along an axis of n elements its padded one is read.
Tensor sources(PadMode mode, I n, I before, I after) {
  const Array index = Array::empty({before + n + after}, i64, "pad");
  I* const to = index.mutable_data<I>();
  for (I i = 0; i < index.numel(); ++i) {
    const I at = i - before;
    to[i] = mode == PadMode::replicate ? std::clamp<I>(at, 0, n - 1) : n - 1 - std::abs(n - 1 - std::abs(at));
  }
  return Tensor(index);
}

/// The gradient is the same op, with the opposite pads.
Tensor pad_op(const Tensor& x, const Pads& pads, Scalar value) {
  const Array y = padded(x.array(), pads, value);
  // What is only cut is copied too, as padded tensors are new ones.
  return record("pad", only_cuts(pads) ? y.clone() : y, {&x},
                [back = opposite(pads)]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {pad_op(dy, back, 0)};
                  else
                    return {padded(dy, back, 0)};
                });
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<Int>& pads, Scalar value) {
  return pad_op(x, per_axis(operand("pad", x), pads), value);
}

Tensor pad(const Tensor& x, const std::vector<Int>& pads, PadMode mode) {
  const Array& a = operand("pad", x);
  const Pads by_axis = per_axis(a, pads);
  const char* const name = mode == PadMode::reflect ? "reflect" : "replicate";
  bool grows = false;
  for (int axis = 0; axis < x.dim(); ++axis) {
    const I n = a.shape()[axis], before = by_axis.before[axis], after = by_axis.after[axis];
    const I least = std::min(before, after), most = std::max(before, after);
    check(least >= 0, "pad: {} expects pads of 0 or more, got {} for axis {} of {}: cut with slice()", name,
          least, axis, a.shape());
    check(most == 0 || n > (mode == PadMode::reflect ? most : 0),
          "pad: {} by {} needs more than {} elements, but axis {} of {} has {}", name, most,
          mode == PadMode::reflect ? most : 0, axis, a.shape(), n);
    grows = grows || most > 0;
  }
  Tensor y = grows ? x : clone(x);
  for (int axis = x.dim() - 1; axis >= 0; --axis)
    if (by_axis.before[axis] + by_axis.after[axis] > 0)
      y = index_select(y, axis, sources(mode, a.shape()[axis], by_axis.before[axis], by_axis.after[axis]));
  return y;
}

}  // namespace gradus
