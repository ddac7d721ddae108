#pragma once
// Attention's gradients in ops, for gradients of gradients.

#include <cstdint>
#include <type_traits>

#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/ops.h"

namespace gradus::attention {

/// q [B, H, Tq, D], k, v, and the mask in the shape it was given in or undefined; or their gradients.
struct Operands {
  Tensor q, k, v, mask;
};

/// Whose gradients are wanted.
struct Wanted {
  bool q, k, v, mask;
};

/// The gradients of scaled_dot_product_attention on the tape, from that of its output.
Operands derivative(const Rule& rule, const Operands& x, const Tensor& dout, const Wanted& wanted);

/// The keys or values [B, Hkv, T, D] of each of `heads` heads of queries.
template <class V>
V for_each_head(const V& k, std::int64_t heads) {
  if (k.size(1) == heads) return k;
  const std::int64_t sharing = heads / k.size(1);
  return k.reshape({k.size(0), k.size(1), 1, k.size(2), k.size(3)})
      .expand({k.size(0), k.size(1), sharing, k.size(2), k.size(3)})
      .reshape({k.size(0), heads, k.size(2), k.size(3)});
}

/// Its transpose: the sum over the query heads that share a key head.
template <class V>
V sum_of_heads(const V& dk, std::int64_t heads) {
  if (dk.size(1) == heads) return dk;
  const V groups = dk.reshape({dk.size(0), heads, dk.size(1) / heads, dk.size(2), dk.size(3)});
  if constexpr (std::is_same_v<V, Tensor>)
    return sum(groups, 2);
  else
    return array::sum(groups, 2);
}

}  // namespace gradus::attention
