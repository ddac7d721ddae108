#pragma once
// Beam search: finds likely continuations by keeping the best few at every length.

#include <cstdint>
#include <functional>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::nn {

struct BeamOptions {
  std::int64_t beams = 4;               // continuations kept at each step
  std::int64_t count = 0;               // the maximum number of tokens of a continuation
  std::vector<std::int64_t> stop = {};  // tokens that end a continuation
  /// Sums of log-probabilities are divided by ((5 + length) / 6)^length_penalty: larger values, at most 10,
  /// favor longer continuations (Wu et al. 2016, section 7).
  double length_penalty = 0.6;
  bool early_stop = false;  // stop once `beams` of them have ended, even if another could become better
};

/// A continuation, without the prompt.
struct Hypothesis {
  std::vector<std::int64_t> tokens;  // including the stop token, if any
  double score = 0;                  // the sum of log-probabilities divided by the length penalty
};

/// Returns the logits [N, V] of the token after each of N continuations: tokens [N, T] (i64) are the new
/// tokens, in the first call the whole prompts; parents [N] (i64) are the rows of the previous call that they
/// extend. A token with logit -infinity is never chosen.
using BeamStep = std::function<Tensor(const Tensor& tokens, const Tensor& parents)>;

/// Returns up to `beams` continuations of prompt [T], best first. Stops when `beams` of them have ended and
/// no other can become better, or at `count` tokens. Throws unless beams, count and the prompt's length are
/// at least 1.
ListOf<Hypothesis> beam_search(const Tensor& prompt, const BeamOptions& options, const BeamStep& step);

/// The same for several prompts [B, T] at once, with a list for each: the rows of a step are the beams of the
/// first prompt, then of the second, and so on. A prompt whose search has ended has no rows.
ListOf<ListOf<Hypothesis>> beam_search_batch(const Tensor& prompts, const BeamOptions& options,
                                             const BeamStep& step);

}  // namespace gradus::nn
