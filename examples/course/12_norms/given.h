#pragma once
// The running statistics of a batch norm.

#include "gradus/core/tensor.h"

struct Running {
  gradus::Tensor mean, var;  // [C]
};
