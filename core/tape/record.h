#pragma once
// record() puts an op on the tape. Every differentiable op ends with it.

#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/core/tape/autograd.h"
#include "gradus/core/tensor.h"

namespace gradus {

/// Whether a backward that is written once, for Arrays and for Tensors, runs for Tensors.
template <class V>
inline constexpr bool kTaped = std::is_same_v<V, Tensor>;

/// What such a backward returns: one gradient per input, undefined for one that needs none.
template <class V>
using GradsOf = std::conditional_t<kTaped<V>, std::vector<Tensor>, Grads>;

/// The second argument of a backward on Tensors: which inputs need a gradient, and the saved arrays as
/// tensors on the tape.
class Taped : public Needs {
 public:
  explicit Taped(const Node& node) : Needs(node) {}
  /// Input i, from its saved values.
  Tensor in(std::size_t i, const Saved& saved) const { return in(i, saved.get()); }
  Tensor in(std::size_t i, const Array& values) const;
  /// The op's output, from its saved values.
  Tensor out(const Saved& saved) const { return out(saved.get()); }
  Tensor out(const Array& values) const;
};

/// The same for a backward on Arrays: what was saved, as it is.
class Plain : public Needs {
 public:
  Plain(Needs needs) : Needs(needs) {}
  /// Input i, as saved.
  const Array& in(std::size_t, const Saved& saved) const { return saved.get(); }
  /// The op's output, as saved.
  const Array& out(const Saved& saved) const { return saved.get(); }
};

namespace detail {
template <class F>
class OpNode final : public Node {
 public:
  explicit OpNode(F&& f) : f_(std::move(f)) {}
  Grads backward(const Array& dy, Needs needs) override { return (*f_)(dy, Plain(needs)); }
  std::vector<Tensor> derivative(const Tensor& dy, Needs needs) override {
    if constexpr (std::is_invocable_r_v<std::vector<Tensor>, F&, const Tensor&, Taped>)
      return (*f_)(dy, Taped(*this));
    else
      return Node::derivative(dy, needs);
  }
  void free_saved() override { f_.reset(); }

 private:
  std::optional<F> f_;
};
/// True when an op on these inputs must be recorded.
bool wants_tape(std::span<const Tensor* const> inputs);
Tensor untaped(const char* op, Array&& out, std::span<const Tensor* const> inputs);
Tensor attach(const char* op, Array&& out, std::span<const Tensor* const> inputs, Node* node);
}  // namespace detail

/// Ends every differentiable op: wraps `out` as a Tensor and, when an input wants a gradient, puts `backward`
/// (dy, needs) -> Grads on the tape. Capture data (Array, Saved, numbers), never a Tensor.
/// `return record("neg", y, {&x}, [](const Array& dy, Needs) -> Grads { return {negative(dy)}; });`
///
/// For second derivatives (grad with create_graph) the closure is also called with Tensors. It is then
/// generic over V; docs/your_own_op.md shows a whole one:
///
///     return record("exp", y, {&x}, [y = Saved(y)]<class V>(const V& dy, auto of) -> GradsOf<V> {
///       if constexpr (kTaped<V>) return {dy * of.out(y)};
///       else return {(Tensor(dy) * Tensor(*y)).array()};
///     });
///
/// A closure for Arrays alone makes an op without second derivatives.
template <class F>
Tensor record(const char* op, Array out, std::span<const Tensor* const> inputs, F backward) {
  static_assert(std::is_invocable_r_v<Grads, F&, const Array&, Plain>,
                "backward: (const Array& dy, Needs needs) -> Grads, or <class V>(const V& dy, auto of) -> "
                "GradsOf<V>");
  if (!detail::wants_tape(inputs)) return detail::untaped(op, std::move(out), inputs);
  return detail::attach(op, std::move(out), inputs, new detail::OpNode<F>(std::move(backward)));
}
template <class F>
Tensor record(const char* op, Array out, std::initializer_list<const Tensor*> inputs, F backward) {
  return record(op, std::move(out), std::span(inputs.begin(), inputs.size()), std::move(backward));
}
/// Ends an op that has no gradient, such as a comparison.
inline Tensor record(const char* op, Array out, std::initializer_list<const Tensor*> inputs) {
  return detail::untaped(op, std::move(out), std::span(inputs.begin(), inputs.size()));
}

}  // namespace gradus
