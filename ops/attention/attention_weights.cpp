// The attention weights, for inspection; for each batch and head:
//   q [Tq, D]   k [Tk, D]   P [Tq, Tk]
//   S  = scale q k^T + mask,   P = softmax(S)    attention_forward.cpp: weights
//   dS = P (dP - sum_j dP_j P_j)                 norm/softmax_gradient.h
//   dq = scale dS k,   dk = scale dS^T q,   dmask = dS
// Saves q, k and P, which is [B, H, Tq, Tk]: scaled_dot_product_attention never holds that.

#include "gradus/core/tape/record.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/attention/shared_heads.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/norm/softmax_gradient.h"
#include "gradus/ops/ops.h"

namespace gradus {

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  attention::check_queries_keys("attention_weights", q, k);
  AttentionOptions undropped = options;
  undropped.dropout = 0;
  const attention::Rule rule = attention::rule_of("attention_weights", undropped, q.array(), k.array());
  const Array qr = attention::with_rows(q.array()), kr = attention::with_rows(k.array());
  const Array p = attention::weights(rule, qr, kr);
  return record("attention_weights", p, {&q, &k, &options.mask},
                [scale = rule.scale, q = Saved(qr), k = Saved(kr), p = Saved(p),
                 mask_shape = options.mask.shape()]<class V>(const V& dp, auto of) -> GradsOf<V> {
                  const V ds = softmax_gradient(of.out(p), dp);
                  V dq, dk, dmask;
                  if (of[0]) {
                    const V keys = attention::for_each_head(of.in(1, k), q->size(1));
                    dq = formula::mul(formula::matmul(ds, keys), scale);
                  }
                  if (of[1]) {
                    const V of_heads = formula::matmul(ds.transpose(-2, -1), of.in(0, q));
                    dk = attention::sum_of_heads(formula::mul(of_heads, scale), k->size(1));
                  }
                  if (of[2]) dmask = formula::sum_to(ds, mask_shape);
                  return {dq, dk, dmask};
                });
}

}  // namespace gradus
