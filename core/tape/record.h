#pragma once
// record() puts an op on the tape. Every differentiable op ends with it.

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "gradus/core/tape/autograd.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace detail {
template <class F>
class OpNode final : public Node {
 public:
  explicit OpNode(F&& f) : f_(std::move(f)) {}
  Grads backward(const Array& dy, Needs needs) override { return (*f_)(dy, needs); }
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
template <class F>
Tensor record(const char* op, Array out, std::span<const Tensor* const> inputs, F backward) {
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
