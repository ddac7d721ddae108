#pragma once
// Beam search: the likeliest continuations, found by keeping the few best ones at every length.

#include <cstdint>
#include <functional>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::nn {

struct BeamOptions {
  std::int64_t beams = 4;               // continuations that are kept at each step
  std::int64_t count = 0;               // the most tokens a continuation has
  std::vector<std::int64_t> stop = {};  // tokens it ends with
  /// Sums of log-probabilities are divided by ((5 + length) / 6)^this: the larger, at most 10, the longer the
  /// continuation that is favoured (Wu et al. 2016, section 7).
  double length_penalty = 0.6;
  bool early_stop = false;  // end as soon as `beams` of them have ended, even if a better one is under way
};

/// A continuation, without the prompt.
struct Hypothesis {
  std::vector<std::int64_t> tokens;  // with the stop token, where it ended with one
  double score = 0;                  // the sum of log-probabilities over the length penalty
};

/// The logits [N, V] of what follows N continuations: tokens [N, T] (i64) are their last ones, the whole
/// prompt at first, parents [N] (i64) says which row of the call before each goes on from. A token of logit
/// -infinity is never taken.
using BeamStep = std::function<Tensor(const Tensor& tokens, const Tensor& parents)>;

/// Up to `beams` continuations of prompt [T], best first. Ends when `beams` of them have ended and none that
/// is under way can become better, or at `count` tokens. Throws unless there are beams, a count and a prompt.
ListOf<Hypothesis> beam_search(const Tensor& prompt, const BeamOptions& options, const BeamStep& step);

/// The same for several prompts [B, T] at once, a list for each: rows of a step are the beams of the first
/// prompt, then of the second, and so on. A prompt whose search is over has none any more.
ListOf<ListOf<Hypothesis>> beam_search_batch(const Tensor& prompts, const BeamOptions& options,
                                             const BeamStep& step);

}  // namespace gradus::nn
