#include "gradus/core/array/array.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/array/detail/transpose.h"

namespace gradus {

Array Array::empty(const Shape& shape, DType dtype, const char* op) {
  Array array;
  array.numel_ = gradus::numel(shape, op);
  array.shape_ = shape;
  array.strides_ = contiguous_strides(shape);
  array.dtype_ = dtype;
  array.storage_ = Storage::allocate(static_cast<std::size_t>(array.numel_) * size_of(dtype));
  return array;
}

Array Array::full(const Shape& shape, Scalar value, DType dtype, const char* op) {
  Array array = empty(shape, dtype, op);
  dispatch_all(dtype, [&]<class T>() {
    const T v = element<T>(op, value, shape);
    T* const y = array.mutable_data<T>();
    parallel_for(array.numel_, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) y[i] = v;
    });
  });
  return array;
}

bool Array::is_contiguous() const {
  std::int64_t step = 1;
  for (int i = dim() - 1; i >= 0; --i) {
    if (shape_[i] == 1) continue;
    if (strides_[i] != step) return numel_ == 0;
    step *= shape_[i];
  }
  return true;
}

void fail_undefined(const char* op, const char* what) {
  fail_with("{}: {} is undefined: assign it first; a grad() is undefined before backward", op, what);
}

void Array::wrong_type(const char* op, DType dtype) const {
  if (!defined()) fail_undefined(op);
  fail_with("{}: asked for {} elements, but the tensor {} holds {}: convert with .to({})", op, dtype, shape_,
            dtype_, dtype);
}

double Array::at(const Dims& index) const {
  expect_defined("at");
  check(index.size() == dim(), "at: expects {} indices for shape {}, got {}", dim(), shape_, index);
  Array element = *this;
  for (const std::int64_t i : index) element = element.select(0, i);
  return element.item();
}

Array Array::contiguous() const { return is_contiguous() ? *this : clone(); }

namespace {
template <class From, class To>
void convert(const Array& from, const Array& to) {
  const StridedLoop<2> loop(to.shape(),
                            {to.strides(), broadcast_strides(from.shape(), from.strides(), to.shape())});
  To* const y = to.mutable_data<To>();
  const From* const x = from.data<From>();
  if constexpr (std::is_same_v<From, To>)
    if (copy_transposed(loop, x, y)) return;
  const std::int64_t sy = loop.inner_stride(0), sx = loop.inner_stride(1);
  loop.parallel(kGrain, [=](std::int64_t n, const StridedLoop<2>::Offsets& at) {
    To* const yy = y + at[0];
    const From* const xx = x + at[1];
    if constexpr (std::is_same_v<From, To>) {
      if (sy == 1 && sx == 1) {
        std::memcpy(yy, xx, static_cast<std::size_t>(n) * sizeof(To));
        return;
      }
    }
    if constexpr (std::is_same_v<To, bool> && !std::is_same_v<From, bool>) {
      for (std::int64_t i = 0; i < n; ++i) yy[i * sy] = xx[i * sx] != From{0};
    } else if constexpr (std::is_same_v<From, To>) {
      for (std::int64_t i = 0; i < n; ++i) yy[i * sy] = xx[i * sx];
    } else {
      for (std::int64_t i = 0; i < n; ++i) yy[i * sy] = static_cast<To>(detail::number(xx[i * sx]));
    }
  });
}

/// Throws unless every value fits in i64.
template <class From>
void check_fits_i64(const char* op, const Array& from) {
  const Array dense = from.contiguous();
  const From* const x = dense.data<From>();
  const auto fits = [](From v) { return v >= From(-0x1p63) && v < From(0x1p63); };
  std::atomic<bool> all_fit = true;
  parallel_for(dense.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    bool fit = true;
    for (std::int64_t i = begin; i < end; ++i) fit &= fits(x[i]);
    if (!fit) all_fit = false;
  });
  if (all_fit) return;
  const std::int64_t at = std::find_if_not(x, x + dense.numel(), fits) - x;
  fail_with("{}: {} at index {} of {} (row-major) is not an i64: take it out with where or clamp first", op,
            x[at], at, from.shape());
}

/// What there is a loop for. From or to a half, all others go by way of f32.
template <class From, class To>
constexpr bool kHasLoop = std::is_same_v<From, To> ||
    (kHalf<From> ? std::is_same_v<To, float> : !kHalf<To> || std::is_same_v<From, float>);

/// Writes `from` (broadcast, converted) into `to` without raising its version. Nothing is written if a value
/// does not fit in `to`.
void write(const Array& from, const Array& to, const char* op) {
  if (to.dtype() == i64 && from.dtype() == f32) check_fits_i64<float>(op, from);
  if (to.dtype() == i64 && from.dtype() == f64) check_fits_i64<double>(op, from);
  dispatch_all(from.dtype(), [&]<class From>() {
    dispatch_all(to.dtype(), [&]<class To>() {
      if constexpr (kHasLoop<From, To>)
        convert<From, To>(from, to);
      else
        write(from.to(f32), to, op);
    });
  });
}
}  // namespace

Array Array::clone() const {
  expect_defined("clone");
  Array copy = empty(shape_, dtype_);
  write(*this, copy, "clone");
  return copy;
}

Array Array::to(DType dtype) const {
  expect_defined("to");
  if (dtype == dtype_) return *this;
  Array copy = empty(shape_, dtype);
  write(*this, copy, "to");
  return copy;
}

/// Elements of an expanded array share one memory location, which can hold only one value. So do overlapping
/// windows.
static void expect_one_value_a_place(const char* op, const Array& source, const Array& target) {
  for (int axis = 0; axis < target.dim(); ++axis) {
    const int own = axis - (target.dim() - source.dim());
    if (target.strides()[axis] == 0 && target.shape()[axis] > 1 && own >= 0 && source.shape()[own] > 1 &&
        source.strides()[own] != 0)
      fail_with(
          "{}: the target {} is expanded: its elements along axis {} are one, and would get {} values: "
          "write into a clone()",
          op, target.shape(), axis, source.shape()[own]);
  }
  if (source.numel() < 2 || target.is_contiguous()) return;
  Shape shape = target.shape();
  for (int axis = 0; axis < target.dim(); ++axis)
    if (target.strides()[axis] == 0) shape[axis] = 1;
  check(
      !shares_elements(shape, target.strides()),
      "{}: the target {} has windows that overlap: elements they share would get several values: write into "
      "a clone()",
      op, target.shape());
}

void Array::copy_(const Array& source, const char* op) const {
  expect_defined(op);
  if (!source.defined()) fail_undefined(op, "the source");
  check(broadcast_shapes(op, source.shape(), shape_) == shape_,
        "{}: a source of shape {} does not fit into {}", op, source.shape(), shape_);
  expect_one_value_a_place(op, source, *this);
  if (storage_ == source.storage()) {  // overlapping memory is read in full before it is written
    const Array whole = source.clone();
    storage_.bump_version();
    write(whole, *this, op);
  } else {
    storage_.bump_version();
    write(source, *this, op);
  }
}

void Array::fill_(Scalar value, const char* op) const {
  expect_defined(op);
  if (dtype_ == i64) element<std::int64_t>(op, value, shape_);  // names this shape, not the number's
  copy_(full({}, value, dtype_, op), op);
}

void Array::add_(const Array& source) const {
  check(shape_ == source.shape_ && dtype_ == source.dtype_, "add_: expects {} {}, got {} {}", dtype_, shape_,
        source.dtype_, source.shape_);
  storage_.bump_version();
  dispatch_numbers("add_", *this, [&]<class T>() {
    if (numel_ <= kGrain && is_contiguous() && source.is_contiguous()) {  // small ones: no loop to set up
      T* const y = mutable_data<T>();
      const T* const x = source.data<T>();
      for (std::int64_t i = 0; i < numel_; ++i) y[i] += x[i];
      return;
    }
    const StridedLoop<2> loop(shape_, {strides_, source.strides_});
    T* const y = mutable_data<T>();
    const T* const x = source.data<T>();
    const std::int64_t sy = loop.inner_stride(0), sx = loop.inner_stride(1);
    loop.parallel(kGrain, [=](std::int64_t n, const StridedLoop<2>::Offsets& at) {
      T* const yy = y + at[0];
      const T* const xx = x + at[1];
      if (sy == 1 && sx == 1)
        for (std::int64_t i = 0; i < n; ++i) yy[i] += xx[i];
      else
        for (std::int64_t i = 0; i < n; ++i) yy[i * sy] += xx[i * sx];
    });
  });
}

}  // namespace gradus
