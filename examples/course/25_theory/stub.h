#include "learn/learn.h"

// A theorem's statement about depth, and how to see it in measurements. About 10 lines.
//
// Lemma 2 (Xiong et al. 2020) has two bounds for E|x_l|^2, the expected squared length of a token of d
// channels in a Pre-LN stack before training, after l layers of attention and FFN each. The input has
// E|x_0|^2 = d. The chapter says how much one layer adds at least, and at most. What are the two bounds?
//
// A law y = c L^p has the exponent p. How do you find it from measured points (L_i, y_i), with c unknown? Fit
// by least squares in the logarithms of L and y; all points count the same.
//
// Forbidden: nothing. Loops or tensors, as you like.

/// Returns the two bounds of Lemma 2.
std::pair<double, double> lemma_2(int l, int d) { return todo(l, d); }

/// Returns p.
double exponent(const std::vector<double>& L, const std::vector<double>& y) { return todo(L, y); }
