#pragma once
// checkpoint: less memory for more time (Chen et al. 2016, "Training deep nets with sublinear memory cost").
// The name is PyTorch's; files of a training run are in core/io/checkpoint_files.h.

#include <concepts>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

/// What checkpoint() runs, and runs again in backward.
using CheckpointFunction = std::function<Tensor(std::span<const Tensor> inputs)>;

/// f(inputs...) keeping none of what its ops save for backward: only the inputs stay, and backward runs f
/// again. Values and gradients are those without checkpoint bit for bit, also of parameters and other tensors
/// f uses; dropout draws the same numbers. Costs one more forward pass of f. Worth it where f saves much more
/// than its inputs: a block of a deep model.
///
/// f is called again after this call has returned: capture by value. It must compute the same both times:
/// backward throws when it draws other random numbers or another result (of which it compares 64 elements),
/// as after a change from train() to eval(). A generator other than the thread's default must start anew in
/// each call of f; what f counts or averages besides, as BatchNorm its running statistics, it leaves be in
/// the second run: see recomputing(). Throws when f returns an undefined tensor.
///
///     Tensor y = checkpoint([block](const Tensor& x) { return block(x); }, x);
Tensor checkpoint(const CheckpointFunction& f, const std::vector<Tensor>& inputs);

template <std::derived_from<Tensor>... Inputs, std::invocable<const Inputs&...> F>
Tensor checkpoint(F f, const Inputs&... inputs) {
  const auto call = [f = std::move(f)](std::span<const Tensor> x) -> Tensor {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return f(x[i]...); }
    (std::index_sequence_for<Inputs...>());
  };
  return checkpoint(CheckpointFunction(call), std::vector<Tensor>{inputs...});
}

/// Whether this thread runs a checkpoint's function the second time, for its gradients: what a module counts
/// or averages has been taken in then. `if (is_training() && !recomputing()) update(mean);`
bool recomputing();

}  // namespace gradus
