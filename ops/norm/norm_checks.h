#pragma once
// Argument checks of layer_norm and rms_norm.

#include "gradus/core/tensor.h"

namespace gradus {

/// Throws unless x is f32 or f64, has a last axis to normalize over, and eps is not negative.
void check_norm(const char* op, const Tensor& x, double eps);
/// Throws unless the parameter is undefined or fits x's last axis.
void check_norm_parameter(const char* op, const char* name, const Tensor& parameter, const Tensor& x);

}  // namespace gradus
