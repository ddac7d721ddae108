#pragma once
// Heads of queries that share keys and values (grouped-query attention), on Arrays and on Tensors.

#include <cstdint>

#include "gradus/ops/detail/formula.h"

namespace gradus::attention {

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
  return formula::sum(groups, 2);
}

}  // namespace gradus::attention
