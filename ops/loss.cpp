// Losses. g is the gradient of the loss: one number, or one per row or element where nothing is reduced.
//
// cross_entropy, one row of V logits x with target t and smoothing e (Szegedy et al. 2016):
//   loss  = (1 - e) (lse - x_t) + e (lse - mean(x))      lse = log sum_j exp(x_j)
//   dx_j  = g (softmax(x)_j - (1 - e) [j = t] - e / V)
//   saves x and lse: the softmax is never stored
// nll_loss:  loss = -x_t,   dx_t = -g
//   Reduction::mean divides by the number of rows that count. Ignored rows have loss 0 and gradient 0, whatever
//   their logits hold; when all are ignored the mean is 0, not 0 / 0.
//
// mse_loss:  loss = (x - y)^2,   dx = 2 g (x - y),   dy = -dx;   saves x - y
//
// binary_cross_entropy_with_logits:
//   loss = max(x, 0) - x y + log(1 + exp(-|x|)) = -y log s - (1 - y) log(1 - s)    s = sigmoid(x)
//   dx   = g (s - y),   dy = -g x;   saves x and y

#include <cmath>

#include "gradus/core/dispatch.h"
#include "gradus/core/record.h"
#include "gradus/ops/eager.h"
#include "gradus/ops/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/rows.h"

namespace gradus {

namespace {

using I = std::int64_t;
...
