#pragma once
#include <optional>

#include "gradus/core/random/random.h"
#include "gradus/nn/attention/relative_bias.h"
#include "gradus/nn/layers/embedding.h"
#include "gradus/nn/layers/positions.h"
#include "gradus/nn/models/beam_search.h"
#include "gradus/nn/models/generate.h"
#include "gradus/nn/models/transformer.h"
#include "gradus/nn/pretrained/pretrained.h"

namespace gradus::nn {

struct GPTOptions {
  std::int64_t vocab = 0;                    // V
  std::int64_t context = 0;                  // the maximum number of tokens
  std::int64_t layers = 0;                   // L
  Placement placement = pre_ln();            // the position of the norms
  BlockOptions block = {};                   // causal; the default activation is tanh GELU
  Positions positions = Positions::learned;  // how positions are represented
  std::optional<bool> final_norm = {};       // not given: the placement's default
  bool tied = true;                          // the head's weight is the token embedding's
  bool residual_init_scaling = true;  // projections into the residual stream start at 0.02 / sqrt(2 layers)
  bool checkpoint = false;            // keep only each block's input for backward and run the block again
};

/// A decoder-only language model (Radford et al. 2019): token and position embeddings, causal blocks, a head.
/// `nn::GPT gpt({.vocab = 65, .context = 64, .layers = 4, .block = {.d_model = 128, .heads = 4}});`
/// Starts with GPT-2's scheme (init::gpt2_).
struct GPT : Module {
  explicit GPT(const GPTOptions& options);
  /// Loads a model of the types gpt2, openai-gpt, gpt_neo, llama, mistral and qwen2 from a folder (see
  /// pretrained.h), in eval mode: `nn::GPT gpt = nn::GPT::load_pretrained("gpt2");` Throws, naming file, key
  /// or tensor, when the type differs, or config.json and weights do not fit.
  static GPT load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
  /// Writes such a folder: `gpt.save_pretrained("mine");` Throws for norms that have no name there.
  void save_pretrained(const std::string& folder, const SavePretrainedOptions& options = {}) const;

  /// The next token's logits at every position: ids [B, T] (i64), T at most context -> [B, T, V].
  Tensor operator()(const Tensor& ids) const;
  /// The same for ids that follow the tokens in `cache`, which are added to it; the cost is that of T rows.
  /// The logits equal those of one call on all tokens up to rounding. Works without a tape; needs eval mode
  /// if there is dropout. Throws when the context is full: clear() the cache and pass the last tokens again.
  Tensor operator()(const Tensor& ids, KeyValueCache& cache) const;
  /// Only the logits after the last token, [B, V]: `logits = gpt.next_logits(ids, cache);`
  Tensor next_logits(const Tensor& ids, KeyValueCache& cache) const;
  /// The final states, which the head multiplies, for your own head: ids [B, T] -> [B, T, C], after the final
  /// norm if the stack has one, with dropout in training. Throws like operator().
  /// `Tensor classes = my_head(gpt.hidden(ids).select(1, -1));  // the last token has seen all others`
  Tensor hidden(const Tensor& ids) const;
  /// The same for ids that follow the tokens in `cache`, like operator() with a cache.
  Tensor hidden(const Tensor& ids, KeyValueCache& cache) const;
  /// The head: hidden [..., C] -> [..., V]. `gpt.logits(gpt.hidden(ids))` equals `gpt(ids)` bit for bit.
  Tensor logits(const Tensor& hidden) const;
  /// An empty cache for `batch` sequences of at most `context` tokens, of
  /// 2 layers context kv_heads head_dim elements each.
  KeyValueCache new_cache(std::int64_t batch = 1) const;
  /// Mean cross-entropy of the logits of ids [B, T] against targets [B, T], the next ids. Fill shorter rows
  /// at the end with any token and targets of -100: no token sees later ones. Throws when the targets equal
  /// the ids, because loss() does not shift them.
  /// `gpt.loss(text.slice(1, 0, -1), text.slice(1, 1)).backward();`
  Tensor loss(const Tensor& ids, const Tensor& targets) const;
  /// Extends prompt [T] or [B, T] by `count` tokens, each sampled given the last `context` tokens before it
  /// (or fewer: see slide), the first of which is at position 0. Stops early when every row has a stop token.
  /// Works in eval mode, without a tape. There is no padding: the prompts of a batch have equal lengths.
  Tensor generate(const Tensor& prompt, std::int64_t count, const GenerateOptions& options = {}) const;
  /// The same for a tokenizer's ids: `tokenizer.decode(gpt.generate(tokenizer.encode("To be"), 20))`
  std::vector<std::int64_t> generate(const std::vector<std::int64_t>& prompt, std::int64_t count,
                                     const GenerateOptions& options = {}) const;
  /// The continuations of prompt [T] found by beam search, best first; prompt and `count` - 1 tokens must fit
  /// into the context: the last one is not read.
  /// `gpt.beam_search(prompt, {.beams = 4, .count = 20, .stop = {eos}})[0].tokens`
  ListOf<Hypothesis> beam_search(const Tensor& prompt, const BeamOptions& options) const;

  /// The given options, with defaults filled in.
  const GPTOptions& options() const& { return options_; }
  GPTOptions options() const&& { return options_; }

  Embedding token_embedding;                           // [V, C]
  std::optional<LearnedPositions> position_embedding;  // these three depend on `positions`
  std::optional<SinusoidalPositions> position_waves;   // fixed sines and cosines
  std::optional<RelativeBias> relative_bias;           // T5's
  Dropout dropout;                                     // on the sum of token and position
  TransformerEncoder transformer;                      // its keys are at this level: layers.0.*, norm.*
  std::optional<Linear> head;                          // only when not tied

 private:
  Tensor embedded(const Tensor& ids, std::int64_t begin) const;
  Tensor states(const Tensor& ids, KeyValueCache* cache = nullptr) const;
  GPTOptions options_;
};

}  // namespace gradus::nn
