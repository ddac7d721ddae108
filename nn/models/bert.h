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
  std::int64_t context = 512;       // the maximum number of tokens
  std::int64_t layers = 0;          // L
  std::int64_t token_types = 2;     // kinds of segments: the first sentence, the second
  Placement placement = post_ln();  // the position of the norms
  BlockOptions block = {};  // not causal; the default activation is GELU; dropout also acts on embeddings
  double eps = 1e-12;       // of all norms; replaces block.eps
  std::optional<bool> final_norm = {};  // not given: the placement's default
  double init_std = 0.02;   // of matrices and embeddings; small models learn sooner with 1 / sqrt(C)
  bool pooler = true;       // the input of the next-sentence head
  bool mlm_head = true;     // predicts masked tokens
  bool nsp_head = true;     // predicts next sentences; needs the pooler
  bool checkpoint = false;  // keep only each block's input for backward and run the block again
};

/// Optional inputs of a batch besides the ids.
struct BertInputs {
  Tensor token_types = {};  // [B, T] (i64), 0 .. token_types - 1; not given: all 0
  Tensor padding = {};      // [B, T] bool, TRUE WHERE THE TOKEN IS PADDING, which is hidden; not given: none
};

/// The targets of the loss; one of them may be left out.
struct BertTargets {
  Tensor tokens = {};  // [B, T] (i64): the token at positions to predict, else -100; all -100: loss 0
  Tensor next = {};    // [B] (i64): 0 where the second sentence follows the first, else 1
};

/// An encoder that sees both sides of every token (Devlin et al. 2019): embeddings of tokens, positions and
/// token types, a norm, blocks, and two heads. `nn::Bert bert({.vocab = 8000, .context = 128, .layers = 4,
/// .block = {.d_model = 256, .heads = 4}});`
///
/// Matrices and embeddings start as N(0, init_std^2), biases as 0, as in Hugging Face's code; the paper's
/// code truncates that distribution at 2 init_std. Every placement keeps the norm of the embeddings.
struct Bert : Module {
  explicit Bert(const BertOptions& options);
  /// Loads a model of the type bert from a folder (see pretrained.h), in eval mode, with the pooler and the
  /// heads that its file contains: `nn::Bert bert = nn::Bert::load_pretrained("bert-base-uncased");` Throws,
  /// naming file, key or tensor, when the type differs, or config.json and weights do not fit.
  static Bert load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
  /// Writes such a folder: `bert.save_pretrained("mine");` Throws for norms that have no name there.
  void save_pretrained(const std::string& folder, const SavePretrainedOptions& options = {}) const;

  /// The output of the last block for ids [B, T] (i64), T at most context -> [B, T, C].
  /// `Tensor hidden = bert(ids, {.padding = ids == pad});` Throws if a row is all padding.
  Tensor operator()(const Tensor& ids, const BertInputs& inputs = {}) const;
  /// The same under the name that it has in the other models, whose call returns logits.
  /// `Tensor classes = my_head(bert.hidden(ids, {.padding = ids == pad}).select(1, 0));`
  Tensor hidden(const Tensor& ids, const BertInputs& inputs = {}) const { return (*this)(ids, inputs); }
  /// tanh(W h + b) of the first token of hidden [B, T, C] -> [B, C].
  Tensor pooled(const Tensor& hidden) const;
  /// Logits of the token at every position: hidden [..., C] -> [..., V]. The weight is the token embedding's.
  Tensor mlm_logits(const Tensor& hidden) const;
  /// Logits [B, 2] of whether the second sentence follows the first (class 0) or not: hidden [B, T, C].
  Tensor nsp_logits(const Tensor& hidden) const;
  /// Mean cross-entropy of the tokens to predict, plus that of the next sentences. The head's product is
  /// computed only for positions with a target. Throws when neither target is given, when the ids hide none
  /// of the tokens (16 or more, or every position), and when all of them are padding.
  /// `bert.loss(ids, {.tokens = targets}, {.padding = padding}).backward();`
  Tensor loss(const Tensor& ids, const BertTargets& targets, const BertInputs& inputs = {}) const;

  /// The given options, with defaults filled in.
  const BertOptions& options() const& { return options_; }
  BertOptions options() const&& { return options_; }

  Embedding token_embedding;            // [V, C]
  LearnedPositions position_embedding;  // [context, C]
  Embedding type_embedding;             // [token_types, C]: first or second text
  Norm embedding_norm;                  // of the sum of these three
  Dropout dropout;                      // after that norm
  TransformerEncoder transformer;       // its keys are at this level: layers.0.*, norm.*
  std::optional<Linear> pooler;         // this and the heads: if the options ask for them
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
