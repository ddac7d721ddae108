// Factories: tensors from values, constants, ranges and random numbers.

#include <algorithm>
#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace {
DType or_default(std::optional<DType> dtype) { return dtype.value_or(default_dtype()); }

/// The default dtype for numbers of this kind, as in PyTorch.
DType dtype_of_kind(Scalar::Kind kind) {
  return kind == Scalar::Kind::floating ? default_dtype() : kind == Scalar::Kind::integer ? i64 : boolean;
}

/// Of `op`; throws unless the dtype is f32 or f64 and the shape is one.
DType floating(const char* op, std::optional<DType> dtype, const Shape& shape = {}) {
  check_floating(op, or_default(dtype));
  numel(shape, op);
  return or_default(dtype);
}

/// Throws if the requested dtype is i64 and the number is not an integer.
void expect_whole(const char* op, Scalar value, DType dtype) {
  check(dtype != i64 || value.whole(), "{}: the number {} is not an i64: leave out the dtype, or round it",
        op, value);
}

/// A vector whose element i is f(i).
template <class F>
Tensor sequence(const char* op, std::int64_t count, DType dtype, F f) {
  const Array y = Array::empty({count}, dtype, op);
  dispatch_all(dtype, [&]<class T>() {
    T* const data = y.mutable_data<T>();
    for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(f(i));
  });
  return Tensor(y);
}

Tensor integer_range(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype) {
  __extension__ using Wide = __int128;
  check(step != 0, "arange: expects a step other than 0, got {} to {} by 0", start, stop);
  const Wide way = Wide{stop} - start;
  check((way >= 0) == (step > 0) || way == 0, "arange: a step of {} does not lead from {} to {}", step, start,
        stop);
  const Wide count = (way + step + (step > 0 ? -1 : 1)) / step;
  check(count < Wide{1} << 60, "arange: {} to {} by {} has too many elements", start, stop, step);
  // Unsigned, so intermediate results wrap; the values themselves fit.
  return sequence("arange", static_cast<std::int64_t>(count), dtype, [=](std::int64_t i) {
    const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    return static_cast<std::int64_t>(u(start) + u(i) * u(step));
  });
}

Tensor floating_range(double start, double stop, double step, DType dtype) {
  check(step != 0 && std::isfinite(step) && std::isfinite(start) && std::isfinite(stop),
        "arange: expects finite bounds and a step other than 0, got {} to {} by {}", start, stop, step);
  check((stop - start) / step >= 0, "arange: a step of {} does not lead from {} to {}", step, start, stop);
  const double count = std::ceil((stop - start) / step);
  check(count < 1e15, "arange: {} to {} by {} has too many elements", start, stop, step);
  return sequence("arange", static_cast<std::int64_t>(count), dtype,
                  [=](std::int64_t i) { return start + step * static_cast<double>(i); });
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
  Scalar::Kind widest = flat.empty() ? Scalar::Kind::floating : Scalar::Kind::logical;
  for (const NestedList* item : flat) {
    check(item->leaf_, "tensor: ragged rows: expects a number, got a list of {}", item->items_.size());
    widest = std::min(widest, item->value_.kind());
  }
  const Array y = Array::empty(shape, dtype.value_or(dtype_of_kind(widest)));
  dispatch_all(y.dtype(), [&]<class T>() {
    T* data = y.mutable_data<T>();
    for (const NestedList* item : flat) {
      expect_whole("tensor", item->value_, y.dtype());
      *data++ = element<T>("tensor", item->value_, shape);
    }
  });
  return Tensor(y);
}

Tensor zeros(const Shape& shape, std::optional<DType> dtype) {
  return Tensor(Array::full(shape, 0, or_default(dtype), "zeros"));
}
Tensor ones(const Shape& shape, std::optional<DType> dtype) {
  return Tensor(Array::full(shape, 1, or_default(dtype), "ones"));
}
Tensor full(const Shape& shape, Scalar value, std::optional<DType> dtype) {
  const DType to = dtype.value_or(dtype_of_kind(value.kind()));
  expect_whole("full", value, to);
  return Tensor(Array::full(shape, value, to));
}
Tensor empty(const Shape& shape, std::optional<DType> dtype) {
  return Tensor(Array::empty(shape, or_default(dtype)));
}

Tensor arange(Scalar stop, std::optional<DType> dtype) { return arange(0, stop, 1, dtype); }

Tensor arange(Scalar start, Scalar stop, Scalar step, std::optional<DType> dtype) {
  const auto is_floating_number = [](Scalar x) { return x.kind() == Scalar::Kind::floating; };
  const bool integers = !is_floating_number(start) && !is_floating_number(stop) && !is_floating_number(step);
  const DType to = dtype.value_or(integers ? i64 : default_dtype());
  check(to != boolean, "arange: expects numbers, got bool: compare, as in arange(n) < k");
  if (!integers && to != i64)
    return floating_range(start.as<double>(), stop.as<double>(), step.as<double>(), to);
  check(start.whole() && stop.whole() && step.whole(),
        "arange: i64 is made of whole numbers, got {} to {} by {}: leave out the dtype", start, stop, step);
  return integer_range(*start.whole(), *stop.whole(), *step.whole(), to);
}

Tensor linspace(double start, double stop, Int count, std::optional<DType> dtype) {
  check(count >= 0, "linspace: expects a count of 0 or more, got {}", count);
  check(std::isfinite(start) && std::isfinite(stop), "linspace: expects finite ends, got {} and {}", start,
        stop);
  const double last = static_cast<double>(count - 1);
  return sequence("linspace", count, floating("linspace", dtype), [=](std::int64_t i) {
    const double t = count > 1 ? static_cast<double>(i) / last : 0;
    return std::isfinite(stop - start) ? start + (stop - start) * t : start * (1 - t) + stop * t;
  });
}

Tensor eye(Int n, std::optional<Int> m, std::optional<DType> dtype) {
  const std::int64_t rows = n, columns = m.value_or(n);
  const Array y = Array::full({rows, columns}, 0, or_default(dtype), "eye");
  y.as_strided({std::min(rows, columns)}, {columns + 1}, 0).fill_(1);
  return Tensor(y);
}

Tensor rand(const Shape& shape, std::optional<DType> dtype) {
  return rand(shape, default_generator(), dtype);
}
Tensor rand(const Shape& shape, Generator& generator, std::optional<DType> dtype) {
  return Tensor(random_uniform(shape, 0, 1, floating("rand", dtype, shape), generator));
}
Tensor randn(const Shape& shape, std::optional<DType> dtype) {
  return randn(shape, default_generator(), dtype);
}
Tensor randn(const Shape& shape, Generator& generator, std::optional<DType> dtype) {
  return Tensor(random_normal(shape, 0, 1, floating("randn", dtype, shape), generator));
}
Tensor randint(Int low, Int high, const Shape& shape) {
  return randint(low, high, shape, default_generator());
}
Tensor randint(Int low, Int high, const Shape& shape, Generator& generator) {
  check(std::int64_t{low} < high, "randint: expects low < high, got {} and {}", low, high);
  numel(shape, "randint");
  return Tensor(random_integers(shape, low, high, generator));
}
Tensor randperm(Int n) { return randperm(n, default_generator()); }
Tensor randperm(Int n, Generator& generator) {
  check(n >= 0, "randperm: expects n of 0 or more, got {}", n);
  return Tensor(random_permutation(n, generator));
}

namespace {
/// x, or an error naming `op` when it is undefined.
const Tensor& like(const char* op, const Tensor& x) {
  if (!x.defined()) fail_undefined(op);
  return x;
}
}  // namespace

Tensor zeros_like(const Tensor& x) { return zeros(like("zeros_like", x).shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(like("ones_like", x).shape(), x.dtype()); }
Tensor full_like(const Tensor& x, Scalar value) {
  return Tensor(Array::full(like("full_like", x).shape(), value, x.dtype(), "full_like"));
}
Tensor empty_like(const Tensor& x) { return empty(like("empty_like", x).shape(), x.dtype()); }
Tensor rand_like(const Tensor& x) {
  return rand(like("rand_like", x).shape(), floating("rand_like", x.dtype()));
}
Tensor randn_like(const Tensor& x) {
  return randn(like("randn_like", x).shape(), floating("randn_like", x.dtype()));
}

}  // namespace gradus
