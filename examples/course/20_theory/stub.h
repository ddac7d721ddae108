#include "learn/learn.h"

// A theorem's statement about depth, and how to see it in measurements. About 10 lines.
//
//   Lemma 2 (Xiong et al. 2020), Pre-LN at the start, after l layers:  (1 + l/2) d <= E|x_l|^2 <= (1 + 3l/2)
//   d
//
//   A law y = c L^p is a straight line in logarithms: ln y = ln c + p ln L. Its slope p, by least squares
//   over the points:
//
//     u_i = ln L_i,  w_i = ln y_i      p = sum (u_i - mean u)(w_i - mean w) / sum (u_i - mean u)^2
//
// Forbidden: nothing. Loops or tensors, as you like.

/// Returns the two bounds of Lemma 2.
std::pair<double, double> lemma_2(int l, int d) { return todo(l, d); }

/// Returns p.
double exponent(const std::vector<double>& L, const std::vector<double>& y) { return todo(L, y); }
