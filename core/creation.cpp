// Factories: tensors from values, constants, ranges and random numbers.

#include <cmath>

#include "gradus/core/dispatch.h"
#include "gradus/core/random.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace {
DType or_default(std::optional<DType> dtype) { return dtype.value_or(default_dtype()); }

/// A vector whose element i is f(i).
template <class F>
Tensor sequence(std::int64_t count, DType dtype, F f) {
  const Array y = Array::empty({count}, dtype);
  dispatch_all(dtype, [&]<class T>() {
    T* const data = y.mutable_data<T>();
    for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(f(i));
  });
  return Tensor(y);
}
}  // namespace

Tensor tensor(const NestedList& values, std::optional<DType> dtype) {
  // The shape follows the first element of each level; every other element must agree.
  Shape shape;
  for (const NestedList* level = &values; !level->leaf_; level = &level->items_[0]) {
    shape.push_back(static_cast<std::int64_t>(level->items_.size()));
    if (level->items_.empty()) break;
  }
  std::vector<const NestedList*> flat{&values};
  for (int axis = 0; axis < shape.size(); ++axis) {
    std::vector<const NestedList*> next;
    for (const NestedList* list : flat) {
      const std::string got = list->leaf_ ? "a number" : fmt::format("{}", list->items_.size());
      check(!list->leaf_ && static_cast<std::int64_t>(list->items_.size()) == shape[axis],
            "tensor: ragged rows on axis {}: expects {} elements everywhere, got {}", axis, shape[axis], got);
      for (const NestedList& item : list->items_) next.push_back(&item);
    }
    flat = std::move(next);
  }
  bool all_bool = !flat.empty(), all_integer = !flat.empty();
  for (const NestedList* item : flat) {
    check(item->leaf_, "tensor: ragged rows: expects a number, got a list of {}", item->items_.size());
    all_bool = all_bool && item->kind_ == boolean;
    all_integer = all_integer && item->kind_ == i64;
  }
  const Array y = Array::empty(shape, dtype.value_or(all_bool      ? boolean
                                                     : all_integer ? i64
                                                                   : default_dtype()));
  dispatch_all(y.dtype(), [&]<class T>() {
    T* data = y.mutable_data<T>();
    for (const NestedList* item : flat)
      *data++ = item->kind_ == i64 ? static_cast<T>(item->integer_) : static_cast<T>(item->value_);
  });
  return Tensor(y);
}

Tensor zeros(const Shape& shape, std::optional<DType> dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, std::optional<DType> dtype) { return full(shape, 1, dtype); }
Tensor full(const Shape& shape, double value, std::optional<DType> dtype) {
  return Tensor(Array::full(shape, value, or_default(dtype)));
}
Tensor empty(const Shape& shape, std::optional<DType> dtype) {
  return Tensor(Array::empty(shape, or_default(dtype)));
}

Tensor arange(std::int64_t stop) {
  check(stop >= 0, "arange: expects a stop of 0 or more, got {}", stop);
  return sequence(stop, i64, [](std::int64_t i) { return i; });
}

Tensor arange(double start, double stop, double step, std::optional<DType> dtype) {
  check(step != 0 && std::isfinite(step) && std::isfinite(start) && std::isfinite(stop),
        "arange: expects finite bounds and a step other than 0, got {} to {} by {}", start, stop, step);
  check((stop - start) / step >= 0, "arange: a step of {} does not lead from {} to {}", step, start, stop);
  const double count = std::ceil((stop - start) / step);
  check(count < 1e15, "arange: {} to {} by {} has too many elements", start, stop, step);
  const bool whole = start == std::floor(start) && stop == std::floor(stop) && step == std::floor(step);
  return sequence(static_cast<std::int64_t>(count), dtype.value_or(whole ? i64 : default_dtype()),
                  [=](std::int64_t i) { return start + step * static_cast<double>(i); });
}

Tensor linspace(double start, double stop, std::int64_t count, std::optional<DType> dtype) {
  check(count >= 0, "linspace: expects a count of 0 or more, got {}", count);
  const double last = static_cast<double>(count - 1);
  return sequence(count, or_default(dtype), [=](std::int64_t i) {
    const double t = count > 1 ? static_cast<double>(i) / last : 0;
    return start + (stop - start) * t;
  });
}

Tensor eye(std::int64_t n, std::optional<std::int64_t> m, std::optional<DType> dtype) {
  const Tensor y = zeros({n, m.value_or(n)}, dtype);
  const std::int64_t diagonal = std::min(n, m.value_or(n));
  Array ones = y.array().as_strided({diagonal}, {m.value_or(n) + 1}, 0);
  ones.fill_(1);
  return y;
}

Tensor rand(const Shape& shape, std::optional<DType> dtype) {
  return rand(shape, default_generator(), dtype);
}
Tensor rand(const Shape& shape, Generator& generator, std::optional<DType> dtype) {
  return Tensor(random_uniform(shape, 0, 1, or_default(dtype), generator));
}
Tensor randn(const Shape& shape, std::optional<DType> dtype) {
  return randn(shape, default_generator(), dtype);
}
Tensor randn(const Shape& shape, Generator& generator, std::optional<DType> dtype) {
  return Tensor(random_normal(shape, 0, 1, or_default(dtype), generator));
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return randint(low, high, shape, default_generator());
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator) {
  return Tensor(random_integers(shape, low, high, generator));
}
Tensor randperm(std::int64_t n) { return randperm(n, default_generator()); }
Tensor randperm(std::int64_t n, Generator& generator) { return Tensor(random_permutation(n, generator)); }

Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype()); }
Tensor full_like(const Tensor& x, double value) { return full(x.shape(), value, x.dtype()); }
Tensor empty_like(const Tensor& x) { return empty(x.shape(), x.dtype()); }
Tensor rand_like(const Tensor& x) { return rand(x.shape(), x.dtype()); }
Tensor randn_like(const Tensor& x) { return randn(x.shape(), x.dtype()); }

}  // namespace gradus
