// Conversion between values of any arithmetic type and elements: exact, or an error. Integers are stored as
// i64.

#include <memory>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/detail/exact.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace {

/// The type that holds a T in memory.
template <Element T>
using Kept = std::conditional_t<Stored<T>, T, std::int64_t>;

/// `values`: anything with an index.
template <Element T, class Values>
Array copied(const char* op, const Values& values, Shape shape) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (shape.contains(-1)) shape = infer_shape(op, shape, count, Shape{count});
  const std::int64_t room = numel(shape, op);
  check(count == room, "{}: shape {} holds {} elements, got {} values", op, shape, room, count);
  const Array array = Array::empty(shape, dtype_of<Kept<T>>);
  Kept<T>* const to = array.mutable_data<Kept<T>>();
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = exact<Kept<T>>(op, static_cast<T>(values[static_cast<std::size_t>(i)]), i);
  return array;
}

}  // namespace

template <Element T>
Array Array::from_span(std::span<const T> values, const Shape& shape) {
  return copied<T>("from_span", values, shape);
}

template <Element T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  return Tensor(copied<T>("from_vector", values, shape));
}

template <Element T>
T Array::item() const {
  expect_defined("item");
  check(numel_ == 1,
        "item: expects one element, got shape {}: pick one, as in x[0], or reduce with sum() or mean()",
        shape_);
  return dispatch_all(dtype_, [&]<class From>() { return exact<T>("item", detail::number(*data<From>())); });
}

template <Element T>
std::vector<T> Tensor::to_vector() const {
  array_.expect_defined("to_vector");
  const Array dense = array_.contiguous();
  std::vector<T> values(static_cast<std::size_t>(numel()));
  dispatch_all(dtype(), [&]<class From>() {
    const From* const from = dense.data<From>();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = exact<T>("to_vector", detail::number(from[i]), static_cast<std::int64_t>(i));
  });
  return values;
}

#define GRADUS_ELEMENT(T)                                            \
  template Array Array::from_span(std::span<const T>, const Shape&); \
  template Tensor from_vector(const std::vector<T>&, const Shape&);  \
  template T Array::item() const;                                    \
  template std::vector<T> Tensor::to_vector() const;
GRADUS_ELEMENT(float)
GRADUS_ELEMENT(double)
GRADUS_ELEMENT(bool)
GRADUS_ELEMENT(signed char)
GRADUS_ELEMENT(unsigned char)
GRADUS_ELEMENT(short)
GRADUS_ELEMENT(unsigned short)
GRADUS_ELEMENT(int)
GRADUS_ELEMENT(unsigned)
GRADUS_ELEMENT(long)
GRADUS_ELEMENT(unsigned long)
GRADUS_ELEMENT(long long)
GRADUS_ELEMENT(unsigned long long)
#undef GRADUS_ELEMENT

}  // namespace gradus
