#include "learn/learn.h"

// Batch norm and RMSNorm. About 14 lines.
//
//   batch norm, training:   y = (x - m) / sqrt(v + eps)      m, v [C]: mean and biased variance over the
//   batch (axis 0)
//                           running mean <- 0.9 running mean + 0.1 m
//                           running var  <- 0.9 running var  + 0.1 v N / (N - 1)          (unbiased: divided
//                           by N - 1)
//   batch norm, inference:  y = (x - running mean) / sqrt(running var + eps)              nothing is changed
//   RMSNorm:                y = x / sqrt(mean(x^2) + eps)    over the last axis; the mean of x stays in
//
//   struct Running { Tensor mean, var; };                    given in examples/course/12_norms/given.h
//
// The gradient goes through m, v and mean(x^2). Take only the values for the running statistics off the tape:
// detach().
//
// Forbidden: layer_norm, rms_norm, normalize, var, std and nn.

/// x [N, C].
Tensor batch_norm(const Tensor& x, Running& running, bool training, double eps) {
  return todo(x, running, training, eps);
}

/// x [..., C].
Tensor rms(const Tensor& x, double eps) { return todo(x, eps); }
