#include "gradus/core/tape/grad.h"

#include "gradus/core/detail/format.h"

namespace gradus {

namespace {
/// The gradient to begin with: the one given, or 1.
Array seed_of(const Tensor& output, const Tensor& given) {
  if (!given.defined()) {
    check(output.numel() == 1,
          "grad: expects an output of one element, got shape {}: reduce it with sum() or mean(), or give "
          "grad_output",
          output.shape());
    return Array::full(output.shape(), 1, output.dtype());
  }
  check(given.shape() == output.shape() && given.dtype() == output.dtype(),
        "grad: expects grad_output {} {}, as the output is, got {} {}", output.dtype(), output.shape(),
        given.dtype(), given.shape());
  return given.array();
}
}  // namespace

TensorList grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options) {
  if (!output.defined()) fail_undefined("grad", "the output");
  check(output.requires_grad(),
        "grad: the output {} does not require grad: no input did when it was computed, or NoGrad was on",
        output.shape());
  check(!inputs.empty(), "grad: got no inputs: name the tensors whose gradients are wanted");
  const Array seed = seed_of(output, options.grad_output);
  std::vector<Node*> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i].defined(), "grad: input {} is an undefined tensor", i);
    check(inputs[i].requires_grad(),
          "grad: input {} {} does not require grad: call requires_grad_() on it before it is used", i,
          inputs[i].shape());
    wanted.push_back(inputs[i].node().get());
  }
  if (options.create_graph) {
    const Tensor from = options.grad_output.defined() ? options.grad_output : Tensor(seed);
    std::vector<Tensor> found = run_backward_taped(wanted, output, from);
    for (std::size_t i = 0; i < found.size(); ++i) {
      check(found[i].defined() || options.allow_unused, "grad: input {} {} was not used to make the output",
            i, inputs[i].shape());
      // A constant: nobody else's memory. (What is on the tape cannot be written.)
      if (found[i].defined() && !found[i].requires_grad() && !found[i].array().owns_exclusively())
        found[i] = found[i].clone();
    }
    return found;
  }
  std::vector<Array> found = run_backward_to(wanted, output, seed, options.retain_graph);
  TensorList gradients;
  for (std::size_t i = 0; i < found.size(); ++i) {
    check(found[i].defined() || options.allow_unused,
          "grad: input {} {} was not used to make the output, or no gradient flows to it: leave it out, or "
          "set allow_unused for an undefined tensor in its place",
          i, inputs[i].shape());
    gradients.emplace_back(std::move(found[i]));
  }
  return gradients;
}

}  // namespace gradus
