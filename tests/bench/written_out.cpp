#include "bench/written_out.h"

#include <cmath>
#include <memory>

namespace gradus::bench {

namespace {

/// f(inputs) and its backward from a fixed gradient.
template <class F>
Step forward_backward(std::vector<Tensor> inputs, const Shape& shape, F f) {
  for (Tensor& x : inputs) x.requires_grad_();
  return [inputs, dy = shape.size() == 0 ? ones(shape) : randn(shape), f] {  // a loss has the gradient 1
    for (const Tensor& x : inputs) x.zero_grad();
    f(inputs).backward(dy);
  };
}

Tensor norm_written_out(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor centred = x - x.mean(-1, true);
  return centred * rsqrt(centred.square().mean(-1, true) + 1e-5) * weight + bias;
}

}  // namespace

Tensor attention_written_out(const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::int64_t tokens = q.size(-2);
  const Tensor future = triu(ones({tokens, tokens}), 1) > 0;
  const Tensor scores = matmul(q * (1 / std::sqrt(static_cast<double>(q.size(-1)))), k.transpose(-2, -1));
  return matmul(softmax(masked_fill(scores, future, -INFINITY), -1), v);
}

Tensor attention_fused(const Tensor& q, const Tensor& k, const Tensor& v) {
  return scaled_dot_product_attention(q, k, v, {.causal = true});
}

Step attention_step(std::int64_t tokens, AttentionOp op) {
  const Shape shape = {1, 8, tokens, 64};
  return forward_backward({randn(shape), randn(shape), randn(shape)}, shape,
                          [op](const std::vector<Tensor>& qkv) { return op(qkv[0], qkv[1], qkv[2]); });
}

Step head_step(bool fused) {
  const Tensor target = randint(0, 50257, {1024});
  return forward_backward({randn({1024, 768}), randn({50257, 768}) * 0.02}, {},
                          [=](const std::vector<Tensor>& in) {
                            return fused ? linear_cross_entropy(in[0], in[1], target)
                                         : cross_entropy(linear(in[0], in[1]), target);
                          });
}

Step norm_step(bool fused) {
  const Shape shape = {4096, 768};
  return forward_backward(
      {randn(shape), ones({768}), zeros({768})}, shape, [=](const std::vector<Tensor>& in) {
        return fused ? layer_norm(in[0], in[1], in[2]) : norm_written_out(in[0], in[1], in[2]);
      });
}

Step gelu_step(bool fused) {
  const Shape shape = {4096, 3072};
  return forward_backward({randn(shape)}, shape, [=](const std::vector<Tensor>& in) {
    return fused ? gelu(in[0]) : in[0] * 0.5 * (erf(in[0] * std::sqrt(0.5)) + 1);
  });
}

Step adamw_step(bool fused) {
  constexpr std::int64_t n = 31'000'000;
  Tensor w = zeros({n});
  const Tensor g = randn({n});
  if (fused) {
    w.requires_grad_();
    w.set_grad(g);
    auto opt = std::make_shared<optim::AdamW>(std::vector<Tensor>{w}, optim::AdamWOptions{.lr = 1e-4});
    return [opt] { opt->step(); };
  }
  return [w, g, m = zeros({n}), v = zeros({n})]() mutable {
    m = m * 0.9 + g * 0.1;
    v = v * 0.999 + g.square() * 0.001;
    w = w * (1 - 1e-6) - m * 1e-4 / (v.sqrt() + 1e-8);
  };
}

Step token_step(bool cached) {
  const nn::GPT model({.vocab = 5000, .context = 1024, .layers = 6, .block = {.d_model = 384, .heads = 6}});
  model.eval();
  const Tensor ids = randint(0, 5000, {1, 512}), last = ids.slice(1, 511);
  if (!cached)
    return [=] {
      const NoGrad guard;
      model(ids);
    };
  // The cache starts again now and then: too seldom to show in a median.
  auto cache = std::make_shared<nn::KeyValueCache>(model.new_cache());
  return [=] {
    const NoGrad guard;
    if (cache->length() == 0 || cache->length() > 640) {
      cache->clear();
      model.next_logits(ids.slice(1, 0, 511), *cache);
    }
    model.next_logits(last, *cache);
  };
}

}  // namespace gradus::bench
