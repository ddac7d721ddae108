#pragma once
// Array: values without autograd - dtype, shape, strides and shared memory. Copying an Array copies the
// handle, not the values; views (transpose, slice, expand, ...) share memory.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "gradus/core/dtype.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/shape.h"

namespace gradus {

class Array {
 public:
  Array() = default;  // undefined: no shape, no memory

  /// New, uninitialized memory.
  static Array empty(const Shape& shape, DType dtype, const char* op = "empty");  // op: whom errors name
  static Array zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype, "zeros"); }
  /// Throws when dtype is i64 and the value is not.
  static Array full(const Shape& shape, Scalar value, DType dtype, const char* op = "full");
  /// Copies `values` (row-major), integers as i64; throws unless there are numel(shape) of them.
  template <Element T>
  static Array from_span(std::span<const T> values, const Shape& shape);
  template <class T>
  static Array from_span(std::span<const T>, const Shape&) = delete;  // of float, double, bool or integers

  bool defined() const { return static_cast<bool>(storage_); }  // whether it holds anything
  DType dtype() const { return dtype_; }                        // of its elements
  const Shape& shape() const& { return shape_; }
  Shape shape() const&& { return shape_; }              // by value: a reference into a temporary would dangle
  const Strides& strides() const& { return strides_; }  // elements from one index of an axis to the next
  Strides strides() const&& { return strides_; }
  std::int64_t offset() const { return offset_; }       // of its first element in the storage, in elements
  const Storage& storage() const& { return storage_; }  // the memory, shared with its views
  Storage storage() const&& { return storage_; }
  int dim() const { return shape_.size(); }      // how many axes
  std::int64_t numel() const { return numel_; }  // how many elements
  /// Size of an axis; negative axes count from the end.
  std::int64_t size(Int axis) const {
    expect_defined("size");
    return shape_[normalize_axis("size", axis, dim())];
  }
  bool is_contiguous() const;

  /// First element. Throws when T is not the dtype. Other elements lie at strides(), in elements.
  template <Stored T>
  const T* data() const& {
    expect("data", dtype_of<T>);
    return static_cast<const T*>(raw());
  }
  template <class T>
  const T* data() const& = delete;  // elements are float, double, std::int64_t, bool or halves
  template <class T>
  const T* data() const&& = delete;  // the memory may go with the temporary: name the array first
  /// The same for writing. Does not raise the version: only for memory not yet shared (see copy_, fill_).
  template <Stored T>
  T* mutable_data() const& {
    expect("mutable_data", dtype_of<T>);
    return static_cast<T*>(const_cast<void*>(raw()));
  }
  template <class T>
  T* mutable_data() const& = delete;  // elements are float, double, std::int64_t, bool or halves
  template <class T>
  T* mutable_data() const&& = delete;  // the memory may go with the temporary: name the array first
  const void* raw() const& {
    return static_cast<const char*>(storage_.data()) + offset_ * static_cast<std::int64_t>(size_of(dtype_));
  }
  const void* raw() const&& = delete;  // the memory may go with the temporary: name the array first
  /// The only element; throws unless numel is 1 and T holds it exactly (a double may be rounded to float).
  template <Element T = double>
  T item() const;
  template <class T>
  T item() const = delete;  // elements are float, double, bool or integers
  /// The element at an index, as double (slow: for tests and printing).
  double at(const Dims& index) const;

  // Views. Axes must be in range (negative ones count from the end); each throws naming itself otherwise.
  Array select(std::int64_t axis, std::int64_t index) const;
  Array slice(std::int64_t axis, std::int64_t start, std::optional<std::int64_t> stop = {},
              std::int64_t step = 1) const;
  Array permute(const Dims& axes) const;
  Array transpose(std::int64_t a, std::int64_t b) const;
  Array unsqueeze(std::int64_t axis) const;
  Array squeeze(std::int64_t axis) const;  // throws unless the axis has size 1
  Array expand(const Shape& shape) const;
  /// A view with another shape (one size may be -1), or nothing if strides do not allow it.
  std::optional<Array> try_view(const Shape& shape) const;
  /// try_view, or a copy if no view is possible.
  Array reshape(const Shape& shape) const;
  /// Any view: the caller must have checked that it lies inside the memory.
  Array as_strided(const Shape& shape, const Strides& strides, std::int64_t offset) const;

  Array contiguous() const;  // itself when contiguous
  Array clone() const;       // a contiguous copy in fresh memory
  /// Itself when it has the dtype; to bool means != 0, and to bf16 or f16 rounds what it is as f32.
  Array to(DType dtype) const;
  /// True when this handle is the only owner of contiguous memory, so a write is invisible to others.
  bool owns_exclusively() const { return storage_ && storage_.unique() && is_contiguous(); }

  // In-place writes; each raises the storage's version. op: whom errors name.
  void copy_(const Array& source, const char* op = "copy_") const;  // broadcasts and converts source
  void fill_(Scalar value, const char* op = "fill_") const;
  /// this += source, equal shapes and dtypes: the engine's accumulation.
  void add_(const Array& source) const;

 private:
  friend class Tensor;
  void expect_defined(const char* op) const {
    if (!storage_) [[unlikely]]
      wrong_type(op, dtype_);
  }
  void expect(const char* op, DType dtype) const {
    if (!storage_ || dtype != dtype_) [[unlikely]]
      wrong_type(op, dtype);
  }
  [[noreturn]] void wrong_type(const char* op, DType dtype) const;

  Storage storage_;
  Shape shape_;
  Strides strides_;
  std::int64_t offset_ = 0;
  std::int64_t numel_ = 0;
  DType dtype_ = DType::f32;
};

/// One size in `shape` may be -1: returns the shape with it inferred from `numel`. Throws naming `op`.
Shape infer_shape(const char* op, const Shape& shape, std::int64_t numel, const Shape& from);

/// PyTorch's layout: nested brackets, aligned columns, 4 decimals, "..." past 1000 elements.
std::string to_string(const Array& array);

}  // namespace gradus
