#pragma once
// Shared by activations.cpp and linear, which can end with an activation.

#include "gradus/ops/kernels/kernels.h"
#include "gradus/ops/ops.h"

namespace gradus {

/// An activation and its derivative, computed from its output (the input need not be kept) or its input.
struct ActivationRule {
  const char* op;
  kernels::Unary f;
  kernels::UnaryGrad df;
  bool from_output;
};

ActivationRule rule_of(Activation activation);

/// Puts y = f(x), computed already, on the tape.
Tensor record_activation(const ActivationRule& rule, const Tensor& x, const Array& y);

}  // namespace gradus
