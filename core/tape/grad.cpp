#include "gradus/core/tape/grad.h"

#include <utility>

#include "gradus/core/detail/format.h"

namespace gradus {

namespace {
/// The gradient to begin with: the one given, or 1.
Tensor seed_of(const Tensor& output, const Tensor& given) {
  if (!given.defined()) {
    check(output.numel() == 1,
          "grad: expects an output of one element, got shape {}: reduce it with sum() or mean(), or give "
          "grad_output",
          output.shape());
    return Tensor(Array::full(output.shape(), 1, output.dtype()));
  }
  check(given.shape() == output.shape() && given.dtype() == output.dtype(),
        "grad: expects grad_output {} {}, as the output is, got {} {}", output.dtype(), output.shape(),
        given.dtype(), given.shape());
  return given;
}
}  // namespace

TensorList grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options) {
  if (!output.defined()) fail_undefined("grad", "the output");
  check(output.requires_grad(),
        "grad: the output {} does not require grad: no input did when it was computed, or NoGrad was on, "
        "or it is a gradient without create_graph, or a constant one",
        output.shape());
  check(!inputs.empty(), "grad: got no inputs: name the tensors whose gradients are wanted");
  const Tensor seed = seed_of(output, options.grad_output);
  std::vector<Node*> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i].defined(), "grad: input {} is an undefined tensor", i);
    check(inputs[i].requires_grad(),
          "grad: input {} {} does not require grad: call requires_grad_() on it before it is used", i,
          inputs[i].shape());
    wanted.push_back(inputs[i].node().get());
  }
  TensorList gradients;
  if (options.create_graph)
    gradients = run_backward_taped(wanted, output, seed);
  else
    for (Array& gradient : run_backward_to(wanted, output, seed.array(), options.retain_graph))
      gradients.emplace_back(std::move(gradient));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    check(gradients[i].defined() || options.allow_unused,
          "grad: input {} {} was not used to make the output, or no gradient flows to it: leave it out, "
          "set allow_unused for an undefined tensor in its place, or call requires_grad_() before it is used",
          i, inputs[i].shape());
  return gradients;
}

}  // namespace gradus
