#include "gradus/core/shape.h"

#include <algorithm>
#include <cstdint>
#include <ostream>

#include "gradus/core/detail/format.h"

namespace gradus {

Dims::Dims(std::initializer_list<Int> values) {
  if (values.size() > kMaxRank) fail_with("Shape: expects at most {} axes, got {}", kMaxRank, values.size());
  for (const std::int64_t value : values) values_[size_++] = value;
}

Dims::Dims(std::span<const std::int64_t> values) {
  if (values.size() > kMaxRank) fail_with("Shape: expects at most {} axes, got {}", kMaxRank, values.size());
  std::copy(values.begin(), values.end(), values_);
  size_ = static_cast<int>(values.size());
}

Dims Dims::filled(int count, std::int64_t value) {
  Dims dims;
  for (int i = 0; i < count; ++i) dims.push_back(value);
  return dims;
}

void Dims::push_back(std::int64_t value) {
  if (size_ == kMaxRank) fail_with("Shape: expects at most {} axes, got {} with one more", kMaxRank, *this);
  values_[size_++] = value;
}

void Dims::insert(int at, std::int64_t value) {
  push_back(value);
  std::rotate(values_ + at, values_ + size_ - 1, values_ + size_);
}

void Dims::erase(int at) {
  std::copy(values_ + at + 1, values_ + size_, values_ + at);
  --size_;
}

bool Dims::contains(std::int64_t value) const { return std::find(begin(), end(), value) != end(); }

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Dims& dims) { return out << to_string(dims); }

std::int64_t numel(const Shape& shape, const char* op) {
  std::int64_t n = 1;
  bool overflow = false, zero = false;
  for (const std::int64_t size : shape) {
    if (size < 0) fail_with("{}: expects sizes of 0 or more, got {}", op, shape);
    zero = zero || size == 0;
    // The largest element has 8 bytes, and its byte count must fit as well. Beside a size of 0 the other
    // sizes still make strides.
    overflow = overflow || __builtin_mul_overflow(n, size > 0 ? size : 1, &n) || n > PTRDIFF_MAX / 8;
  }
  if (overflow) fail_with("{}: {} has more elements than memory can address", op, shape);
  return zero ? 0 : n;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  std::int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

int normalize_axis(const char* op, std::int64_t axis, int rank) {
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) [[unlikely]] {
    if (rank == 0) fail_with("{}: axis {} does not exist: the tensor has 0 axes", op, axis);
    fail_with("{}: axis {} is out of range for {} axes: expects {} to {}", op, axis, rank, -rank, rank - 1);
  }
  return static_cast<int>(at);
}

Dims normalize_axes(const char* op, const Axes& axes, int rank) {
  bool chosen[Dims::kMaxRank] = {};
  for (const std::int64_t axis : axes) {
    const int at = normalize_axis(op, axis, rank);
    if (chosen[at]) fail_with("{}: axis {} is given twice in {}", op, axis, axes);
    chosen[at] = true;
  }
  Dims result;
  for (int i = 0; i < rank; ++i)
    if (axes.empty() || chosen[i]) result.push_back(i);
  return result;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const int rank = std::max(a.size(), b.size());
  Shape shape = Dims::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t sa = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t sb = i <= b.size() ? b[b.size() - i] : 1;
    if (sa != sb && sa != 1 && sb != 1) [[unlikely]]
      fail_with("{}: shapes {} and {} do not broadcast: axis {} has sizes {} and {}", op, a, b, -i, sa, sb);
    shape[rank - i] = sa == 1 ? sb : sa;
  }
  return shape;
}

Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdim) {
  Shape result;
  for (int i = 0; i < shape.size(); ++i) {
    if (!axes.contains(i))
      result.push_back(shape[i]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

}  // namespace gradus
