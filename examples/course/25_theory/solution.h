#include "learn/learn.h"

std::pair<double, double> lemma_2(int l, int d) { return {(1 + l / 2.0) * d, (1 + 3 * l / 2.0) * d}; }

double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  const Tensor u = from_vector(L).log(), w = from_vector(y).log();
  const Tensor du = u - u.mean();
  return ((du * (w - w.mean())).sum() / du.square().sum()).item();
}
