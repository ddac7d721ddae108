#pragma once
// What the attention tests share: attention written out as matmul, softmax, matmul.

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
// Products add in another order for other layouts.
inline const CheckOptions blas = {.layout_bits = false};

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

/// The weights as in the paper, [B, H, Tq, Tk] in memory at once.
inline Tensor reference_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  Tensor s =
      matmul(q, k.transpose(-2, -1)) * options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3))));
  if (options.causal) s = masked_fill(s, !causal_mask(q.size(2), k.size(2)), -kInf);
  if (options.mask.defined())
    s = options.mask.dtype() == boolean ? masked_fill(s, !options.mask, -kInf) : s + options.mask;
  return softmax(s, -1);
}

inline Tensor reference(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return matmul(reference_weights(q, k, options), v);
}

inline void check_close(const Tensor& got, const Tensor& expected, double tolerance = 1e-12) {
  REQUIRE(got.shape() == expected.shape());
  CHECK((got - expected).abs().sum().item() <= tolerance * (1 + expected.abs().sum().item()));
}

inline bool same_bits(const Tensor& a, const Tensor& b) { return (a == b).all(); }

struct Sizes {
  std::int64_t b, h, tq, tk, d, dv;
};

inline Tensor leaf(Tensor x) {
  x.requires_grad_();
  return x;
}

}  // namespace gradus::test
