#pragma once
// The two Transformer blocks. They are made of the same parts under the same names, those of PyTorch's
// nn.TransformerEncoderLayer, so that one file of weights loads into both; they differ only in the position
// of the norms. Other ways to join a branch to the stream: residual.h.

#include <optional>

#include "gradus/nn/attention/attention.h"
#include "gradus/nn/layers/dropout.h"
#include "gradus/nn/layers/ffn.h"
#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

/// What blocks of all kinds, stacks of them and whole models are made from.
struct BlockOptions {
  std::int64_t d_model = 0;                   // C
  std::int64_t heads = 0;                     // H
  std::int64_t d_ff = 0;                      // hidden size of the FFN; 0 means 4 d_model
  std::optional<Activation> activation = {};  // not given: ReLU; in a GPT tanh GELU
  bool gated = false;                         // a gated FFN: SwiGLU with silu, GEGLU with gelu
  std::optional<bool> causal = {};            // no position sees a later one; not given: in decoders and GPTs
  double dropout = 0;  // on attention weights, the FFN's hidden layer and branches, in training
  bool bias = true;    // in linear layers and norms
  double eps = 1e-5;   // of the norms
  MakeNorm norm = make_norm<LayerNorm>;        // another: make_norm<RMSNorm>
  std::optional<bool> qkv_bias = {};           // of queries, keys and values alone; not given: as bias
  std::int64_t head_dim = 0;                   // D, the channels of each head; 0: d_model / heads
  std::int64_t kv_heads = 0;                   // heads of keys and values; 0: as many as of queries
  std::optional<double> attention_scale = {};  // of the scores; not given: 1 / sqrt(D)
  std::int64_t window = 0;                     // keys further away are not seen; 0: all are
  std::int64_t window_every = 1;  // the last of every so many blocks has the window, the others see all
  bool alibi = false;             // distances in the scores, instead of positions in the stream
  std::optional<RopeOptions> rope = {};  // rotary positions
  bool qk_norm = false;                  // norms on each head's queries and keys; goes with any placement
  bool v_norm = false;                   // and on its values
  // Which block it is of how many, from 0; stacks fill them in, for placements that change with depth.
  std::int64_t layer = 0, layers = 1;

  // What the parts of a block with these options are made from.
  MultiheadAttentionOptions attention() const;        // over the stream itself
  MultiheadAttentionOptions cross_attention() const;  // over something else: never causal
  FFNOptions ffn() const;
  Norm new_norm() const { return norm({.d_model = d_model, .eps = eps, .bias = bias}); }
};

/// The branches of a block, each with its dropout, and nothing yet that joins them to the stream.
struct BlockBranches : Module {
  BlockBranches(const std::string& kind, const BlockOptions& options);

  MultiheadAttention self_attn;  // the first sublayer
  FFN ffn;                       // its keys are at the block's level: linear1, linear2
  Dropout dropout1, dropout2;    // on the output of each sublayer

 protected:
  void expect_input(const Tensor& x) const;
};

/// The parts of the two blocks.
struct BlockParts : BlockBranches {
  BlockParts(const std::string& kind, const BlockOptions& options);

  Norm norm1, norm2;  // of each sublayer
};

/// Norms on the branches; the shortcut is untouched from end to end (GPT-2; Xiong et al. 2020, figure 1b).
/// `nn::PreLNBlock block({.d_model = 64, .heads = 4});` x [B, T, C] -> [B, T, C]
struct PreLNBlock : BlockParts {
  explicit PreLNBlock(const BlockOptions& options) : BlockParts("PreLNBlock", options) {}

  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValues* cache = nullptr) const {
    const Scope scope(path());
    expect_input(x);
    const Tensor h = x + dropout1(self_attn(norm1(x), masks, cache));  // x + Attn(LN(x))
    return report(h + dropout2(ffn(norm2(h))));                        // h + FFN(LN(h))
  }
};

/// Norms after the additions, on the shortcut itself (Vaswani et al. 2017; Xiong et al. 2020, figure 1a).
struct PostLNBlock : BlockParts {
  explicit PostLNBlock(const BlockOptions& options) : BlockParts("PostLNBlock", options) {}

  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}, KeyValues* cache = nullptr) const {
    const Scope scope(path());
    expect_input(x);
    const Tensor h = norm1(x + dropout1(self_attn(x, masks, cache)));  // LN(x + Attn(x))
    return report(norm2(h + dropout2(ffn(h))));                        // LN(h + FFN(h))
  }
};

}  // namespace gradus::nn
