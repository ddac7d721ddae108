// Drawing text from a GPT, token by token.

#include <algorithm>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

/// One token for each row of logits [B, V] -> [B, 1].
Tensor draw(const Tensor& logits, const GenerateOptions& options) {
  if (options.greedy) return logits.argmax(-1, /*keepdim=*/true);
  Generator& generator = options.generator ? *options.generator : default_generator();
  // Measured from the largest logit, so that the lowest temperature gives 0 and -inf, never NaN.
  const Tensor scaled = (logits - logits.max(-1, /*keepdim=*/true)) / std::max(options.temperature, 1e-30);
  if (options.top_k == 0 || options.top_k >= logits.size(-1))
    return multinomial(softmax(scaled, -1), 1, /*replacement=*/true, generator);
  const auto [values, ids] = topk(scaled, options.top_k);
  return gather(ids, 1, multinomial(softmax(values, -1), 1, /*replacement=*/true, generator));
}

/// Where the window begins that the token after `count` others is drawn from.
std::int64_t window_begin(std::int64_t count, std::int64_t context, std::int64_t slide) {
  return count <= context ? 0 : (count - context + slide - 1) / slide * slide;
}

void check_options(const GenerateOptions& options, std::int64_t context) {
  check(options.temperature > 0,
        "GPT: generate expects a temperature above 0, got {}: for the likeliest token set greedy",
        options.temperature);
  check(options.top_k >= 0, "GPT: generate expects top_k of 0 (all) or more, got {}", options.top_k);
  check(options.slide >= 1 && options.slide <= context,
        "GPT: generate expects slide from 1 to {}, its context, got {}", context, options.slide);
}

}  // namespace

Tensor GPT::generate(const Tensor& prompt, std::int64_t count, const GenerateOptions& options) const {
  expect_ids("GPT", "prompt", prompt);
  check((prompt.dim() == 1 || prompt.dim() == 2) && prompt.size(-1) > 0,
        "GPT: generate expects a prompt [T] or [B, T] of at least one token, got {}", prompt.shape());
  check(count >= 0, "GPT: generate expects a count of 0 or more, got {}", count);
  check_options(options, options_.context);
  const NoGrad no_grad;
  const EvalMode eval_mode(*this);
  Tensor ids = prompt.dim() == 1 ? prompt.unsqueeze(0) : prompt;
  std::optional<KeyValueCache> cache;
  if (options.cache && count > 0 && ids.size(0) > 0) cache = new_cache(ids.size(0));
  std::int64_t kept = 0;  // where the cache begins
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = window_begin(ids.size(1), options_.context, options.slide);
    if (cache && begin != kept) {  // positions are counted from the window's start: what is kept has moved
      cache->clear();
      kept = begin;
    }
    const Tensor next = cache ? next_logits(ids.slice(1, begin + cache->length()), *cache)
                              : logits(hidden(ids.slice(1, begin)).select(1, -1));  // [B, V]
    ids = cat({ids, draw(next, options)}, 1);
  }
  return prompt.dim() == 1 ? ids.squeeze(0) : ids;
}

}  // namespace gradus::nn
