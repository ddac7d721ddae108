#include "learn/learn.h"

// A wrong gradient on purpose, and how wrong it is. About 8 lines.
//
// The forward is layer norm over the last axis, without gain and bias: the variance is biased (divided by
// the number of channels), and sigma is the root of variance + eps. The backward has a mistake: it treats
// sigma as a constant. Which tensor must the tape not see, and which must it still see?
//
// Leave the backward to the tape: detach() gives the same values without their node on the tape.
//
// How far does a gradient h point away from the right one, g? `cosine` returns the cosine of the angle
// between them, over all elements.
//
// A wrong gradient h still goes down the slope if its cosine with the right one is above 0.
//
// Forbidden: layer_norm, record, cosine_similarity and nn.

Tensor norm_with_constant_sigma(const Tensor& x, double eps) { return todo(x, eps); }

double cosine(const Tensor& g, const Tensor& h) { return todo(g, h); }
