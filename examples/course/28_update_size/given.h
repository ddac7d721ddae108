#pragma once
// DeepNorm's two constants.

struct Constants {
  double alpha = 1, beta = 1;
};
