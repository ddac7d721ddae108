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
#include "gradus/ops/attention/attention_derivative.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using array::matmul;
using attention::for_each_head;
using attention::sum_of_heads;

Array score_grads(const Array& p, const Array& any) {
  const Array dp = any.contiguous();
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

Tensor score_grads(const Tensor& p, const Tensor& dp) { return p * (dp - sum(p * dp, -1, /*keepdim=*/true)); }

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
                 mask_shape = options.mask.shape()]<class V>(const V& dp, auto of) -> GradsOf<V> {
                  const V ds = score_grads(of.out(p), dp);
                  V dq, dk, dmask;
                  if (of[0]) dq = formula::mul(matmul(ds, for_each_head(of.in(1, k), q->size(1))), scale);
                  if (of[1]) {
                    const V for_heads = formula::mul(matmul(ds.transpose(-2, -1), of.in(0, q)), scale);
                    dk = sum_of_heads(for_heads, k->size(1));
                  }
                  if (of[2]) dmask = formula::sum_to(ds, mask_shape);
                  return {dq, dk, dmask};
                });
}

}  // namespace gradus
