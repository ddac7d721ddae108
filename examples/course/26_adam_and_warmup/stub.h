#include "learn/learn.h"

// Adam's step and Noam's learning rate. About 9 lines.
//
// Adam (Kingma & Ba 2015) keeps two running averages for every weight: m of the gradient, v of its square. b1
// and b2 are the shares of the old m and v that remain when g comes in. Both start at 0, so they are too
// small in the first steps. How does the step correct for that, and how long is the first one?
//
// g enters m and v before they are used. The moments are stored without the correction.
//
// Noam's rate (Vaswani et al. 2017) rises in a straight line from 0 at step 0 to its peak, 1 / sqrt(d
// warmup), at step warmup, and then falls like 1 / sqrt(t). d is the model's width. What is the rate at step
// t?
//
// t counts steps from 1. Here eps is outside the root: Adam's eps is not layer norm's.
//
//   struct Moments { Tensor m, v; };           given in examples/course/26_adam_and_warmup/given.h
//
// Forbidden: optim and nn.

/// Returns the new w, and changes the moments.
Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps) {
  return todo(w, g, moments, t, lr, b1, b2, eps);
}

/// The learning rate of step t.
double noam(int t, int d, int warmup) { return todo(t, d, warmup); }
