#include "learn/learn.h"

// Adam's step and Noam's learning rate. About 9 lines.
//
//   m <- b1 m + (1 - b1) g          v <- b2 v + (1 - b2) g^2
//   w <- w - lr mhat / (sqrt(vhat) + eps)      mhat = m / (1 - b1^t)      vhat = v / (1 - b2^t)
//
//   noam(t) = d^-0.5 min(t^-0.5, t warmup^-1.5)
//
// t counts steps from 1. Here eps is outside the root: Adam's eps is not layer norm's.
//
//   struct Moments { Tensor m, v; };           given in examples/course/21_adam_and_warmup/given.h
//
// Forbidden: optim and nn.

/// Returns the new w, and changes the moments.
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  return todo(w, g, moments, t, lr, b1, b2, eps);
}

/// The learning rate of step t.
double noam(int t, int d, int warmup) { return todo(t, d, warmup); }
