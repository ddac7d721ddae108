#include "learn/learn.h"

std::vector<Tensor> forward(const Tensor& x, const std::vector<Tensor>& W) {
  std::vector<Tensor> h = {x};
  for (const Tensor& w : W) h.push_back(tanh(matmul(h.back(), w)));
  return h;
}

std::vector<double> gradient_sizes(const Tensor& x, const std::vector<Tensor>& W, const Tensor& dh) {
  const std::vector<Tensor> h = forward(x, W);
  std::vector<double> sizes(h.size());
  Tensor d = dh;
  sizes.back() = d.norm().item();
  for (std::size_t l = W.size(); l-- > 0;) {
    d = matmul(d * (1 - h[l + 1].square()), W[l].t());
    sizes[l] = d.norm().item();
  }
  return sizes;
}
