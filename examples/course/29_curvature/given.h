#pragma once
// A loss of one tensor of weights.

#include <functional>

#include "gradus/core/tensor.h"

/// Returns a tensor of one element.
using Loss = std::function<gradus::Tensor(const gradus::Tensor& w)>;
