// x[mask] and x[ids], read and written, and where a mask is true.
//
//   op              y                                               gradient
//   x[ids]          y[j][k] = x[ids[j]][k]                          dx = 0, dx[ids[j]][k] += dy[j][k]
//   x[mask]         x[ids], ids = where mask is true, row by row    the same
//   masked_select   x.expand(s)[mask.expand(s)], s both's shape     the same
//   nonzero         indices of the elements that are not 0          none
//
// A mask over k axes picks from x with these flattened: rows are counted through them. Saved: the rows.
// A write takes values in the shape of the picked elements; nothing is recorded.

#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/shape/index_loops.h"

namespace gradus {

namespace {

using I = std::int64_t;

constexpr const char* kName = "operator[]";

/// Where a mask is true, counted in row-major order.
Array true_places(const Array& mask) {
  const Array dense = mask.contiguous();
  const bool* const m = dense.data<bool>();
  const I count = std::count(m, m + mask.numel(), true);
  const Array places = Array::empty({count}, i64);
  I* const to = places.mutable_data<I>();
  // Without jumps, which could not be guessed: each place is written, and stays if the mask is true there.
  for (I i = 0, found = 0; found < count; ++i) {
    to[found] = i;
    found += m[i];
  }
  return places;
}

/// The places of ids [...] along an axis of x, [count].
Array places_of(const Array& ids, const Shape& x) {
  check_range(kName, ids, x, 0, true);
  const Array places = ids.clone().reshape({ids.numel()});
  I* const to = places.mutable_data<I>();
  for (I i = 0; i < places.numel(); ++i)
    if (to[i] < 0) to[i] += x[0];
  return places;
}

/// x's shape with the first `axes` axes as one.
Shape flattened(const Shape& x, int axes) {
  Shape shape = {1};
  for (int axis = 0; axis < x.size(); ++axis) {
    if (axis < axes)
      shape[0] *= x[axis];
    else
      shape.push_back(x[axis]);
  }
  return shape;
}

/// The sizes `front`, then x's but for its first `axes`.
Shape result_shape(const Shape& front, const Shape& x, int axes) {
  check(front.size() + x.size() - axes <= Dims::kMaxRank,
        "{}: of {} with an index {} there would be {} axes, and there is no room for more than {}", kName, x,
        front, front.size() + x.size() - axes, Dims::kMaxRank);
  Shape shape = front;
  for (int axis = axes; axis < x.size(); ++axis) shape.push_back(x[axis]);
  return shape;
}

/// The gradient of x, of shape `from`, seen as a table of which the rows were taken.
Gradient into_table(const Shape& table, const Array& rows, const Shape& from, const Array& dy) {
  return {from, dy.dtype(), [table, rows, dy](const Array& dx, bool add) {
            if (!add) dx.fill_(0);
            put_rows<Add>("index backward", dx.reshape(table), 0, rows,
                          dy.reshape(result_shape(rows.shape(), table, 1)));
          }};
}

/// The same on the tape; index_add's gradient is index_select.
Tensor into_table(const Shape& table, const Array& rows, const Shape& from, const Tensor& dy) {
  const Tensor dx(Array::zeros(table, dy.dtype()));
  return index_add(dx, 0, Tensor(rows), dy.reshape(result_shape(rows.shape(), table, 1))).reshape(from);
}

void check_mask(const Shape& mask, const Shape& x) {
  bool fits = mask.size() <= x.size();
  for (int axis = 0; fits && axis < mask.size(); ++axis) fits = mask[axis] == x[axis];
  check(fits, "{}: a mask {} does not fit {}: expects the sizes of its first axes", kName, mask, x);
}

}  // namespace

Picked Tensor::operator[](const Tensor& index) && {
  const Tensor whole = std::move(*this);  // gone when the values are written
  return whole[index];
}

Picked Tensor::operator[](const Tensor& index) const& {
  const Array& x = operand(kName, *this);
  if (!index.defined()) fail_undefined(kName, "the index");
  const Array& i = index.array();
  check(i.dtype() == boolean || i.dtype() == i64,
        "{}: expects an index of i64 or a mask of bool, got {} {}: convert with .to(i64), or compare", kName,
        i.dtype(), i.shape());
  const int axes = i.dtype() == boolean ? i.dim() : 1;
  Array rows;
  Shape shape;
  if (i.dtype() == boolean) {
    check_mask(i.shape(), x.shape());
    rows = true_places(i);
    shape = result_shape(rows.shape(), x.shape(), axes);
  } else {
    normalize_axis(kName, 0, x.dim());
    shape = result_shape(i.shape(), x.shape(), axes);
    rows = places_of(i, x.shape());
  }
  const Shape table = flattened(x.shape(), axes);
  Tensor values = record("index", picked(selected(x.reshape(table), 0, rows).reshape(shape)), {this},
                         [table, rows, from = x.shape()]<class V>(const V& dy, auto) -> GradsOf<V> {
                           return {into_table(table, rows, from, dy)};
                         });
  return Picked(std::move(values), *this, std::move(rows), axes);
}

Picked::Picked(Tensor values, const Tensor& from, Array rows, int axes)
    : Tensor(std::move(values)), from_(from), rows_(std::move(rows)), axes_(axes) {}

// What was picked is a new array: the values are broadcast and converted in it, and are then put into x.

void Picked::put(const Tensor& values) const {
  from_.kept("operator=").expect_writable("operator=");
  detach().write(values, "operator=");
  put_rows();
}

void Picked::put(Scalar value) const {
  from_.kept("operator=").expect_writable("operator=");
  detach().write(value, "operator=");
  put_rows();
}

void Picked::put_rows() const {
  const Array& x = from_.array();
  const Shape table = flattened(x.shape(), axes_);
  const std::optional<Array> view = x.try_view(table);
  const bool direct = view && !shares_elements(x.shape(), x.strides());
  const Array to = direct ? *view : x.clone().reshape(table);
  gradus::put_rows<Set>("operator=", to, 0, rows_, array().reshape(result_shape(rows_.shape(), table, 1)));
  if (direct)
    x.storage().bump_version();
  else
    x.copy_(to.reshape(x.shape()), "operator=");
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  const Array &a = operand("masked_select", x), &m = operand("masked_select", mask);
  check_bool("masked_select", m);
  const Shape shape = broadcast_shapes("masked_select", a.shape(), m.shape());
  return expand(x, shape)[Tensor(m.expand(shape))];
}

Tensor nonzero(const Tensor& x) {
  const Array& a = operand("nonzero", x);
  const Array places = true_places(a.to(boolean));
  const Array y = Array::empty({places.numel(), a.dim()}, i64);
  const I* const from = places.data<I>();
  I* const to = y.mutable_data<I>();
  for (I row = 0; row < places.numel(); ++row) {
    I rest = from[row];
    for (int axis = a.dim() - 1; axis >= 0; rest /= a.shape()[axis--])
      to[row * a.dim() + axis] = rest % a.shape()[axis];
  }
  return record("nonzero", y, {&x});
}

}  // namespace gradus
