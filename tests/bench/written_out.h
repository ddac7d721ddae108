#pragma once
// Work done by one fused op, and the same written out with plain ops: forward and backward.

#include "bench/cases.h"
#include "gradus/gradus.h"

namespace gradus::bench {

using AttentionOp = Tensor (*)(const Tensor& q, const Tensor& k, const Tensor& v);

/// Causal: softmax(q k^T / sqrt(D)) v.
Tensor attention_written_out(const Tensor& q, const Tensor& k, const Tensor& v);
Tensor attention_fused(const Tensor& q, const Tensor& k, const Tensor& v);

/// 8 heads of 64, T tokens.
Step attention_step(std::int64_t tokens, AttentionOp op);
/// The head of gpt2-124m: 1024 tokens' loss over 50257 words.
Step head_step(bool fused);
/// Layer norm of 4096 x 768.
Step norm_step(bool fused);
/// GELU of 4096 x 3072.
Step gelu_step(bool fused);
/// AdamW over 31 million weights.
Step adamw_step(bool fused);
/// The 512th token of a GPT with 6 layers and d 384, from a cache of keys and values or from all tokens.
Step token_step(bool cached);

}  // namespace gradus::bench
