#include "learn/learn.h"

Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  moments.m = b1 * moments.m + (1 - b1) * g;
  moments.v = b2 * moments.v + (1 - b2) * g.square();
  const Tensor mhat = moments.m / (1 - std::pow(b1, t)), vhat = moments.v / (1 - std::pow(b2, t));
  const double shrink = w.dim() > 1 ? 1 - lr * decay : 1;
  return shrink * w - lr * mhat / (vhat.sqrt() + eps);
}

int stop_early(const Run& run, int patience, int most) {
  Tensor best = run.w.clone();
  double least = INFINITY;
  int of_best = 0;
  for (int epoch = 1; epoch <= most && epoch - of_best <= patience; ++epoch) {
    run.epoch();
    const double loss = run.validation_loss();
    if (loss < least) least = loss, of_best = epoch, best = run.w.clone();
  }
  run.w.copy_(best);
  return of_best;
}

Split split(int tokens, int held_out, int context) {
  Split result;
  const int cut = tokens - held_out;
  for (int s = 0; s + context < cut; ++s) result.train.push_back(s);
  for (int s = cut; s + context < tokens; ++s) result.valid.push_back(s);
  return result;
}
