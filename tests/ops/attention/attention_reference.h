#pragma once
// Shared by the attention tests: attention written out as matmul, softmax, matmul.

#include <cmath>

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {

// A product adds in another order where its operands lie in another way.
inline const CheckOptions reordered = {.layout_bits = false};

inline Op attention(const AttentionOptions& options = {}) {
  return [options](const Tensor& q, const Tensor& k, const Tensor& v) {
    manual_seed(5);  // dropout draws the same numbers every time
    return scaled_dot_product_attention(q, k, v, options);
  };
}

/// [Tq, Tk]: query i may see keys up to i + Tk - Tq.
inline Tensor causal_mask(std::int64_t queries, std::int64_t keys) {
  return tril(ones({queries, keys}), keys - queries) > 0;
}

/// [Tq, Tk]: how far key j stands after query i, whose position is i + Tk - Tq.
inline Tensor distances(std::int64_t queries, std::int64_t keys) {
  return arange(keys).to(f64) - (arange(queries).to(f64) + static_cast<double>(keys - queries)).unsqueeze(1);
}

/// Keys or values for each head of queries.
inline Tensor shared(const Tensor& k, std::int64_t heads) {
  return repeat_interleave(k, heads / k.size(1), 1);
}

/// The weights as in the papers, [B, H, Tq, Tk] in memory at once.
inline Tensor reference_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  Tensor s = matmul(q, shared(k, q.size(1)).transpose(-2, -1)) *
             options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3))));
  const Tensor distance = distances(q.size(2), k.size(2));
  if (options.alibi)
    s = s - (from_vector(alibi_slopes(q.size(1)), {q.size(1), 1, 1}) * distance.abs()).to(q.dtype());
  if (options.window > 0) s = masked_fill(s, distance.abs() >= static_cast<double>(options.window), -kInf);
  if (options.causal) s = masked_fill(s, !causal_mask(q.size(2), k.size(2)), -kInf);
  if (options.mask.defined())
    s = options.mask.dtype() == boolean ? masked_fill(s, !options.mask, -kInf) : s + options.mask;
  return softmax(s, -1);
}

inline Tensor reference(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return matmul(reference_weights(q, k, options), shared(v, q.size(1)));
}

inline void check_close(const Tensor& got, const Tensor& expected, double tolerance = 1e-12) {
  REQUIRE(got.shape() == expected.shape());
  CHECK((got - expected).abs().sum().item() <= tolerance * (1 + expected.abs().sum().item()));
}

inline bool same_bits(const Tensor& a, const Tensor& b) { return (a == b).all(); }

struct Sizes {
  std::int64_t b, h, tq, tk, d, dv;
};

/// Values and gradients against the reference; keys and values of so many heads, or as many as the queries.
inline void check_against_reference(const Sizes& z, const AttentionOptions& options,
                                    std::int64_t shared_heads = 0) {
  const std::int64_t heads = shared_heads > 0 ? shared_heads : z.h;
  const Tensor q = leaf(randn({z.b, z.h, z.tq, z.d}, f64)), k = leaf(randn({z.b, heads, z.tk, z.d}, f64)),
               v = leaf(randn({z.b, heads, z.tk, z.dv}, f64)), seed = randn({z.b, z.h, z.tq, z.dv}, f64);
  const auto run = [&](const Tensor& y) {
    for (const Tensor& x : {q, k, v}) x.zero_grad();
    y.backward(seed);
    return Tensors{y.detach(), q.grad(), k.grad(), v.grad()};
  };
  const Tensors got = run(scaled_dot_product_attention(q, k, v, options));
  const Tensors expected = run(reference(q, k, v, options));
  for (std::size_t i = 0; i < got.size(); ++i) check_close(got[i], expected[i]);
  check_close(attention_weights(q, k, options), reference_weights(q, k, options));
}

}  // namespace gradus::test
