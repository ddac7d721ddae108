#include "gradus/core/tensor.h"

#include "gradus/core/format.h"

namespace gradus {

namespace {
class Leaf final : public Node {
 public:
  Leaf() { is_leaf = true; }
};
}  // namespace

void Tensor::expect_contiguous(const char* what) const {
  check(defined(), "{}: the tensor is undefined", what);
  check(is_contiguous(),
        "{}: expects a contiguous tensor, got shape {} with strides {}: call contiguous() first", what,
        shape(), strides());
}

void Tensor::expect_writable(const char* what) const {
  check(defined(), "{}: the tensor is undefined", what);
  check(!(requires_grad() && grad_enabled()),
        "{}: the tensor {} requires grad, and an in-place write is not recorded: write it under NoGrad", what,
        shape());
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor dense(array_.to(dtype_of<T>).contiguous());
  std::vector<T> values(static_cast<std::size_t>(numel()));
  const T* const data = dense.array_.data<T>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = data[i];
  return values;
}
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<std::int64_t> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;

const Tensor& Tensor::copy_(const Tensor& source) const {
  expect_writable("copy_");
  check(!(source.requires_grad() && grad_enabled()),
        "copy_: the source {} requires grad, and an in-place write is not recorded: write source.detach(), "
        "or build the "
        "tensor with cat, stack or where",
        source.shape());
  array_.copy_(source.array_);
  return *this;
}

const Tensor& Tensor::fill_(double value) const {
  expect_writable("fill_");
  array_.fill_(value);
  return *this;
}

Tensor& Tensor::requires_grad_(bool on) {
  check(defined(), "requires_grad_: the tensor is undefined");
  check(is_floating(dtype()), "requires_grad_: expects f32 or f64, got {}: convert with .to(f32)", dtype());
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
  check(node_ && is_leaf(), "set_grad: expects a leaf that requires grad");
  if (gradient.defined())
    check(gradient.shape() == shape() && gradient.dtype() == dtype(), "set_grad: expects {} {}, got {} {}",
          dtype(), shape(), gradient.dtype(), gradient.shape());
  node_->grad = gradient.array_;
}

void Tensor::zero_grad() const {
  if (node_) node_->grad = Array();
}

void Tensor::backward(bool retain_graph) const {
  check(defined(), "backward: the tensor is undefined");
  check(numel() == 1,
        "backward: expects one element, got shape {}: reduce it with sum() or mean(), or pass a gradient",
        shape());
  run_backward(*this, Array::full(shape(), 1, dtype()), retain_graph);
}

void Tensor::backward(const Tensor& gradient, bool retain_graph) const {
  check(defined() && gradient.defined(), "backward: expects a defined tensor and gradient");
  run_backward(*this, gradient.array(), retain_graph);
}

const Tensor& Tensor::retain_grad() const {
  check(requires_grad(), "retain_grad: the tensor does not require grad");
  node_->retain_grad = true;
  return *this;
}

const Tensor& Tensor::on_grad(GradHook hook) const {
  check(requires_grad(), "on_grad: the tensor does not require grad");
  node_->add_hook(std::move(hook));
  return *this;
}

}  // namespace gradus
