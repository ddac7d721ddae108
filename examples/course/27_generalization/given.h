#pragma once
// Adam's state for a parameter, a training run, and windows of a text.

#include <functional>
#include <vector>

#include "gradus/core/tensor.h"

struct Moments {
  gradus::Tensor m, v;  // averages of the gradient and of its square
};

struct Run {
  gradus::Tensor w;                         // the weights, which epoch() changes in place
  std::function<void()> epoch;              // trains for one epoch
  std::function<double()> validation_loss;  // of the weights as they are
};

struct Split {
  std::vector<int> train, valid;  // where the windows start, in ascending order
};
