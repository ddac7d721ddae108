// GPT: text generation and beam search.

#include <algorithm>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

/// The first token of the window that predicts the token after `count` others.
std::int64_t window_begin(std::int64_t count, std::int64_t context, std::int64_t slide) {
  return count <= context ? 0 : (count - context + slide - 1) / slide * slide;
}

/// Whether each of the tokens [B] is in `stop`.
Tensor any_of(const Tensor& tokens, const std::vector<std::int64_t>& stop) {
  Tensor found = zeros(tokens.shape(), boolean);
  for (const std::int64_t token : stop) found = found | (tokens == token);
  return found;
}

/// A cache for the prompt and the generated tokens, at most the context.
KeyValueCache cache_for(const GPT& gpt, std::int64_t batch, std::int64_t prompt, std::int64_t count) {
  const std::int64_t context = gpt.options().context;
  const std::int64_t read = std::min(prompt, context) + std::min(count, context) - 1;  // not the last one
  KeyValueCache cache = gpt.transformer.new_cache(batch, std::clamp<std::int64_t>(read, 1, context));
  cache.add_model(gpt);
  return cache;
}

void check_slide(const GenerateOptions& options, std::int64_t context) {
  check(options.slide >= 1 && options.slide <= context,
        "GPT: generate expects slide from 1 to {}, its context, got {}", context, options.slide);
}

}  // namespace

Tensor GPT::generate(const Tensor& prompt, std::int64_t count, const GenerateOptions& options) const {
  expect_ids("GPT", "prompt", prompt);
  check((prompt.dim() == 1 || prompt.dim() == 2) && prompt.size(-1) > 0,
        "GPT: generate expects a prompt [T] or [B, T] of at least one token, got {}", prompt.shape());
  check(count >= 0, "GPT: generate expects a count of 0 or more, got {}", count);
  check_slide(options, options_.context);
  expect_stop("GPT: generate", options.stop, options_.vocab);
  const NoGrad no_grad;
  const EvalMode eval_mode(*this);
  Tensor ids = prompt.dim() == 1 ? prompt.unsqueeze(0) : prompt;
  std::optional<KeyValueCache> cache;
  if (options.cache && count > 0 && ids.size(0) > 0)
    cache = cache_for(*this, ids.size(0), ids.size(1), count);
  std::int64_t kept = 0;  // the first token in the cache
  Tensor ended = zeros({ids.size(0)}, boolean);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = window_begin(ids.size(1), options_.context, options.slide);
    if (cache && begin != kept) {  // the window moved, and positions count from its start
      cache->clear();
      kept = begin;
    }
    const Tensor next = cache ? next_logits(ids.slice(1, begin + cache->length()), *cache)
                              : logits(hidden(ids.slice(1, begin)).select(1, -1));  // [B, V]
    Tensor tokens = choose_tokens(next, ids, options, "GPT: generate");
    tokens = where(ended, ids.select(1, -1), tokens);  // a row that has ended repeats its stop token
    ids = cat({ids, tokens.unsqueeze(1)}, 1);
    ended = ended | any_of(tokens, options.stop);  // before on_token, which may write into its argument
    if (options.on_token && !options.on_token(tokens)) break;
    if (!options.stop.empty() && ended.all()) break;
  }
  return prompt.dim() == 1 ? ids.squeeze(0) : ids;
}

std::vector<std::int64_t> GPT::generate(const std::vector<std::int64_t>& prompt, std::int64_t count,
                                        const GenerateOptions& options) const {
  return generate(from_vector(prompt), count, options).to_vector<std::int64_t>();
}

ListOf<Hypothesis> GPT::beam_search(const Tensor& prompt, const BeamOptions& options) const {
  expect_ids("GPT", "prompt", prompt);
  check(prompt.dim() == 1 && prompt.size(0) > 0,
        "beam_search: expects a prompt [T] of at least one token, got {}", prompt.shape());
  expect_stop("GPT: beam_search", options.stop, options_.vocab);
  check(options.count <= options_.context - prompt.size(0) + 1,
        "GPT: beam_search expects prompt and count - 1 tokens to fit into its context of {}, got {} and {}",
        options_.context, prompt.shape(), options.count);
  const NoGrad no_grad;
  const EvalMode eval_mode(*this);
  KeyValueCache cache = cache_for(*this, 1, prompt.size(0), options.count);
  return nn::beam_search(prompt, options, [&](const Tensor& tokens, const Tensor& parents) {
    cache.select(parents);
    return next_logits(tokens, cache);
  });
}

}  // namespace gradus::nn
