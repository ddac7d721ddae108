#include "learn/learn.h"

Tensor log_p(const Tensor& logits) {
  const Tensor z = logits - logits.max(-1, true).detach();
  return z - z.exp().sum(-1, true).log();
}

Tensor loss(const Tensor& logits, const Tensor& target) {
  return -gather(log_p(logits), 1, target.unsqueeze(1)).mean();
}

Tensor loss_backward(const Tensor& logits, const Tensor& target) {
  return (log_p(logits).exp() - one_hot(target, logits.size(1)).to(logits.dtype())) /
         static_cast<double>(logits.size(0));
}
