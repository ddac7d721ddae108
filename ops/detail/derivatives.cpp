#include "gradus/ops/detail/derivatives.h"

#include "gradus/core/creation.h"
#include "gradus/core/detail/format.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/ops.h"

namespace gradus::detail {

namespace {

using Tensors = std::vector<Tensor>;

/// An input for a function that takes it: a leaf or, for create_graph, a place on the tape of the original.
Tensor own_input(const Tensor& x, bool create_graph) {
  if (create_graph && x.requires_grad()) return x.reshape(x.shape());
  return x.detach().requires_grad_();
}

}  // namespace

RecordedCall::RecordedCall(const char* by, const char* what, const TensorFunction& f, const Tensors& given,
                           bool taped)
    : caller(by), takes_inputs(f.takes_inputs()), create_graph(taped) {
  check(!given.empty(), "{}: got no {}s{}", caller, what, takes_inputs ? "" : ": pass model.parameters()");
  const EnableGrad guard;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor& x = given[i];
    check(x.defined(), "{}: {} {} is an undefined tensor", caller, what, i);
    check(is_floating(x.dtype()), "{}: {} {} {} is {}, which has no derivative: leave it to the function",
          caller, what, i, x.shape(), x.dtype());
    check(takes_inputs || x.requires_grad(),
          "{}: {} {} {} does not require grad: call requires_grad_() on it before the function uses it",
          caller, what, i, x.shape());
    inputs.push_back(takes_inputs ? own_input(x, create_graph) : x);
  }
  outputs = f(inputs, caller);
  check(!outputs.empty(), "{}: the function returned no tensor", caller);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check(outputs[i].defined(), "{}: output {} is an undefined tensor", caller, i);
    check(is_floating(outputs[i].dtype()), "{}: output {} {} is {}, which has no derivative", caller, i,
          outputs[i].shape(), outputs[i].dtype());
  }
}

const Tensor& RecordedCall::loss() const {
  check(outputs.size() == 1 && outputs[0].numel() == 1, "{}: expects a loss of one element, got {}", caller,
        outputs.size() == 1 ? fmt::format("shape {}", outputs[0].shape())
                            : fmt::format("{} tensors", outputs.size()));
  return outputs[0];
}

Tensors RecordedCall::vectors(const Tensors& v, const Tensors& like, const char* whose) const {
  if (v.empty() && like.size() == 1 && like[0].numel() == 1) return {ones_like(like[0])};
  check(v.size() == like.size(), "{}: expects one v for each of the {} {}s, got {}", caller, like.size(),
        whose, v.size());
  Tensors vectors;
  for (std::size_t i = 0; i < v.size(); ++i) {
    check(v[i].defined(), "{}: v {} is an undefined tensor", caller, i);
    check(v[i].shape() == like[i].shape() && v[i].dtype() == like[i].dtype(),
          "{}: expects v {} of {} {}, as its {} is, got {} {}", caller, i, like[i].dtype(), like[i].shape(),
          whose, v[i].dtype(), v[i].shape());
    // It could depend on the inputs themselves, and only a function that takes its inputs has others.
    check(takes_inputs || !create_graph || !v[i].requires_grad(),
          "{}: v {} requires grad: with create_graph the function must take its inputs", caller, i);
    vectors.push_back(create_graph ? v[i] : v[i].detach());
  }
  return vectors;
}

Tensors pull_back(const Tensors& ys, const Tensors& vs, const Tensors& xs, const PullBackOptions& options) {
  const EnableGrad guard;
  Tensor from, seed;  // of one y itself, of several <y, v>
  std::size_t taped = 0;
  for (std::size_t i = 0; i < ys.size(); ++i) {
    if (!ys[i].requires_grad()) continue;
    ++taped;
    from = ys[i];
    seed = vs[i];
  }
  if (taped > 1) {
    from = seed = Tensor();
    for (std::size_t i = 0; i < ys.size(); ++i) {
      if (!ys[i].requires_grad()) continue;
      const Tensor term = (ys[i] * vs[i]).sum();
      from = from.defined() ? from + term.to(from.dtype()) : term;
    }
  }
  Tensors found(xs.size());
  if (from.defined())
    found = grad(from, xs,
                 {.grad_output = seed,
                  .retain_graph = options.retain_graph,
                  .create_graph = options.create_graph,
                  .allow_unused = true});
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (!found[i].defined()) found[i] = zeros_like(xs[i]);
  return found;
}

}  // namespace gradus::detail
