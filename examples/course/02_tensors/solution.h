#include "learn/learn.h"

Tensor split_heads(const Tensor& x, std::int64_t H) {
  return x.view({x.size(0), x.size(1), H, x.size(2) / H}).transpose(1, 2);
}

Tensor merge_heads(const Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}
