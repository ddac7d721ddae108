#include "learn/learn.h"

// A schedule for a deep stack, and clipping by the global norm. About 12 lines.
//
//   step = 1 .. warmup:      rate = peak step / warmup
//   step = warmup .. total:  rate = floor + (peak - floor) (1 + cos(pi q)) / 2        q = (step - warmup) /
//   (total - warmup)
//
//   clip(g, limit):  n = sqrt(sum over all tensors of all squares)
//                    all tensors times limit / n if n > limit, else unchanged
//
// Clipping does not change the direction: all tensors get the same factor.
//
// Forbidden: optim and nn. Useful: std::numbers::pi.

double rate(int step, int warmup, int total, double peak, double floor) {
  return todo(step, warmup, total, peak, floor);
}

std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) { return todo(g, limit); }
