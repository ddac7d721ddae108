// Single ops, forward and backward, and ops so small that only their overhead counts.

#include "bench/cases.h"
#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

/// f(x) and its backward from a fixed gradient.
template <class F>
Step forward_backward(const Shape& shape, F f) {
  Tensor x = randn(shape);
  x.requires_grad_();
  return [x, dy = randn(shape), f] {
    x.zero_grad();
    f(x).backward(dy);
  };
}

Step attention() {
  const Shape shape = {1, 8, 1024, 64};
  std::vector<Tensor> qkv;
  for (int i = 0; i < 3; ++i) qkv.push_back(randn(shape).requires_grad_());
  return [qkv, dy = randn(shape)] {
    for (const Tensor& x : qkv) x.zero_grad();
    scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], {.causal = true}).backward(dy);
  };
}

Step adam() {
  Tensor p = zeros({124'000'000});
  p.requires_grad_();
  p.set_grad(randn(p.shape()));
  auto opt = std::make_shared<optim::AdamW>(std::vector<Tensor>{p}, optim::AdamWOptions{.lr = 1e-4});
  return [opt] { opt->step(); };
}

Step tiny_add() {
  return [a = randn({4, 4}), b = randn({4, 4})] { a + b; };
}

Step tiny_add_taped() {
  Tensor a = randn({4, 4});
  a.requires_grad_();
  return [a, b = randn({4, 4})] { a + b; };
}

Step tiny_backward() {
  Tensor a = randn({4, 4}), b = randn({4, 4});
  a.requires_grad_();
  b.requires_grad_();
  return [a, b] {
    a.zero_grad();
    b.zero_grad();
    (a * b + a).sum().backward();
  };
}

}  // namespace

std::vector<Case> op_cases() {
  const nn::LayerNorm norm(768);
  return {
      {"attention-1024", "attention, 8 heads of 64, T 1024, causal, forward and backward", attention},
      {"layernorm", "layer norm of 4096 x 768, forward and backward",
       [norm] {
         return forward_backward({4096, 768}, [norm](const Tensor& x) {
           norm.zero_grad();
           return norm(x);
         });
       }},
      {"softmax", "softmax of 4096 x 1024, forward and backward",
       [] {
         return forward_backward({4096, 1024}, [](const Tensor& x) { return softmax(x, -1); });
       }},
      {"gelu", "GELU of 4096 x 3072, forward and backward",
       [] {
         return forward_backward({4096, 3072}, [](const Tensor& x) { return gelu(x); });
       }},
      {"adam-124m", "AdamW over 124 million parameters", adam},
      {"tiny-ops", "(a * b + a).sum().backward() on 4 x 4", tiny_backward, 1000},
      {"tiny-ops-add", "a + b on 4 x 4 without a gradient", tiny_add, 10000},
      {"tiny-ops-tape", "a + b on 4 x 4 with a node on the tape", tiny_add_taped, 10000},
  };
}

}  // namespace gradus::bench
