#pragma once
// Tensor: an n-dimensional array of numbers that can remember how it was computed.
//
// A Tensor is a cheap handle: an Array (the numbers) and, when a gradient is wanted, a Node (its place on the
// tape). Copies share both. Every method below that computes a tensor, but for t(), has a function of the
// same name in ops/ops.h, where it is documented.

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/array.h"
#include "gradus/core/autograd.h"

namespace gradus {

class Generator;

class Tensor {
 public:
  Tensor() = default;  // undefined
  explicit Tensor(Array array) : array_(std::move(array)) {}
  Tensor(Array array, NodePtr node) : array_(std::move(array)), node_(std::move(node)) {}

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  // `x = y` makes x another handle to y; `x[0] = y` and `x.slice(0, 1, 3) = 2.0` write into x.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  void operator=(const Tensor& values) && { copy_(values); }
  void operator=(Tensor&& values) && { copy_(values); }
  void operator=(double value) && { fill_(value); }

  // --- what it is
  bool defined() const { return array_.defined(); }
  const Shape& shape() const { return array_.shape(); }
  const Strides& strides() const { return array_.strides(); }
  int dim() const { return array_.dim(); }
  std::int64_t size(std::int64_t axis) const { return array_.size(axis); }
  std::int64_t numel() const { return array_.numel(); }
  DType dtype() const { return array_.dtype(); }
  bool is_contiguous() const { return array_.is_contiguous(); }
  const Array& array() const { return array_; }

  // --- numbers in and out
  /// The only element; throws unless numel is 1.
  double item() const { return array_.item(); }
  /// Elements of a contiguous tensor, row-major: `for (float v : x.span<float>())`.
  template <class T>
  std::span<const T> span() const {
    expect_contiguous("span");
    return {array_.data<T>(), static_cast<std::size_t>(numel())};
  }
  /// The same for writing; counts as an in-place write.
  template <class T>
  std::span<T> mutable_span() const {
    expect_contiguous("mutable_span");
    expect_writable("mutable_span");
    array_.storage().bump_version();
    return {array_.mutable_data<T>(), static_cast<std::size_t>(numel())};
  }
  /// A copy of all elements, row-major, from any layout.
  template <class T>
  std::vector<T> to_vector() const;

  // --- in-place writes; a tensor that requires grad is written under NoGrad
  const Tensor& copy_(const Tensor& source) const;  // broadcasts and converts
  const Tensor& fill_(double value) const;
  const Tensor& zero_() const { return fill_(0); }

  // --- autograd
  bool requires_grad() const { return node_ && node_->requires_grad; }
  /// Makes this a leaf that collects a gradient (or freezes it): call it before copying the handle.
  Tensor& requires_grad_(bool on = true);
  bool is_leaf() const { return !node_ || node_->is_leaf; }
  const NodePtr& node() const { return node_; }
  /// The collected gradient; undefined before a backward pass.
  Tensor grad() const;
  void set_grad(const Tensor& gradient) const;
  void zero_grad() const;
  /// Adds d(this)/d(leaf) to the grad of every leaf behind this tensor; it must have one element. Several
  /// threads may do so at once, also through the same leaves: docs/tape.md says what they may share.
  void backward(bool retain_graph = false) const;
  /// The same, seeded with a gradient of this tensor's shape.
  void backward(const Tensor& gradient, bool retain_graph = false) const;
  /// The same numbers without a tape.
  Tensor detach() const { return Tensor(array_); }
  /// Keep the gradient of an inner tensor too: read it with grad() after backward.
  const Tensor& retain_grad() const;
  /// Calls `hook` with this tensor's gradient during every backward from now on. A hook that holds this tensor
  /// keeps it alive for good.
  const Tensor& on_grad(GradHook hook) const;

  // --- views and indexing
  Tensor operator[](std::int64_t index) const { return select(0, index); }
  Tensor select(std::int64_t axis, std::int64_t index) const;
  Tensor slice(std::int64_t axis, std::int64_t start, std::optional<std::int64_t> stop = {},
               std::int64_t step = 1) const;
  Tensor reshape(const Shape& shape) const;
  Tensor view(const Shape& shape) const;
  Tensor permute(const Dims& axes) const;
  Tensor transpose(std::int64_t a, std::int64_t b) const;
  Tensor t() const;  // a matrix transposed
  Tensor squeeze() const;
  Tensor squeeze(std::int64_t axis) const;
  Tensor unsqueeze(std::int64_t axis) const;
  Tensor expand(const Shape& shape) const;
  Tensor flatten(std::int64_t start = 0, std::int64_t end = -1) const;
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor to(DType dtype) const;

  // --- reductions: no axes means all of them
  Tensor sum(const Axes& axes = {}, bool keepdim = false) const;
  Tensor mean(const Axes& axes = {}, bool keepdim = false) const;
  Tensor var(const Axes& axes = {}, bool keepdim = false, bool unbiased = true) const;
  Tensor max(const Axes& axes = {}, bool keepdim = false) const;
  Tensor min(const Axes& axes = {}, bool keepdim = false) const;
  Tensor argmax(std::optional<std::int64_t> axis = {}, bool keepdim = false) const;
  Tensor argmin(std::optional<std::int64_t> axis = {}, bool keepdim = false) const;
  Tensor norm(const Axes& axes = {}, bool keepdim = false) const;
  bool all() const;  // every element non-zero
  bool any() const;  // some element non-zero

  // --- elementwise
  Tensor abs() const;
  Tensor pow(double exponent) const;
  Tensor square() const;
  Tensor sqrt() const;
  Tensor exp() const;
  Tensor log() const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor clamp(double low, double high) const;
  Tensor matmul(const Tensor& other) const;
  Tensor softmax(std::int64_t axis) const;

 private:
  void expect_contiguous(const char* what) const;
  void expect_writable(const char* what) const;

  Array array_;
  NodePtr node_;
};

// --- creation. dtype: default_dtype() where none is given.

/// Nested braces for tensor(): all integers give i64, all bools bool, anything else default_dtype().
class NestedList {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> NestedList(T value)
      : value_(static_cast<double>(value)),
        kind_(std::is_same_v<T, bool> ? DType::boolean
              : std::is_integral_v<T> ? DType::i64
                                      : DType::f64),
        integer_(static_cast<std::int64_t>(value)) {}
  NestedList(std::initializer_list<NestedList> items) : items_(items), leaf_(false) {}

 private:
  friend Tensor tensor(const NestedList& values, std::optional<DType> dtype);
  std::vector<NestedList> items_;
  double value_ = 0;
  DType kind_ = DType::boolean;
  std::int64_t integer_ = 0;
  bool leaf_ = true;
};

/// `tensor({{1.0, 2.0}, {3.0, 4.0}})` is [2, 2]; `tensor({1, 2, 3})` is i64; throws on ragged rows.
Tensor tensor(const NestedList& values, std::optional<DType> dtype = {});
inline Tensor tensor(std::initializer_list<NestedList> values, std::optional<DType> dtype = {}) {
  return tensor(NestedList(values), dtype);
}
/// Copies the values, row-major. `from_span<float>(v, {2, 3})`
template <class T>
Tensor from_span(std::span<const T> values, const Shape& shape) {
  return Tensor(Array::from_span(values, shape));
}
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  return from_span(std::span<const T>(values), shape);
}
Tensor zeros(const Shape& shape, std::optional<DType> dtype = {});
Tensor ones(const Shape& shape, std::optional<DType> dtype = {});
Tensor full(const Shape& shape, double value, std::optional<DType> dtype = {});
Tensor empty(const Shape& shape, std::optional<DType> dtype = {});
/// start, start + step, ... before stop; i64 when all three are whole and no dtype is given.
Tensor arange(std::int64_t stop);
Tensor arange(double start, double stop, double step = 1, std::optional<DType> dtype = {});
/// `count` evenly spaced values, both ends included.
Tensor linspace(double start, double stop, std::int64_t count, std::optional<DType> dtype = {});
/// Identity matrix [n, m] (m = n when not given).
Tensor eye(std::int64_t n, std::optional<std::int64_t> m = {}, std::optional<DType> dtype = {});
/// Uniform in [0, 1).
Tensor rand(const Shape& shape, std::optional<DType> dtype = {});
Tensor rand(const Shape& shape, Generator& generator, std::optional<DType> dtype = {});
/// Normal, mean 0, standard deviation 1.
Tensor randn(const Shape& shape, std::optional<DType> dtype = {});
Tensor randn(const Shape& shape, Generator& generator, std::optional<DType> dtype = {});
/// Integers low .. high-1, as i64.
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape);
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator);
/// A random order of 0 .. n-1, as i64.
Tensor randperm(std::int64_t n);
Tensor randperm(std::int64_t n, Generator& generator);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor full_like(const Tensor& x, double value);
Tensor empty_like(const Tensor& x);
Tensor rand_like(const Tensor& x);
Tensor randn_like(const Tensor& x);

// --- operators; a number takes the tensor's dtype, shapes broadcast
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, double b);
Tensor operator-(const Tensor& a, double b);
Tensor operator*(const Tensor& a, double b);
Tensor operator/(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(double a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor operator!(const Tensor& x);  // logical not
// Comparisons give bool tensors.
Tensor operator==(const Tensor& a, const Tensor& b);
Tensor operator!=(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator==(const Tensor& a, double b);
Tensor operator!=(const Tensor& a, double b);
Tensor operator<(const Tensor& a, double b);
Tensor operator<=(const Tensor& a, double b);
Tensor operator>(const Tensor& a, double b);
Tensor operator>=(const Tensor& a, double b);
Tensor operator&(const Tensor& a, const Tensor& b);  // logical and
Tensor operator|(const Tensor& a, const Tensor& b);  // logical or

/// The numbers in PyTorch's layout: "tensor([[1., 2.],\n        [3., 4.]])".
std::string to_string(const Tensor& x);
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace gradus
