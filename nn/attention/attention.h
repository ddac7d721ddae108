#pragma once
#include <memory>
#include <optional>
#include <utility>

#include "gradus/nn/attention/key_value_cache.h"
#include "gradus/nn/layers/linear.h"
#include "gradus/nn/norm/norm.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace detail {
struct Packing;
}

struct MultiheadAttentionOptions {
  std::int64_t d_model = 0;           // E
  std::int64_t heads = 0;             // H
  bool causal = false;                // no position sees a later one
  double dropout = 0;                 // on the attention weights, in training
  bool bias = true;                   // of all four projections
  std::optional<bool> qkv_bias = {};  // of queries, keys and values alone; not given: as bias
  std::int64_t head_dim = 0;          // D, the channels of each head; 0: E / H
  std::int64_t kv_heads = 0;          // heads of keys and values, shared by heads, which it divides; 0: heads
  std::optional<double> scale = {};   // of the scores; not given: 1 / sqrt(D)
  std::int64_t window = 0;            // see AttentionOptions
  bool alibi = false;                 // see AttentionOptions
  std::optional<RopeOptions> rope = {};  // rotates queries and keys by their positions
  bool qk_norm = false;  // a norm [D] on each head's queries and one on its keys (Dehghani et al. 2023)
  bool v_norm = false;   // the same on values
  MakeNorm norm = make_norm<LayerNorm>;  // the kind of these norms
  double eps = 1e-5;                     // of these norms
};

/// The keys that each query may see; an undefined mask hides nothing. A query that sees no key gets zeros
/// from its heads: its output is out_proj.bias.
struct AttentionMasks {
  /// [B, Tk] bool: TRUE WHERE THE KEY IS PADDING and must not be seen. PyTorch's name and polarity.
  Tensor key_padding_mask = {};
  /// Broadcast to [B, H, Tq, Tk], bool: true where the query may see the key (the inverse of attn_mask in
  /// PyTorch's nn.MultiheadAttention).
  Tensor visible = {};
  /// Broadcast to [B, H, Tq, Tk]: added to the scores before the softmax.
  Tensor score_bias = {};
  /// Set by a stack that leaves out padding: x and memory are [1, N, C], without padded rows. Masks keep the
  /// shapes for x [B, T, C].
  std::shared_ptr<const detail::Packing> packing = {};
};

/// Whether weights are the mean over the heads, [B, Tq, Tk], or each head's, [B, H, Tq, Tk].
enum class HeadWeights { averaged, per_head };

/// softmax(q k^T / sqrt(D)) v in H heads, then a projection (Vaswani et al. 2017, section 3.2.2).
/// `nn::MultiheadAttention attn({.d_model = 64, .heads = 4, .causal = true});`
/// At the start in_proj_weight is Xavier uniform, out_proj.weight as in Linear, biases 0, as PyTorch's.
struct MultiheadAttention : Module {
  explicit MultiheadAttention(const MultiheadAttentionOptions& options);
  MultiheadAttention(Integer auto, auto...) = delete;  // by name: {.d_model = 64, .heads = 4}

  /// Self-attention: queries, keys and values from x [B, T, E] -> [B, T, E]. With a cache, x continues the
  /// positions it holds: queries see those too (masks count them among the Tk keys), and the call adds the
  /// positions of x. A cache needs causal attention, NoGrad and no dropout.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValues* cache = nullptr) const;
  /// Cross-attention: queries from x [B, Tq, E], keys and values from memory [B, Tk, E] -> [B, Tq, E]. A mask
  /// is passed by its name, `attn(x, {.key_padding_mask = padding})`, or it would be the memory.
  /// With a cache, the first call makes the keys and values of memory and the others read them; they need the
  /// same memory tensor and the same padding, the only mask allowed.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {},
                    KeyValues* cache = nullptr) const;
  Tensor operator()(const Tensor&, const Tensor&, const Tensor&) const = delete;  // mha(x) or mha(x, memory)
  /// Output and attention weights, [B, Tq, Tk] averaged over the heads or [B, H, Tq, Tk]. The weights are
  /// those before dropout: each row adds up to 1, or is 0 if the query sees no key. For self-attention pass x
  /// twice.
  std::pair<Tensor, Tensor> with_weights(const Tensor& x, const Tensor& memory,
                                         const AttentionMasks& masks = {},
                                         HeadWeights heads = HeadWeights::averaged) const;

  /// An empty cache for `batch` sequences of at most `capacity` positions.
  KeyValues new_cache(std::int64_t batch, std::int64_t capacity) const;

  Parameter in_proj_weight;  // [(H + 2 kv_heads) D, E], by default [3E, E]: rows of q, of k, of v
  Parameter in_proj_bias;    // [3E]; undefined without
  Linear out_proj;           // E -> E; H D -> E
  std::optional<Norm> q_norm, k_norm, v_norm;  // of D channels, if the options ask for them

 private:
  struct Heads {
    Tensor q, k, v;  // [B, H, T, D]
  };
  std::int64_t width() const { return options_.heads * options_.head_dim; }  // of all queries
  /// Whether the heads are the unchanged, adjacent parts of the projection.
  bool plain() const;
  /// Splits q [B, T, H D] and k, v [B, Tk, kv_heads D] into heads; x's first position is `begin`.
  Heads heads_of(const Tensor& q, const Tensor& k, const Tensor& v, const detail::Packing* packing = nullptr,
                 std::int64_t begin = 0) const;
  std::vector<Tensor> weights_of_keys() const;
  std::vector<std::int64_t> widths() const;  // of q, k and v
  AttentionOptions rule() const;             // without masks
  Heads project(const Tensor& x, const Tensor& memory, const detail::Packing* packing) const;
  void show_heads(const Tensor& q, const Tensor& k, const AttentionOptions& options) const;
  Tensor attend(const Heads& heads, const AttentionOptions& options,
                const detail::Packing* packing = nullptr) const;
  Tensor attend_cached(const Tensor& x, const AttentionMasks& masks, KeyValues& cache) const;
  Tensor attend_memory(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                       KeyValues& cache) const;
  detail::MemoryKeys keys_of(const Tensor& memory, const Tensor& padding) const;
  void expect_cacheable(const Tensor& x) const;
  AttentionOptions options_for(const Tensor& x, const Tensor& memory, const AttentionMasks& masks) const;

  MultiheadAttentionOptions options_;
};

}  // namespace gradus::nn
