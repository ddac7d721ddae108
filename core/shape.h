#pragma once
// Dims: a short list of integers held in place, used for shapes, strides and axes.

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

#include "gradus/core/number.h"

namespace gradus {

/// At most 8 integers, stored inline: copying a shape allocates nothing.
class Dims {
 public:
  static constexpr int kMaxRank = 8;  // axes a tensor may have

  Dims() = default;
  Dims(std::initializer_list<Int> values);
  Dims(Integer auto) = delete;  // a shape goes in braces: zeros({3})
  explicit Dims(std::span<const std::int64_t> values);
  /// `count` copies of `value`.
  static Dims filled(int count, std::int64_t value);

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](int i) const& { return values_[i]; }
  std::int64_t& operator[](int i) & { return values_[i]; }
  std::int64_t back() const { return values_[size_ - 1]; }  // the last one
  const std::int64_t* begin() const& { return values_; }
  const std::int64_t* end() const& { return values_ + size_; }
  std::int64_t* begin() & { return values_; }
  std::int64_t* end() & { return values_ + size_; }
  void begin() const&& = delete;  // the Dims is gone before the loop: name it first
  void end() const&& = delete;    // the Dims is gone before the loop: name it first

  /// Throws when there are kMaxRank values already.
  void push_back(std::int64_t value);
  void insert(int at, std::int64_t value);
  void erase(int at);
  bool contains(std::int64_t value) const;

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

 private:
  std::int64_t values_[kMaxRank] = {};
  int size_ = 0;
};

/// Sizes of the axes, outermost first: `Shape{2, 3}`.
using Shape = Dims;
/// Elements from one index of an axis to the next.
using Strides = Dims;

/// One axis or several: `x.sum(-1)`, `x.sum({0, 2})`. Negative axes count from the end.
class Axes : public Dims {
 public:
  Axes() = default;
  template <Integer T>
  Axes(T axis) : Dims({axis}) {}
  template <BoolOrFloat T>
  Axes(T) = delete;  // axes are integers; keepdim comes second: x.sum(-1, true), x.sum({}, true)
  Axes(std::initializer_list<Int> axes) : Dims(axes) {}
  Axes(const Dims& axes) : Dims(axes) {}
};

/// "[2, 3, 4]"; a 0-d shape is "[]".
std::string to_string(const Dims& dims);
std::ostream& operator<<(std::ostream& out, const Dims& dims);

/// Product of the sizes; throws naming `op` when it does not fit in 63 bits or a size is negative.
std::int64_t numel(const Shape& shape, const char* op = "numel");

/// Row-major strides, in elements.
Strides contiguous_strides(const Shape& shape);

/// The axis in 0..rank-1 that `axis` (possibly negative) means; throws naming `op` when out of range.
int normalize_axis(const char* op, std::int64_t axis, int rank);

/// Sorted, distinct, non-negative axes; no axes means all. Throws on a repeated or out-of-range axis.
Dims normalize_axes(const char* op, const Axes& axes, int rank);

/// NumPy's broadcast of two shapes; throws naming `op` and both shapes when they do not fit.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

/// `shape` without `axes` (which must be normalized), or with 1 in their place when keepdim.
Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdim);

}  // namespace gradus
