#pragma once
// checkpoint: trades time for memory (Chen et al. 2016, "Training deep nets with sublinear memory cost").
// The name is PyTorch's; for checkpoint files see core/io/checkpoint_files.h.

#include <concepts>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

/// The function that checkpoint() runs, and runs again in backward.
using CheckpointFunction = std::function<Tensor(std::span<const Tensor> inputs)>;

/// f(inputs...) without keeping what its ops save for backward: only the inputs are kept, and backward runs f
/// again. Values and gradients are bit-identical to those without checkpoint, also for parameters and other
/// tensors f uses; dropout draws the same mask. Costs one more forward pass of f. Worth it if f saves much
/// more than its inputs, like a block of a deep model.
///
/// f is called again after this call has returned: capture by value. It must compute the same both times:
/// backward throws if random draws or the result differ (it compares 64 elements), as after a change from
/// train() to eval(). A generator other than the thread's default must restart in each call of f; counters
/// and averages that f updates, such as BatchNorm's running statistics, must not change in the second run:
/// see recomputing(). Throws when f returns an undefined tensor.
///
/// Gradients on the tape, from grad(..., {.create_graph = true}), reach f's inputs and all it uses, and have
/// gradients themselves, equal to those without checkpoint to rounding, within an Autocast to bf16's; they
/// keep what f's ops saved in the second run.
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

/// Whether this thread is running a checkpoint's function the second time, for its gradients: a module's
/// counters and averages are already updated then. `if (is_training() && !recomputing()) update(mean);`
bool recomputing();

}  // namespace gradus
