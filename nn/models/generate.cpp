#include "gradus/nn/models/generate.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

void check_options(const char* caller, const GenerateOptions& o) {
  check(o.temperature > 0 && std::isfinite(o.temperature),
        "{}: expects a temperature above 0, got {}: for the likeliest token set greedy", caller,
        o.temperature);
  check(o.top_k >= 0, "{}: expects top_k of 0 (all) or more, got {}", caller, o.top_k);
  check(o.top_p > 0 && o.top_p <= 1, "{}: expects top_p above 0 and at most 1 (all), got {}", caller,
        o.top_p);
  check(o.repetition_penalty >= 1e-6 && o.repetition_penalty <= 1e6,
        "{}: expects a repetition_penalty from 1e-6 to 1e6, 1 for none, got {}", caller,
        o.repetition_penalty);
}

/// Logits of tokens among ids: a positive one is divided by the penalty, a negative one multiplied.
Tensor penalized(const char* caller, const Tensor& logits, const Tensor& ids, double penalty) {
  check(ids.defined() && ids.dim() == 2 && ids.size(0) == logits.size(0),
        "{}: repetition_penalty expects the ids so far, [{}, T], got {}", caller, logits.size(0),
        ids.defined() ? to_string(ids.shape()) : "an undefined tensor");
  const Tensor seen = scatter(zeros_like(logits), 1, ids, ones(ids.shape(), logits.dtype())) > 0;
  const Tensor less = where(seen, where(logits > 0, logits / penalty, logits * penalty), logits);
  check(isfinite(less.max(-1)).all(),
        "{}: a repetition_penalty of {} makes logits of up to {:.3g} overflow {}: expects one nearer to 1",
        caller, penalty, where(logits == -INFINITY, 0.0, logits).abs().max().item(), logits.dtype());
  return less;
}

}  // namespace

Tensor choose_tokens(const Tensor& given, const Tensor& ids, const GenerateOptions& options,
                     const char* caller) {
  check_options(caller, options);
  check(given.defined() && given.dim() == 2 && given.size(1) > 0, "{}: expects logits [B, V], got {}", caller,
        given.defined() ? to_string(given.shape()) : "an undefined tensor");
  const NoGrad guard;
  check(isfinite(given.max(-1)).all(),
        "{}: expects a finite logit in each row, and no NaN or infinity: the weights contain such values or "
        "are very large, or every token is excluded",
        caller);
  const Tensor logits =
      options.repetition_penalty == 1 ? given : penalized(caller, given, ids, options.repetition_penalty);
  if (options.greedy) return logits.argmax(-1);
  Generator& generator = options.generator ? *options.generator : default_generator();
  const auto draw = [&](const Tensor& weights) {
    return multinomial(weights, 1, /*replacement=*/true, generator);
  };
  // Relative to the largest logit, so that the lowest temperature gives 0 and -inf, never NaN; the limits are
  // within the range of float.
  const Tensor scaled =
      (logits - logits.max(-1, /*keepdim=*/true)) / std::clamp(options.temperature, 1e-30, 1e30);
  const std::int64_t vocab = logits.size(-1);
  const bool all = options.top_k == 0 || options.top_k >= vocab;
  if (all && options.top_p == 1) return draw(softmax(scaled, -1)).squeeze(-1);
  const auto [values, tokens] = topk(scaled, all ? vocab : options.top_k);
  Tensor weights = softmax(values, -1);
  if (options.top_p < 1) {  // keeps tokens whose likelier ones add up to less than top_p; always the first
    const Tensor before = cumsum(weights, -1) - weights;
    weights = masked_fill(weights, before >= std::max(options.top_p, 1e-30), 0.0);
  }
  return gather(tokens, 1, draw(weights)).squeeze(-1);
}

}  // namespace gradus::nn
