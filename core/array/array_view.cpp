// The views of Array: new shapes and strides over the same memory.

#include <algorithm>

#include "gradus/core/array/array.h"
#include "gradus/core/detail/format.h"

namespace gradus {

Array Array::as_strided(const Shape& shape, const Strides& strides, std::int64_t offset) const {
  Array view = *this;
  view.shape_ = shape;
  view.strides_ = strides;
  view.offset_ = offset;
  view.numel_ = gradus::numel(shape);
  return view;
}

Array Array::select(std::int64_t axis, std::int64_t index) const {
  const int at = normalize_axis("select", axis, dim());
  const std::int64_t i = index < 0 ? index + shape_[at] : index;
  check(i >= 0 && i < shape_[at], "select: index {} is out of range for axis {} of {}", index, axis, shape_);
  Shape shape = shape_;
  Strides strides = strides_;
  shape.erase(at);
  strides.erase(at);
  return as_strided(shape, strides, offset_ + i * strides_[at]);
}

Array Array::slice(std::int64_t axis, std::int64_t start, std::optional<std::int64_t> stop,
                   std::int64_t step) const {
  const int at = normalize_axis("slice", axis, dim());
  check(step >= 1, "slice: expects a step of 1 or more, got {}: flip() reverses an axis", step);
  const std::int64_t size = shape_[at];
  const auto clip = [size](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const std::int64_t begin = clip(start);
  const std::int64_t end = std::max(begin, clip(stop.value_or(size)));
  Shape shape = shape_;
  Strides strides = strides_;
  shape[at] = (end - begin) / step + ((end - begin) % step != 0);
  strides[at] *= shape[at] > 1 ? step : 1;
  return as_strided(shape, strides, offset_ + (shape[at] > 0 ? begin * strides_[at] : 0));
}

Array Array::permute(const Dims& axes) const {
  normalize_axes("permute", axes, dim());  // finds repeated axes and those that do not exist
  check(axes.size() == dim(), "permute: expects {} axes for shape {}, got {}", dim(), shape_, axes);
  Shape shape;
  Strides strides;
  for (const std::int64_t axis : axes) {
    const int from = normalize_axis("permute", axis, dim());
    shape.push_back(shape_[from]);
    strides.push_back(strides_[from]);
  }
  return as_strided(shape, strides, offset_);
}

Array Array::transpose(std::int64_t a, std::int64_t b) const {
  const int i = normalize_axis("transpose", a, dim()), j = normalize_axis("transpose", b, dim());
  Array view = *this;
  std::swap(view.shape_[i], view.shape_[j]);
  std::swap(view.strides_[i], view.strides_[j]);
  return view;
}

Array Array::unsqueeze(std::int64_t axis) const {
  check(dim() < Dims::kMaxRank, "unsqueeze: {} has {} axes, and there is no room for more", shape_, dim());
  const int at = normalize_axis("unsqueeze", axis, dim() + 1);
  Shape shape = shape_;
  Strides strides = strides_;
  strides.insert(at, at < dim() ? strides_[at] * shape_[at] : 1);
  shape.insert(at, 1);
  return as_strided(shape, strides, offset_);
}

Array Array::squeeze(std::int64_t axis) const {
  const int at = normalize_axis("squeeze", axis, dim());
  check(shape_[at] == 1, "squeeze: expects size 1 on axis {}, got shape {}", axis, shape_);
  return select(at, 0);
}

Array Array::expand(const Shape& shape) const {
  const int lead = shape.size() - dim();
  check(lead >= 0, "expand: shape {} has fewer axes than {}", shape, shape_);
  Shape target = shape;
  Strides strides = Dims::filled(shape.size(), 0);
  for (int i = 0; i < shape.size(); ++i) {
    const std::int64_t from = i < lead ? 1 : shape_[i - lead];
    if (target[i] == -1 && i >= lead) target[i] = from;
    check(target[i] == from || (from == 1 && target[i] >= 0),
          "expand: shape {} does not expand to {}: axis {} has size {}", shape_, shape, i - shape.size(),
          from);
    if (i >= lead && from == target[i]) strides[i] = strides_[i - lead];
  }
  return as_strided(target, strides, offset_);
}

Shape infer_shape(const char* op, const Shape& shape, std::int64_t numel, const Shape& from) {
  Shape result = shape;
  int unknown = -1;
  std::int64_t known = 1;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      check(unknown < 0, "{}: at most one size may be -1, got {}", op, shape);
      unknown = i;
    } else {
      check(shape[i] >= 0 && !__builtin_mul_overflow(known, shape[i], &known), "{}: {} is not a shape", op,
            shape);
    }
  }
  if (unknown >= 0) {
    check(known > 0 && numel % known == 0, "{}: {} with {} elements does not fit into {}", op, from, numel,
          shape);
    result[unknown] = numel / known;
  } else {
    check(known == numel, "{}: {} with {} elements does not fit into {} with {}", op, from, numel, shape,
          known);
  }
  return result;
}

std::optional<Array> Array::try_view(const Shape& wanted) const {
  const Shape shape = infer_shape("view", wanted, numel_, shape_);
  if (numel_ == 0 || is_contiguous()) return as_strided(shape, contiguous_strides(shape), offset_);
  // Each run of old axes that lie as one block in memory must be the product of a run of new axes.
  Strides strides = Dims::filled(shape.size(), 0);
  int to = shape.size() - 1;
  for (int from = dim() - 1; from >= 0;) {
    std::int64_t block = shape_[from];
    const std::int64_t step = strides_[from];
    while (--from >= 0 && (shape_[from] == 1 || strides_[from] == step * block)) block *= shape_[from];
    std::int64_t inside = 1;
    while (to >= 0 && (inside < block || shape[to] == 1)) {
      strides[to] = step * inside;
      inside *= shape[to--];
    }
    if (inside != block) return std::nullopt;
  }
  return as_strided(shape, strides, offset_);
}

Array Array::reshape(const Shape& shape) const {
  if (auto view = try_view(infer_shape("reshape", shape, numel_, shape_))) return *view;
  return clone().try_view(shape).value();
}

}  // namespace gradus
