#pragma once
// Attention whose softmax runs over a chosen axis, right or wrong.

#include "gradus/nn/nn.h"
#include "lab/training/task.h"

namespace gradus::lab::attention {

enum class SoftmaxAxis {
  batch = 0,    // axis 0 of [B, H, Tq, Tk]
  queries = 2,  // axis 0 of [Tq, Tk]
  keys = 3      // the right one
};

/// The weights [B, H, T, T] of a block's heads for the input [B, T, C] of its attention: causal by scores of
/// -1e9, as in printed code.
Tensor weights_over(SoftmaxAxis axis, const nn::Module& block, const Tensor& input, std::int64_t heads);

/// Pre-LN with such attention.
nn::Placement pre_ln_over(SoftmaxAxis axis);

/// The loss, on these documents, of a reader who knows the recall language and sees all earlier characters: a
/// model below it has seen the future. For documents of 4 boxes with 6 things each.
double best_loss_on(const Batch& documents);

}  // namespace gradus::lab::attention
