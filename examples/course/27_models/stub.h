#include "learn/learn.h"

// What Llama and T5 do differently. About 10 lines.
//
//   SwiGLU (Llama):             ffn(x) = (silu(x Wg) * (x Wu)) Wd        silu(z) = z sigmoid(z); silu on the
//   gate only grouped queries (Llama 2):  k has Hkv heads, q has H: each head of k serves H / Hkv
//   neighbouring heads of q
//                               [B, Hkv, T, D] -> [B, H, T, D]: head 0 several times, then head 1 several
//                               times
//   T5's scores:                q k^T + bias                             not divided by sqrt(D): the initial
//   weights are
//
// Forbidden: nn, scaled_dot_product_attention. Useful: silu, matmul, repeat_interleave(x, count, axis).

Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd) {
  return todo(x, Wg, Wu, Wd);
}

Tensor serve(const Tensor& k, std::int64_t H) { return todo(k, H); }

/// q, k [T, D], bias [T, T].
Tensor t5_scores(const Tensor& q, const Tensor& k, const Tensor& bias) { return todo(q, k, bias); }
