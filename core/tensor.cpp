#include "gradus/core/tensor.h"

#include "gradus/core/array/detail/element.h"

namespace gradus {

namespace {
class Leaf final : public Node {
 public:
  Leaf() { is_leaf = true; }
};
}  // namespace

void Tensor::expect_elements(const char* op, DType dtype) const {
  array_.expect(op, dtype);
  check(is_contiguous(),
        "{}: expects a contiguous tensor, got shape {} with strides {}: call contiguous() first", op, shape(),
        strides());
}

void Tensor::expect_writable(const char* op) const {
  array_.expect_defined(op);
  if (!requires_grad() || !grad_enabled()) [[likely]]
    return;
  if (is_leaf())
    fail_with("{}: the tensor {} requires grad, and an in-place write is not recorded: write it under NoGrad",
              op, shape());
  fail_with(
      "{}: the tensor {} came from {} and needs its gradient, and an in-place write is not recorded: build "
      "the values with where, cat or stack, write into a detach().clone(), or write a parameter under NoGrad",
      op, shape(), node_->op);
}

/// Itself; throws if a write to this temporary would have no visible effect.
const Tensor& Tensor::kept(const char* op) const {
  if (defined() && array_.storage().unique())
    fail_with(
        "{}: nothing else holds the tensor {} that is written, so the values would be lost: ops, and "
        "reshape, flatten, contiguous and to where they must, give copies: write through view, select or "
        "slice",
        op, shape());
  return *this;
}

const Tensor& Tensor::write(const Tensor& source, const char* op) const {
  expect_writable(op);
  if (!source.defined()) fail_undefined(op, "the source");
  check(!(source.requires_grad() && grad_enabled()),
        "{}: the source {} requires grad, and an in-place write is not recorded: write source.detach(), or "
        "build the tensor with cat, stack or where",
        op, source.shape());
  array_.copy_(source.array_, op);
  return *this;
}

const Tensor& Tensor::write(Scalar value, const char* op) const {
  expect_writable(op);
  array_.fill_(value, op);
  return *this;
}

Tensor& Tensor::requires_grad_(Flag on) & {
  array_.expect_defined("requires_grad_");
  if (on || !is_half(dtype())) check_floating("requires_grad_", array_);
  check(is_leaf(), "requires_grad_: expects a leaf, got the output of {}: use detach()",
        node_ ? node_->op : "");
  if (!node_ && on) {
    node_ = NodePtr(new Leaf);
    node_->shape = shape();
    node_->dtype = dtype();
  }
  if (node_) node_->requires_grad = on;
  return *this;
}

Tensor Tensor::grad() const { return node_ && node_->grad.defined() ? Tensor(node_->grad) : Tensor(); }

void Tensor::set_grad(const Tensor& gradient) const {
  array_.expect_defined("set_grad");
  check(!is_half(dtype()), "set_grad: the tensor is {} {}, and tensors of 16 bits have no gradient", dtype(),
        shape());
  check(is_leaf(),
        "set_grad: expects a leaf, got the output of {}: set the gradient of what it was made from",
        node_ ? node_->op : "");
  check(static_cast<bool>(node_),
        "set_grad: the tensor {} does not require grad: call requires_grad_() first", shape());
  if (gradient.defined())
    check(gradient.shape() == shape() && gradient.dtype() == dtype(), "set_grad: expects {} {}, got {} {}",
          dtype(), shape(), gradient.dtype(), gradient.shape());
  // A grad may be written to, a gradient on the tape may not.
  node_->grad = gradient.requires_grad() ? gradient.array_.clone() : gradient.array_;
}

void Tensor::zero_grad() const {
  if (node_) node_->grad = Array();
}

void Tensor::backward(Flag retain_graph) const {
  array_.expect_defined("backward");
  check(numel() == 1,
        "backward: expects one element, got shape {}: reduce it with sum() or mean(), or pass a gradient",
        shape());
  run_backward(*this, Array::full(shape(), 1, dtype()), retain_graph);
}

void Tensor::backward(const Tensor& gradient, Flag retain_graph) const {
  array_.expect_defined("backward");
  if (!gradient.defined()) fail_undefined("backward", "the gradient");
  run_backward(*this, gradient.array(), retain_graph);
}

const Tensor& Tensor::retain_grad() const& {
  array_.expect_defined("retain_grad");
  check(requires_grad(),
        "retain_grad: the tensor {} does not require grad: call requires_grad_() on what it is made from",
        shape());
  node_->retain_grad = true;
  return *this;
}

void Tensor::add_hook(GradHook hook) const {
  array_.expect_defined("on_grad");
  check(requires_grad(),
        "on_grad: the tensor {} does not require grad: call requires_grad_() on what it is made from",
        shape());
  node_->add_hook(std::move(hook));
}

}  // namespace gradus
