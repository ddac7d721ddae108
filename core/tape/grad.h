#pragma once
// grad: gradients as values.

#include <vector>

#include "gradus/core/list.h"
#include "gradus/core/tensor.h"

namespace gradus {

struct GradOptions {
  Tensor grad_output = {};    // of output's shape; may be left out where output has one element
  bool retain_graph = false;  // keep the tape for another pass
  bool allow_unused = false;  // an input that output was not made from gives an undefined tensor
};

/// d(output)/d(input) for every input, leaf or inner tensor, each of its input's shape. Adds to no tensor's
/// grad, and goes only where the tape leads to the inputs; hooks on the way run. Throws when an input does
/// not require grad or was not used to make output. The gradients are constants: there are no second
/// derivatives. `const TensorList d = grad(loss, {w, b});  // loss.backward() would fill w.grad()
/// and b.grad()`
TensorList grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options = {});

}  // namespace gradus
