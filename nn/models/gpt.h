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
  std::int64_t context = 0;                  // the most tokens it can look back on
  std::int64_t layers = 0;                   // L
  Placement placement = pre_ln();            // where the norms stand
  BlockOptions block = {};                   // causal; the activation, where not given, is tanh GELU
  Positions positions = Positions::learned;  // how a token knows its place
  std::optional<bool> final_norm = {};       // not given: as the placement has it
  bool tied = true;                          // the head's weight is the token embedding's
  bool residual_init_scaling = true;  // projections into the residual stream start at 0.02 / sqrt(2 layers)
  bool checkpoint = false;            // keep only each block's input for backward and run the block again
};

/// A decoder-only language model (Radford et al. 2019): token and position embeddings, causal blocks, a head.
/// `nn::GPT gpt({.vocab = 65, .context = 64, .layers = 4, .block = {.d_model = 128, .heads = 4}});`
/// Starts with GPT-2's scheme (init::gpt2_).
struct GPT : Module {
  explicit GPT(const GPTOptions& options);
  /// A model of the kinds gpt2, openai-gpt, gpt_neo, llama, mistral and qwen2 from a folder (see
  /// pretrained.h), in eval mode: `nn::GPT gpt = nn::GPT::load_pretrained("gpt2");` Throws, naming file, key
  /// or tensor, where it is another kind, or config.json and weights do not fit.
  static GPT load_pretrained(const std::string& folder, const PretrainedOptions& options = {});
  /// Writes such a folder: `gpt.save_pretrained("mine");` Throws at norms that have no name there.
  void save_pretrained(const std::string& folder, const SavePretrainedOptions& options = {}) const;

  /// The next token's logits at every position: ids [B, T] (i64), T at most context -> [B, T, V].
  Tensor operator()(const Tensor& ids) const;
  /// The same for ids that follow the tokens in `cache`, which then holds them too, for the work of T rows:
  /// logits as of one call on all tokens, to within rounding. Without a tape, in eval mode if there is
  /// dropout. Throws when the context is full: clear() the cache and give it the last tokens again.
  Tensor operator()(const Tensor& ids, KeyValueCache& cache) const;
  /// Only those after the last token, [B, V]: `logits = gpt.next_logits(ids, cache);`
  Tensor next_logits(const Tensor& ids, KeyValueCache& cache) const;
  /// The final states, which the head multiplies, for a head of your own: ids [B, T] -> [B, T, C], after the
  /// final norm if the stack has one, with dropout in training. Throws as operator() does.
  /// `Tensor classes = my_head(gpt.hidden(ids).select(1, -1));  // the last token has seen all others`
  Tensor hidden(const Tensor& ids) const;
  /// The same for ids that follow the tokens in `cache`, as operator() takes them.
  Tensor hidden(const Tensor& ids, KeyValueCache& cache) const;
  /// The head: hidden [..., C] -> [..., V]. `gpt.logits(gpt.hidden(ids))` has the bits of `gpt(ids)`.
  Tensor logits(const Tensor& hidden) const;
  /// An empty cache for `batch` sequences of at most `context` tokens: 2 layers context C numbers for each.
  KeyValueCache new_cache(std::int64_t batch = 1) const;
  /// Mean cross-entropy of the logits of ids [B, T] against targets [B, T], the ids that come next. Shorter
  /// rows are filled at the end with any token, whose targets are -100: no token sees what comes after it.
  /// Throws where the targets are the ids: nothing is shifted here.
  /// `gpt.loss(text.slice(1, 0, -1), text.slice(1, 1)).backward();`
  Tensor loss(const Tensor& ids, const Tensor& targets) const;
  /// prompt [T] or [B, T] with `count` more tokens after it, each drawn given the last `context` before it
  /// (or fewer: see slide), the first of them at position 0. Fewer where every row has met a stop token.
  /// Works in eval mode, without a tape. There is no padding: prompts of a batch are as long as each other.
  Tensor generate(const Tensor& prompt, std::int64_t count, const GenerateOptions& options = {}) const;
  /// The same of a tokenizer's ids: `tokenizer.decode(gpt.generate(tokenizer.encode("To be"), 20))`
  std::vector<std::int64_t> generate(const std::vector<std::int64_t>& prompt, std::int64_t count,
                                     const GenerateOptions& options = {}) const;
  /// The likeliest continuations of prompt [T] that beam search finds, best first; prompt and continuation
  /// fit into the context. `gpt.beam_search(prompt, {.beams = 4, .count = 20, .stop = {eos}})[0].tokens`
  ListOf<Hypothesis> beam_search(const Tensor& prompt, const BeamOptions& options) const;

  /// As given, with what was left to the model filled in.
  const GPTOptions& options() const& { return options_; }
  GPTOptions options() const&& { return options_; }

  Embedding token_embedding;                           // [V, C]
  std::optional<LearnedPositions> position_embedding;  // these three as the options have it
  std::optional<SinusoidalPositions> position_waves;   // fixed sines and cosines
  std::optional<RelativeBias> relative_bias;           // T5's
  Dropout dropout;                                     // on the sum of token and position
  TransformerEncoder transformer;                      // its keys stand at this level: layers.0.*, norm.*
  std::optional<Linear> head;                          // only when not tied

 private:
  Tensor embedded(const Tensor& ids, std::int64_t begin) const;
  Tensor states(const Tensor& ids, KeyValueCache* cache = nullptr) const;
  GPTOptions options_;
};

}  // namespace gradus::nn
