#pragma once
// What a batch norm remembers.

#include "gradus/core/tensor.h"

struct Running {
  gradus::Tensor mean, var;  // [C]
};
