#pragma once
// grad: gradients as values.

#include <vector>

#include "gradus/core/list.h"
#include "gradus/core/tensor.h"

namespace gradus {

struct GradOptions {
  Tensor grad_output = {};    // of output's shape; optional if output has one element
  bool retain_graph = false;  // keep the tape for another pass
  bool allow_unused = false;  // an input not used for output gives an undefined tensor
};

/// d(output)/d(input) for every input, leaf or inner tensor, each of its input's shape. Adds to no tensor's
/// grad and visits only the part of the tape that leads to the inputs; hooks there run. Throws if an input
/// does not require grad or was not used for output. The gradients are constants: there are no second
/// derivatives. `const TensorList d = grad(loss, {w, b});  // loss.backward() would fill w.grad()
/// and b.grad()`
TensorList grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options = {});

}  // namespace gradus
