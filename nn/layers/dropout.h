#pragma once
#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// In training, zeroes each element with probability p and scales the others by 1 / (1 - p); in eval mode, x
/// itself (Srivastava et al. 2014). Draws from the thread's default generator.
struct Dropout : Module {
  explicit Dropout(double p = 0.5);
  Tensor operator()(const Tensor& x) const;

 private:
  double p_;
};

}  // namespace gradus::nn
