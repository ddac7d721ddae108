#pragma once
// Adam's state for a parameter.

#include "gradus/core/tensor.h"

struct Moments {
  gradus::Tensor m, v;  // averages of the gradient and of its square
};
