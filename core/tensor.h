#pragma once
// Tensor: an n-dimensional array that can remember how it was computed.
//
// A Tensor is a cheap handle: an Array (the values) and, when a gradient is wanted, a Node (its place on the
// tape). Copies share both. Every method below that computes a tensor, except t(), has a function of the
// same name in ops/ops.h, where it is documented.

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/array/array.h"
#include "gradus/core/list.h"
#include "gradus/core/tape/autograd.h"

namespace gradus {

class Generator;
class Picked;

namespace detail {
/// The gradient itself.
inline const Array& array_of(const Array& x) { return x; }
/// The values of a gradient on the tape.
inline const Array& array_of(const Tensor& x);
}  // namespace detail

/// A function of a gradient (an Array or a Tensor) that returns nothing or a replacement for the gradient.
template <class Hook, class Gradient>
concept HookOf = std::invocable<Hook&, const Gradient&> &&
    (std::is_void_v<std::invoke_result_t<Hook&, const Gradient&>> ||
     std::is_convertible_v<std::invoke_result_t<Hook&, const Gradient&>, Array> ||
     std::is_convertible_v<std::invoke_result_t<Hook&, const Gradient&>, const Tensor&>);

struct VarOptions {
  bool keepdim = false;  // reduced axes stay, with size 1
  bool unbiased = true;  // divide by n - 1, not n
};

/// Names from elsewhere, so that Tensor::backward can say what to write instead.
struct BackwardOptions {
  bool retain_graph = false;  // backward(true)
  bool create_graph = false;  // grad(y, {x}, {.create_graph = true})
};

/// The right side of `x += y`.
class TensorOrNumber {
 public:
  TensorOrNumber(const Tensor& x) : tensor_(&x) {}
  template <class T>
  requires std::is_arithmetic_v<T> TensorOrNumber(T value) : number_(value) {}
  TensorOrNumber(Scalar value) : number_(value) {}

 private:
  friend class Tensor;
  const Tensor* tensor_ = nullptr;
  Scalar number_ = 0;
};

class Tensor {
 public:
  Tensor() = default;  // undefined
  explicit Tensor(Array array) : array_(std::move(array)) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit Tensor(T) = delete;  // a tensor of one number is tensor(5.0)
  Tensor(Array array, NodePtr node) : array_(std::move(array)), node_(std::move(node)) {}

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  // A module's parameter is copied even when moved from, because its module keeps using it.
  template <std::derived_from<Tensor> Derived>
  requires(!std::same_as<Derived, Tensor>) Tensor(Derived&& x) : Tensor(static_cast<const Tensor&>(x)) {}
  // `x = y` makes x another handle to y; `x[0] = y` and `x.slice(0, 1, 3) = 2.0` write into x.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  template <std::derived_from<Tensor> Derived>
  requires(!std::same_as<Derived, Tensor>) Tensor& operator=(Derived&& x) & {
    return *this = static_cast<const Tensor&>(x);
  }
  template <class T>
  requires std::is_arithmetic_v<T> Tensor& operator=(T) & = delete;  // x.fill_(5) writes; x = tensor(5)
  // Throws if nothing else holds the written values: `x.flatten() = 2.0` may write into a copy.
  void operator=(const Tensor& values) && { kept("operator=").write(values, "operator="); }
  void operator=(Tensor&& values) && { kept("operator=").write(values, "operator="); }
  void operator=(Scalar value) && { kept("operator=").write(value, "operator="); }

  // --- properties
  bool defined() const { return array_.defined(); }
  // On a temporary, as in `for (auto n : f(x).shape())`, these return values: a reference would dangle.
  const Shape& shape() const& { return array_.shape(); }
  Shape shape() const&& { return array_.shape(); }
  const Strides& strides() const& { return array_.strides(); }
  Strides strides() const&& { return array_.strides(); }
  int dim() const { return array_.dim(); }
  std::int64_t size(Int axis) const { return array_.size(axis); }
  std::int64_t numel() const { return array_.numel(); }
  DType dtype() const { return array_.dtype(); }
  bool is_contiguous() const { return array_.is_contiguous(); }
  const Array& array() const& { return array_; }
  Array array() const&& { return array_; }

  // --- element access: float, double, bool or any integer type
  /// The only element; throws unless numel is 1 and T can hold it: `ids[0].item<std::int64_t>()`.
  template <Element T = double>
  T item() const {
    return array_.item<T>();
  }
  template <class T>
  T item() const = delete;  // elements are float, double, bool or integers
  /// A copy of all elements, row-major, from any layout; throws if an element does not fit in a T.
  template <Element T>
  std::vector<T> to_vector() const;
  template <class T>
  std::vector<T> to_vector() const = delete;  // elements are float, double, bool or integers
  /// Elements of a contiguous tensor in place, row-major: `for (float v : x.span<float>())`.
  template <Stored T>
  std::span<const T> span() const& {
    expect_elements("span", dtype_of<T>);
    return {array_.data<T>(), static_cast<std::size_t>(numel())};
  }
  template <class T>
  std::span<const T> span() const& = delete;  // tensors hold float, double, int64_t, bool: see to_vector
  template <class T>
  std::span<const T> span() const&& = delete;  // the numbers go with the temporary: name the tensor first
  /// The same for writing; taking the span counts as an in-place write, so take a new one after each forward
  /// pass.
  template <Stored T>
  std::span<T> mutable_span() const& {
    expect_elements("mutable_span", dtype_of<T>);
    expect_writable("mutable_span");
    array_.storage().bump_version();
    return {array_.mutable_data<T>(), static_cast<std::size_t>(numel())};
  }
  template <class T>
  std::span<T> mutable_span() const& = delete;  // tensors hold float, double, int64_t and bool
  template <class T>
  std::span<T> mutable_span() const&& = delete;  // the numbers go with the temporary: name the tensor first

  // --- in-place writes; a tensor that requires grad is written under NoGrad
  const Tensor& copy_(const Tensor& source) const& { return write(source, "copy_"); }  // broadcasts, converts
  Tensor copy_(const Tensor& source) const&& { return write(source, "copy_"); }
  const Tensor& fill_(Scalar value) const& { return write(value, "fill_"); }
  Tensor fill_(Scalar value) const&& { return write(value, "fill_"); }
  const Tensor& zero_() const& { return write(Scalar(0), "zero_"); }
  Tensor zero_() const&& { return write(Scalar(0), "zero_"); }
  // x += y writes x + y into x's memory, where views and other handles see it: `w -= w.grad() * lr` under
  // NoGrad, `x[0] *= 2`. x keeps its dtype and shape. On the tape, where nothing is written, `loss += l2` is
  // `loss = loss + l2`; if the difference would be visible (x is a leaf, or its memory is shared), an error.
  Tensor& operator+=(TensorOrNumber y) & { return update(Update::add, y); }
  Tensor& operator-=(TensorOrNumber y) & { return update(Update::sub, y); }
  Tensor& operator*=(TensorOrNumber y) & { return update(Update::mul, y); }
  Tensor& operator/=(TensorOrNumber y) & { return update(Update::div, y); }
  const Tensor& operator+=(TensorOrNumber y) const& { return update_in_place(Update::add, y); }
  const Tensor& operator-=(TensorOrNumber y) const& { return update_in_place(Update::sub, y); }
  const Tensor& operator*=(TensorOrNumber y) const& { return update_in_place(Update::mul, y); }
  const Tensor& operator/=(TensorOrNumber y) const& { return update_in_place(Update::div, y); }
  void operator+=(TensorOrNumber y) && { kept("operator+=").update_in_place(Update::add, y); }
  void operator-=(TensorOrNumber y) && { kept("operator-=").update_in_place(Update::sub, y); }
  void operator*=(TensorOrNumber y) && { kept("operator*=").update_in_place(Update::mul, y); }
  void operator/=(TensorOrNumber y) && { kept("operator/=").update_in_place(Update::div, y); }

  // --- autograd
  bool requires_grad() const { return node_ && node_->requires_grad; }
  /// Makes this a leaf that accumulates a gradient (or freezes it): call it before copying the handle.
  Tensor& requires_grad_(Flag on = true) &;
  Tensor requires_grad_(Flag on = true) && { return requires_grad_(on); }
  bool is_leaf() const { return !node_ || node_->is_leaf; }
  const NodePtr& node() const& { return node_; }
  NodePtr node() const&& { return node_; }
  /// The accumulated gradient; undefined before a backward pass.
  Tensor grad() const;
  void set_grad(const Tensor& gradient) const;
  void zero_grad() const;
  /// Adds d(this)/d(leaf) to the grad of every leaf this tensor, of one element, depends on. Several threads
  /// may do so at once, even with the same leaves: docs/tape.md says what they may share.
  void backward(Flag retain_graph = false) const;
  /// The same, seeded with a gradient of this tensor's shape.
  void backward(const Tensor& gradient, Flag retain_graph = false) const;
  // No create_graph: a leaf whose grad is on the tape would hold itself and never be freed.
  void backward(BackwardOptions) const = delete;  // backward(true); grad(y, {x}, {.create_graph = true})
  void backward(Flag, Flag) const = delete;       // grad(y, {x}, {.create_graph = true})
  void backward(const Tensor&, Flag, Flag) const = delete;  // grad(y, {x}, {.create_graph = true})
  /// The same values without a tape.
  Tensor detach() const { return Tensor(array_); }
  /// Keeps the gradient of an inner tensor too: read it with grad() after backward.
  const Tensor& retain_grad() const&;
  Tensor retain_grad() const&& { return retain_grad(); }
  /// Calls `hook` with this tensor's gradient, as an Array or a Tensor, during every backward from now on, on
  /// the thread that runs it. A returned value, of the gradient's shape and dtype, replaces the gradient for
  /// later hooks and the rest of the pass. A hook that returns nothing only observes.
  /// `h.on_grad([](const Tensor& dh) { return dh * 0.5; });`
  ///
  /// Writing into the gradient is an error. Hooks live as long as the tensor: capture by value; a hook that
  /// holds this tensor keeps it alive forever.
  template <class Hook>
  requires(HookOf<Hook, Array> || HookOf<Hook, Tensor>) const Tensor& on_grad(Hook hook) const& {
    add_hook(hook_of(std::make_shared<Hook>(std::move(hook))));
    return *this;
  }
  template <class Hook>
  requires(HookOf<Hook, Array> || HookOf<Hook, Tensor>) Tensor on_grad(Hook hook)
  const&& { return on_grad(std::move(hook)); }
  template <class Hook>
  void on_grad(Hook hook) const& = delete;  // a hook gets the gradient, and returns nothing or another one

  // --- views and indexing
  Tensor operator[](Int index) const& { return select(0, index); }
  /// A mask (bool) with the shape of the first axes selects where it is true, in order: [count, other
  /// axes...]. Indices (i64; negative ones count from the end) select along the first axis: [their shape...,
  /// other axes...]. A copy, but direct assignment writes to this tensor: `x[x < 0] = 0.0`, `x[ids] = rows`.
  Picked operator[](const Tensor& index) const&;
  // A part of a temporary: writing to it throws if nothing else holds the values, as in
  // `x.t().flatten()[0] = 1.0`, which may be part of a copy.
  Tensor operator[](Int index) && { return std::move(*this).select(0, index); }
  Picked operator[](const Tensor& index) &&;
  Picked operator[](std::initializer_list<Int>) const = delete;  // x[0][1]; rows: x[tensor({0, 1})]
  void begin() const = delete;                                   // for (const Tensor& row : unbind(x))
  void end() const = delete;                                     // for (const Tensor& row : unbind(x))
  Tensor select(Int axis, Int index) const&;
  Tensor select(Int axis, Int index) &&;
  Tensor slice(Int axis, Int start, std::optional<Int> stop = {}, Int step = 1) const&;
  Tensor slice(Int axis, Int start, std::optional<Int> stop = {}, Int step = 1) &&;
  Tensor unfold(Int axis, Int size, Int step = 1) const;
  Tensor reshape(const Shape& shape) const;
  Tensor reshape(Integer auto, Integer auto...) const = delete;  // in braces: x.reshape({3, 4})
  Tensor view(const Shape& shape) const;
  Tensor view(Integer auto, Integer auto...) const = delete;  // in braces: x.view({3, 4})
  Tensor permute(const Dims& axes) const;
  Tensor permute(Integer auto, Integer auto...) const = delete;  // in braces: x.permute({2, 0, 1})
  Tensor transpose(Int a, Int b) const;
  Tensor t() const;  // a matrix transposed
  Tensor squeeze() const;
  Tensor squeeze(Int axis) const;
  Tensor unsqueeze(Int axis) const;
  Tensor expand(const Shape& shape) const;
  Tensor expand(Integer auto, Integer auto...) const = delete;  // in braces: x.expand({2, -1})
  Tensor repeat(const Dims& counts) const;
  Tensor repeat(Integer auto, Integer auto...) const = delete;  // in braces: x.repeat({2, 3})
  Tensor flatten(Int start = 0, Int end = -1) const;
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor to(DType dtype) const;

  // --- reductions: no axes means all of them
  Tensor sum(const Axes& axes = {}, Flag keepdim = false) const;
  Tensor mean(const Axes& axes = {}, Flag keepdim = false) const;
  Tensor var(const Axes& axes = {}, const VarOptions& options = {}) const;
  Tensor var(const Axes&, bool, bool = true) const = delete;  // say which: x.var(-1, {.unbiased = false})
  Tensor std(const Axes& axes = {}, const VarOptions& options = {}) const;
  Tensor std(const Axes&, bool, bool = true) const = delete;  // say which: x.std(-1, {.unbiased = false})
  Tensor prod(const Axes& axes = {}, Flag keepdim = false) const;
  Tensor max(const Axes& axes = {}, Flag keepdim = false) const;
  Tensor min(const Axes& axes = {}, Flag keepdim = false) const;
  std::pair<Tensor, Tensor> max_with_indices(Int axis, Flag keepdim = false) const;
  std::pair<Tensor, Tensor> min_with_indices(Int axis, Flag keepdim = false) const;
  Tensor argmax(std::optional<Int> axis = {}, Flag keepdim = false) const;
  Tensor argmin(std::optional<Int> axis = {}, Flag keepdim = false) const;
  Tensor argmax(BoolOrFloat auto, Flag = false) const = delete;  // the axis is an integer: x.argmax(-1, true)
  Tensor argmin(BoolOrFloat auto, Flag = false) const = delete;  // the axis is an integer: x.argmin(-1, true)
  Tensor norm(Scalar p = 2, const Axes& axes = {}, Flag keepdim = false) const;
  Tensor norm(std::initializer_list<Int>, Flag = false) const = delete;  // axes come second: x.norm(2, axes)
  explicit operator bool() const = delete;  // which element? (a == b).all(); of one number x.item() != 0
  bool all() const;                         // every element non-zero
  bool any() const;                         // some element non-zero
  Tensor all(const Axes& axes, Flag keepdim = false) const;
  Tensor any(const Axes& axes, Flag keepdim = false) const;

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
  Tensor clamp(std::optional<Scalar> low, std::optional<Scalar> high = {}) const;
  Tensor sign() const;
  Tensor floor() const;
  Tensor ceil() const;
  Tensor round() const;
  Tensor isnan() const;
  Tensor isinf() const;
  Tensor isfinite() const;
  Tensor matmul(const Tensor& other) const;
  Tensor softmax(Int axis) const;

 private:
  friend class Picked;
  void expect_elements(const char* op, DType dtype) const;
  void expect_writable(const char* op) const;
  void add_hook(GradHook hook) const;
  template <class Hook>
  static GradHook hook_of(const std::shared_ptr<Hook>& hook) {
    GradHook result;
    if constexpr (HookOf<Hook, Array>)
      result.plain = [hook](const Array& g) { return detail::array_of(called(*hook, g)); };
    else
      result.plain = [hook](const Array& g) { return detail::array_of(called(*hook, Tensor(g))); };
    if constexpr (std::invocable<Hook&, const Tensor&>)  // an Array it returns would be off the tape
      if constexpr (std::is_same_v<decltype(called(*hook, Tensor())), Tensor>)
        result.taped = [hook](const Tensor& g) { return called(*hook, g); };
    return result;
  }
  /// What the hook returns, an Array or a Tensor; undefined if nothing.
  template <class Hook, class Gradient>
  static auto called(Hook& hook, const Gradient& gradient) {
    using Result = std::invoke_result_t<Hook&, const Gradient&>;
    if constexpr (std::is_void_v<Result>)
      return hook(gradient), Gradient();
    else if constexpr (std::is_convertible_v<Result, Array>)
      return Array(hook(gradient));
    else
      return Tensor(static_cast<const Tensor&>(hook(gradient)));
  }
  const Tensor& kept(const char* op) const;
  enum class Update { add, sub, mul, div };
  Tensor& update(Update kind, const TensorOrNumber& y);
  const Tensor& update_in_place(Update kind, const TensorOrNumber& y) const;
  const Tensor& write(const Tensor& source, const char* op) const;
  const Tensor& write(Scalar value, const char* op) const;

  Array array_;  // not a pair: auto [values, indices] = x.max_with_indices(1)
  NodePtr node_;
};

namespace detail {
inline const Array& array_of(const Tensor& x) { return x.array(); }
}  // namespace detail

/// The result of x[mask] and x[ids]. Store it in a Tensor: `Tensor y = x[mask]`.
class Picked : public Tensor {
 public:
  Picked(const Picked&) = delete;
  // These write into x: values are broadcast and converted; the last of repeated indices wins.
  void operator=(const Tensor& values) && { put(values); }
  void operator=(const Picked& values) && { put(values); }
  void operator=(Scalar value) && { put(value); }
  template <class Value>
  void operator+=(const Value& value) && {
    put(*this + value);
  }
  template <class Value>
  void operator-=(const Value& value) && {
    put(*this - value);
  }
  template <class Value>
  void operator*=(const Value& value) && {
    put(*this * value);
  }
  template <class Value>
  void operator/=(const Value& value) && {
    put(*this / value);
  }
  void operator=(const Tensor& values) & = delete;  // give it a type: Tensor y = x[mask]
  void operator=(const Picked& values) & = delete;  // give it a type: Tensor y = x[mask]
  // Read-only: a write to x[ids][0] would be lost, since x[ids] is a copy.
  const Tensor operator[](Int index) const { return select(0, index); }
  const Picked operator[](const Tensor& index) const { return Tensor::operator[](index); }

 private:
  friend class Tensor;
  Picked(Tensor values, const Tensor& from, Array rows, int axes);
  void put(const Tensor& values) const;
  void put(Scalar value) const;
  void put_rows() const;

  Tensor from_;  // x
  Array rows_;   // which (i64) of x with its first axes_ axes flattened
  int axes_;
};

// --- operators; a number takes the tensor's dtype, shapes broadcast
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, Scalar b);
Tensor operator-(const Tensor& a, Scalar b);
Tensor operator*(const Tensor& a, Scalar b);
Tensor operator/(const Tensor& a, Scalar b);
Tensor operator+(Scalar a, const Tensor& b);
Tensor operator-(Scalar a, const Tensor& b);
Tensor operator*(Scalar a, const Tensor& b);
Tensor operator/(Scalar a, const Tensor& b);
Tensor operator%(const Tensor& a, const Tensor& b);  // remainder(a, b): with b's sign
Tensor operator%(const Tensor& a, Scalar b);
Tensor operator-(const Tensor& x);
Tensor operator!(const Tensor& x);  // logical not
// Comparisons give bool tensors.
Tensor operator==(const Tensor& a, const Tensor& b);
Tensor operator!=(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator==(const Tensor& a, Scalar b);
Tensor operator!=(const Tensor& a, Scalar b);
Tensor operator<(const Tensor& a, Scalar b);
Tensor operator<=(const Tensor& a, Scalar b);
Tensor operator>(const Tensor& a, Scalar b);
Tensor operator>=(const Tensor& a, Scalar b);
Tensor operator<(Scalar, const Tensor&) = delete;    // x > 0; between: (x > 0) & (x < 1)
Tensor operator<=(Scalar, const Tensor&) = delete;   // x >= 0; between: (x >= 0) & (x <= 1)
Tensor operator>(Scalar, const Tensor&) = delete;    // x < 0
Tensor operator>=(Scalar, const Tensor&) = delete;   // x <= 0
Tensor operator&(const Tensor& a, const Tensor& b);  // logical and
Tensor operator|(const Tensor& a, const Tensor& b);  // logical or

/// The values in PyTorch's layout: "tensor([[1., 2.],\n        [3., 4.]])".
std::string to_string(const Tensor& x);
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace gradus

#include "gradus/core/creation.h"  // they belong together
