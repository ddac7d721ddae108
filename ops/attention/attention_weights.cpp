// The attention weights, for inspection; for each batch and head:
//   q [Tq, D]   k [Tk, D]   P [Tq, Tk]
//   S  = scale q k^T + mask,   P = softmax(S)    attention_forward.cpp: weights
//   dS = P (dP - sum_j dP_j P_j)                 kernels/body/softmax.h: softmax_grad
//   dq = scale dS k,   dk = scale dS^T q,   dmask = dS
// Saves q, k and P, which is [B, H, Tq, Tk]: scaled_dot_product_attention never holds that.

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/rows.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

Array score_grads(const Array& p, const Array& dp) {
  Array ds = Array::empty(p.shape(), p.dtype());
  dispatch_floating("attention_weights", p, [&]<class T>() {
    const RowPointers<const T> pp(p), pdp(dp);
    const RowPointers<T> pds(ds);
    const Rows rows(p.shape());
    rows.for_each([&, grad = kernels::table<T>().softmax_grad](std::int64_t i) {
      grad(rows.columns, pp[i], pdp[i], pds[i]);
    });
  });
  return ds;
}

/// The keys [B, Hkv, T, D] of each of `heads` heads of queries.
Array for_each_head(const Array& k, std::int64_t heads) {
  if (k.size(1) == heads) return k;
  const std::int64_t sharing = heads / k.size(1);
  return k.reshape({k.size(0), k.size(1), 1, k.size(2), k.size(3)})
      .expand({k.size(0), k.size(1), sharing, k.size(2), k.size(3)})
      .reshape({k.size(0), heads, k.size(2), k.size(3)});
}

/// Its transpose: the sum over the query heads that share a key head.
Array sum_of_heads(const Array& dk, std::int64_t heads) {
  if (dk.size(1) == heads) return dk;
  return array::sum(dk.reshape({dk.size(0), heads, dk.size(1) / heads, dk.size(2), dk.size(3)}), 2);
}

}  // namespace

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  attention::check_queries_keys("attention_weights", q, k);
  AttentionOptions undropped = options;
  undropped.dropout = 0;
  const attention::Rule rule = attention::rule_of("attention_weights", undropped, q.array(), k.array());
  const Array qr = attention::with_rows(q.array()), kr = attention::with_rows(k.array());
  const Array p = attention::weights(rule, qr, kr);
  return record("attention_weights", p, {&q, &k, &options.mask},
                [scale = rule.scale, q = Saved(qr), k = Saved(kr), p = Saved(p),
                 mask_shape = options.mask.shape()](const Array& dp, Needs needs) -> Grads {
                  const Array ds = score_grads(*p, dp.contiguous());
                  Array dq, dk, dmask;
                  if (needs[0]) dq = array::mul(array::matmul(ds, for_each_head(*k, q->size(1))), scale);
                  if (needs[1])
                    dk = sum_of_heads(array::mul(array::matmul(ds.transpose(-2, -1), *q), scale), k->size(1));
                  if (needs[2]) dmask = array::sum_to(ds, mask_shape);
                  return {dq, dk, dmask};
                });
}

}  // namespace gradus
