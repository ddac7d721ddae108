#include "learn/learn.h"

// What Llama and T5 do differently. About 10 lines.
//
// SwiGLU is Llama's FFN: x is multiplied by Wg for the gate and by Wu for the values, and Wd leads back.
// silu(z) = z sigmoid(z), on the gate only. x is [N, C], Wg and Wu are [C, F], Wd is [F, C]. How does the
// gate act on the values?
//
// Grouped queries (Llama 2): k is [B, Hkv, T, D] and q has H heads. Each head of k serves H / Hkv
// neighbouring heads of q. serve returns k as [B, H, T, D], one head for each head of q.
//
// T5's scores have a bias added, and are not divided by sqrt(D): the initial weights are.
//
// Forbidden: nn, scaled_dot_product_attention. Useful: silu, matmul, repeat_interleave(x, count, axis).

Tensor swiglu(const Tensor& x, const Tensor& Wg, const Tensor& Wu, const Tensor& Wd) {
  return todo(x, Wg, Wu, Wd);
}

Tensor serve(const Tensor& k, std::int64_t H) { return todo(k, H); }

/// q, k [T, D], bias [T, T].
Tensor t5_scores(const Tensor& q, const Tensor& k, const Tensor& bias) { return todo(q, k, bias); }
