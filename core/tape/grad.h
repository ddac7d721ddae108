#pragma once
// grad: gradients as values.

#include <concepts>
#include <vector>

#include "gradus/core/list.h"
#include "gradus/core/tensor.h"

namespace gradus {

struct GradOptions {
  Tensor grad_output = {};    // of output's shape; optional if output has one element
  bool retain_graph = false;  // keep the tape for another pass
  bool create_graph = false;  // the gradients are on the tape and have gradients themselves; keeps the tape
  bool allow_unused = false;  // an input not used for output gives an undefined tensor
};

/// d(output)/d(input) for every input, leaf or inner tensor, each of its input's shape and in memory of its
/// own. Adds to no tensor's grad and visits only the part of the tape that leads to the inputs; hooks there
/// run. Throws if an input does not require grad or was not used for output, or if an earlier pass freed a
/// node that may lead to one.
/// `const TensorList d = grad(loss, {w, b});  // loss.backward() would fill w.grad() and b.grad()`
///
/// The gradients are constants unless create_graph is set: then ops that record themselves compute them, and
/// grad or backward can differentiate them again, any number of times. One that is made of constants alone,
/// as that of 3 x, is a constant all the same. An op without a second derivative throws, naming itself.
/// `const Tensor g = grad(loss, {x}, {.create_graph = true})[0]; (loss + (g.norm() - 1).square()).backward();
/// // a gradient penalty`
TensorList grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options = {});
template <std::same_as<Tensor> T>
TensorList grad(const Tensor&, const T&, const GradOptions& = {}) = delete;  // in braces: grad(y, {x})[0]
template <std::same_as<bool> T>
TensorList grad(const Tensor&, const std::vector<Tensor>&, T) = delete;  // {.create_graph = true}
template <std::same_as<Tensor> T>
TensorList grad(const Tensor&, const std::vector<Tensor>&, const T&) = delete;  // {.grad_output = v}

}  // namespace gradus
