#pragma once
#include <optional>
#include <string>

#include "gradus/nn/layers/embedding.h"
#include "gradus/nn/layers/positions.h"
#include "gradus/nn/models/transformer.h"
#include "gradus/nn/pretrained/pretrained.h"

namespace gradus::nn {

struct BertOptions {
  std::int64_t vocab = 0;           // V
  std::int64_t context = 512;       // the most tokens it can look at
  std::int64_t layers = 0;          // L
  std::int64_t token_types = 2;     // kinds of segments: the first sentence, the second
  Placement placement = post_ln();  // where the norms stand
  BlockOptions block =
      {};              // not causal; the activation, where not given, is GELU; dropout acts on embeddings too
  double eps = 1e-12;  // of all norms: block.eps stays unset
  std::optional<bool> final_norm = {};  // not given: as the placement has it
  double init_std = 0.02;   // of matrices and embeddings; small models learn sooner with 1 / sqrt(C)
  bool pooler = true;       // what the next-sentence head reads
  bool mlm_head = true;     // masked tokens
  bool nsp_head = true;     // next sentences; needs the pooler
  bool checkpoint = false;  // keep only each block's input for backward and run the block again
};

/// What stands beside the ids of a batch.
struct BertInputs {
  Tensor token_types = {};  // [B, T] (i64), 0 .. token_types - 1; not given: all 0
  Tensor padding = {};  // [B, T] bool, TRUE WHERE THE TOKEN IS PADDING, which is not seen; not given: none
};

/// What is to be predicted; one of them may be left out.
struct BertTargets {
  Tensor tokens = {};  // [B, T] (i64): the token where one is to be predicted, else -100; all -100: loss 0
  Tensor next = {};    // [B] (i64): 0 where the second sentence follows the first, else 1
};

/// An encoder that sees both sides of every token (Devlin et al. 2019): embeddings of tokens, positions and
/// token types, a norm, blocks, and two heads. `nn::Bert bert({.vocab = 8000, .context = 128, .layers = 4,
/// .block = {.d_model = 256, .heads = 4}});`
///
/// Matrices and embeddings start as N(0, init_std^2), biases as 0, as in Hugging Face's; the paper's own code
/// cuts that distribution at twice that. The norm of the embeddings stands with every placement.
struct Bert : Module {
  explicit Bert(const BertOptions& options);
  /// A model of the kind bert from a folder (see pretrained.h), in eval mode, with those of the pooler and
  /// the heads that its file has: `nn::Bert bert = nn::Bert::load_pretrained("bert-base-uncased");` Throws,
  /// naming file, key or tensor, where it is another kind, or config.json and weights do not fit.
  static Bert load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
  /// Writes such a folder: `bert.save_pretrained("mine");` Throws at norms that have no name there.
  void save_pretrained(const std::string& folder, const SavePretrainedOptions& options = {}) const;

  /// What the last block makes of ids [B, T] (i64), T at most context -> [B, T, C].
  /// `Tensor hidden = bert(ids, {.padding = ids == pad});` Throws at a row that is all padding.
  Tensor operator()(const Tensor& ids, const BertInputs& inputs = {}) const;
  /// The same by the name that it has in the other models, whose call gives logits.
  /// `Tensor classes = my_head(bert.hidden(ids, {.padding = ids == pad}).select(1, 0));`
  Tensor hidden(const Tensor& ids, const BertInputs& inputs = {}) const { return (*this)(ids, inputs); }
  /// tanh(W h + b) of the first token of hidden [B, T, C] -> [B, C].
  Tensor pooled(const Tensor& hidden) const;
  /// Logits of the token at every position: hidden [..., C] -> [..., V]. The weight is the token embedding's.
  Tensor mlm_logits(const Tensor& hidden) const;
  /// Logits [B, 2] of whether the second sentence follows the first (class 0) or not: hidden [B, T, C].
  Tensor nsp_logits(const Tensor& hidden) const;
  /// Mean cross-entropy of the tokens to be predicted, plus that of the next sentences. The head's product is
  /// made for the positions with a target only. Throws when neither target is given, when the ids hide none
  /// of the tokens, and when all of them are padding. `bert.loss(ids, {.tokens = targets}, {.padding = padding}).backward();`
  Tensor loss(const Tensor& ids, const BertTargets& targets, const BertInputs& inputs = {}) const;

  /// As given, with what was left to the model filled in.
  const BertOptions& options() const& { return options_; }
  BertOptions options() const&& { return options_; }

  Embedding token_embedding;            // [V, C]
  LearnedPositions position_embedding;  // [context, C]
  Embedding type_embedding;             // [token_types, C]: the first text or the second
  Norm embedding_norm;                  // of the sum of these three
  Dropout dropout;                      // after that norm
  TransformerEncoder transformer;       // its keys stand at this level: layers.0.*, norm.*
  std::optional<Linear> pooler;         // these as the options have it
  std::optional<Linear>
      mlm_dense;                 // the MLM head: norm(GELU(dense(h))) times the token embedding, plus a bias
  std::optional<Norm> mlm_norm;  // the MLM head's
  Parameter mlm_bias;            // [V]
  std::optional<Linear> nsp_head;  // [2, C], on the pooled token

 private:
  Tensor embedded(const Tensor& ids, const BertInputs& inputs) const;
  Tensor mlm_features(const Tensor& hidden) const;
  BertOptions options_;
};

}  // namespace gradus::nn
