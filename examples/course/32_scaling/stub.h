#include "learn/learn.h"

// The factors of muP for Adam, and the sensitivity to the rate. About 9 lines.
//
// 1. A net is m times as wide as a base net, whose best rate is known. Its matrices have fan_in inputs and
// fan_out outputs. In the base net (m = 1) all of them start with the standard deviation 1 / sqrt(fan_in),
// have Adam's rate, and no multiplier. A hidden matrix has two sides that grow like m. For every m, hidden
// values shall start with the same size, and a step of any one matrix shall move the output equally far.
// A step of Adam changes every weight by about the rate, whatever its gradient, and with the sign of what the
// weight multiplies. Initial weights have random signs. How do sums of fan_in terms grow in the two cases,
// and which factors must fall with m?
//
// 2. The sensitivity to the rate (Wortsman et al. 2023) of each seed: the mean over all rates of the loss at
// the end, but not more than the loss at the start, minus the smallest of these losses. A loss at the end may
// be NaN; then the loss at the start counts.
//
//   enum class Role { input, hidden, output };              given in examples/course/32_scaling/given.h
//   struct Factors { double std, rate, multiplier; };
//
// Useful: where(condition, a, b), minimum, isnan, mean(1), min(1).

Factors mup(Role role, int fan_in, int fan_out, double m) { return todo(role, fan_in, fan_out, m); }

/// end and start are [seeds, rates]. Returns one number a seed: [seeds].
Tensor sensitivity(const Tensor& end, const Tensor& start) { return todo(end, start); }
