#include "learn/learn.h"

Measured measure(const std::vector<Block>& blocks, const Tensor& x, bool pre, const Loss& loss) {
  Measured measured;
  Tensor y = x;
  for (const Block& block : blocks) {
    y = pre ? y + block.attention(layer_norm(y)) : layer_norm(y + block.attention(y));
    y = y + block.ffn(pre ? layer_norm(y) : y);
    measured.sizes.push_back(y.square().mean().item());
    if (!pre) y = layer_norm(y);
  }
  if (pre) y = layer_norm(y);
  measured.gradient = grad(loss(y), {blocks.back().W2})[0].norm().item();
  return measured;
}

bool lemma_2(const std::vector<double>& sizes) {
  double low = 1, high = 1;
  for (const double size : sizes) {
    low += 0.5, high += 1.5;
    if (size < low || size > high) return false;
  }
  return true;
}

double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  const Tensor u = from_vector(L).log(), w = from_vector(y).log();
  const Tensor du = u - u.mean();
  return ((du * (w - w.mean())).sum() / du.square().sum()).item();
}
