#pragma once
// Argument checks of cross_entropy, nll_loss and linear_cross_entropy.

#include <string>

#include "gradus/core/array/detail/element.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

/// The remedy for a target whose shape does not fit logits [..., V], where it can be guessed.
inline std::string target_remedy(const Shape& logits, const Shape& target) {
  Shape second_out = logits, one_more = logits;
  if (logits.size() > 2) second_out.erase(1);
  one_more[logits.size() - 1] = 1;
  if (target == logits) return ": for one-hot rows pass target.argmax(-1)";
  if (target == one_more) return ": drop its last axis with target.squeeze(-1)";
  if (logits.size() == 3 && target == second_out)
    return ": PyTorch's layout [B, V, T] becomes [B, T, V] with .transpose(1, 2)";
  if (logits.size() > 3 && target == second_out)
    return ": PyTorch's layout, classes second, becomes this one with .permute()";
  return "";
}

/// Throws unless the options fit logits [..., V].
inline void check_options(const char* op, const Shape& logits, DType dtype,
                          const CrossEntropyOptions& options) {
  check(options.label_smoothing >= 0 && options.label_smoothing <= 1,
        "{}: expects label_smoothing from 0 to 1, got {}", op, options.label_smoothing);
  const Tensor& weight = options.weight;
  if (!weight.defined()) return;
  check(weight.shape() == Shape{logits.back()} && weight.dtype() == dtype,
        "{}: expects class weights {} [{}], one for each class, got {} {}", op, dtype, logits.back(),
        weight.dtype(), weight.shape());
  check(!(weight.requires_grad() && grad_enabled()),
        "{}: the class weights {} require grad, and get none: pass weight.detach()", op, weight.shape());
}

/// Throws unless target and options fit logits (or log-probabilities: `name`) of this shape, [..., V].
inline void check_loss(const char* op, const char* name, const Shape& logits, DType dtype,
                       const Tensor& target, const CrossEntropyOptions& options) {
  if (!target.defined()) fail_undefined(op, "the target");
  check(is_floating(dtype) || !is_floating(target.dtype()),
        "{}: expects {} in f32 or f64 and then a target in i64, got {} {} and {} {}: are they swapped?", op,
        name, dtype, logits, target.dtype(), target.shape());
  check(!logits.empty(), "{}: expects {} [..., V], got {}", op, name, logits);
  Shape rows = logits;
  rows.erase(logits.size() - 1);
  check(target.dtype() == i64, "{}: expects an i64 target {} of class numbers, got {} {}{}", op, rows,
        target.dtype(), target.shape(),
        target.shape() == rows ? ": convert with .to(i64)" : target_remedy(logits, target.shape()));
  check(target.shape() == rows,
        "{}: {} {} and target {} do not match: expects a target {} (classes are the last axis){}", op, name,
        logits, target.shape(), rows, target_remedy(logits, target.shape()));
  check_options(op, logits, dtype, options);
}

}  // namespace gradus
