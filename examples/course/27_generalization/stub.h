#include "learn/learn.h"

// AdamW's step, early stopping, and a split without a leak. About 20 lines.
//
// 1. One step of AdamW, with the decay as PyTorch and the library have it: rate lr, Adam as in chapter 26,
// and a decoupled weight decay. Gains and biases, which have one axis, get no decay.
// In which of Adam's lines does the decay appear? Does it shrink the old weights or the new ones?
//
// 2. Train until `patience` epochs in a row have brought no new lowest validation loss, but for at most
// `most` epochs. At the end run.w holds the weights of the epoch with the lowest loss.
// What must be kept of these weights while training goes on? A loss may be NaN.
//
// 3. A text of `tokens` tokens is cut in two; the second part has `held_out` tokens. A window that starts
// at s covers `context` tokens, and its targets are the same places shifted by one.
// Which windows use no token of the other part, neither as input nor as target?
//
//   struct Moments { Tensor m, v; };                     given in examples/course/27_generalization/given.h,
//   struct Split { std::vector<int> train, valid; };     as are these two
//   struct Run {
//     Tensor w;                                          run.epoch() trains it for an epoch, in place
//     std::function<void()> epoch;
//     std::function<double()> validation_loss;           run.validation_loss() is that of w as it is
//   };
//
// Forbidden: optim and nn.
// Useful: w.dim(), square, sqrt, run.w.clone(), run.w.copy_(other).

/// Returns the new w, and changes the moments. t counts steps from 1.
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  return todo(w, g, moments, t, lr, b1, b2, eps, decay);
}

/// Returns the number of the epoch, from 1, whose weights run.w holds at the end.
int stop_early(const Run& run, int patience, int most) { return todo(run, patience, most); }

/// Returns the starts of all windows that lie in one part, in ascending order.
Split split(int tokens, int held_out, int context) { return todo(tokens, held_out, context); }
