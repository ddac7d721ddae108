#include "gradus/core/array.h"

#include <cstring>

#include "gradus/core/dispatch.h"
#include "gradus/core/strided.h"
#include "gradus/core/transpose.h"

namespace gradus {

Array Array::empty(const Shape& shape, DType dtype) {
  Array array;
  array.numel_ = gradus::numel(shape);
  array.shape_ = shape;
  array.strides_ = contiguous_strides(shape);
  array.dtype_ = dtype;
  array.storage_ = Storage::allocate(static_cast<std::size_t>(array.numel_) * size_of(dtype));
  return array;
}

Array Array::full(const Shape& shape, double value, DType dtype) {
  Array array = empty(shape, dtype);
  dispatch_all(dtype, [&]<class T>() {
    const T v = static_cast<T>(value);
    T* const y = array.mutable_data<T>();
    parallel_for(array.numel_, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) y[i] = v;
    });
  });
  return array;
}

template <class T>
Array Array::from_span(std::span<const T> values, const Shape& shape) {
  check(static_cast<std::int64_t>(values.size()) == gradus::numel(shape),
        "from_span: shape {} holds {} elements, got {} values", shape, gradus::numel(shape), values.size());
  Array array = empty(shape, dtype_of<T>);
  if (!values.empty()) std::memcpy(array.mutable_data<T>(), values.data(), values.size_bytes());
  return array;
}
template Array Array::from_span(std::span<const float>, const Shape&);
template Array Array::from_span(std::span<const double>, const Shape&);
template Array Array::from_span(std::span<const std::int64_t>, const Shape&);
template Array Array::from_span(std::span<const bool>, const Shape&);

bool Array::is_contiguous() const {
  std::int64_t step = 1;
  for (int i = dim() - 1; i >= 0; --i) {
    if (shape_[i] == 1) continue;
    if (strides_[i] != step) return numel_ == 0;
    step *= shape_[i];
  }
  return true;
}

void Array::wrong_type(DType dtype) const {
  if (!defined()) fail_with("data: the tensor is undefined");
  fail_with("data: asked for {} elements, but the tensor {} holds {}: convert with .to({})", dtype, shape_,
            dtype_, dtype);
}

double Array::item() const {
  if (!defined()) fail_with("item: the tensor is undefined");
  check(numel_ == 1, "item: expects one element, got shape {}", shape_);
  return dispatch_all(dtype_, [&]<class T>() { return static_cast<double>(*data<T>()); });
}

double Array::at(const Dims& index) const {
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
    if constexpr (std::is_same_v<To, bool>) {
      for (std::int64_t i = 0; i < n; ++i) yy[i * sy] = xx[i * sx] != From{0};
    } else {
      for (std::int64_t i = 0; i < n; ++i) yy[i * sy] = static_cast<To>(xx[i * sx]);
    }
  });
}

/// Writes `from` (broadcast, converted) into `to` without raising its version.
void write(const Array& from, const Array& to) {
  dispatch_all(from.dtype(), [&]<class From>() {
    dispatch_all(to.dtype(), [&]<class To>() { convert<From, To>(from, to); });
  });
}
}  // namespace

Array Array::clone() const {
  Array copy = empty(shape_, dtype_);
  write(*this, copy);
  return copy;
}

Array Array::to(DType dtype) const {
  if (dtype == dtype_) return *this;
  Array copy = empty(shape_, dtype);
  write(*this, copy);
  return copy;
}

void Array::copy_(const Array& source) const {
  check(defined() && source.defined(), "copy_: expects two defined tensors");
  check(broadcast_shapes("copy_", source.shape(), shape_) == shape_,
        "copy_: a source of shape {} does not fit into {}", source.shape(), shape_);
  storage_.bump_version();
  // Overlapping memory is read in full before it is written.
  write(storage_ == source.storage() ? source.clone() : source, *this);
}

void Array::fill_(double value) const {
  check(defined(), "fill_: the tensor is undefined");
  copy_(full({}, value, dtype_));
}

void Array::add_(const Array& source) const {
  check(shape_ == source.shape_ && dtype_ == source.dtype_, "add_: expects {} {}, got {} {}", dtype_, shape_,
        source.dtype_, source.shape_);
  storage_.bump_version();
  dispatch_floating("add_", dtype_, [&]<class T>() {
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
