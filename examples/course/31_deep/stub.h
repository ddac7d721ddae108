#include "learn/learn.h"

// A schedule for a deep stack, and clipping by the global norm. About 12 lines.
//
// The rate rises in a straight line, from 0 at step 0 to peak at step warmup. Then it follows half a cosine,
// from peak down to floor at step total. step counts from 1. What is the rate at a step?
//
// clip takes the norm of all tensors together, as if they were one vector. If it is above the limit, the
// result has exactly the limit as its norm; if not, nothing changes.
//
// Clipping does not change the direction: all tensors get the same factor.
//
// Forbidden: optim and nn. Useful: std::numbers::pi.

double rate(int step, int warmup, int total, double peak, double floor) {
  return todo(step, warmup, total, peak, floor);
}

std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) { return todo(g, limit); }
