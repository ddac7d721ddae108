#pragma once
// Sampling the next token from logits.

#include <cstdint>
#include <functional>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::nn {

struct GenerateOptions {
  double temperature = 1;  // below 1: sharper
  std::int64_t top_k = 0;  // sample from the k likeliest tokens only; 0: from all
  double top_p = 1;        // sample from the likeliest tokens that add up to it (Holtzman et al. 2020)
  // Above 1: makes tokens that already occur less likely (Keskar et al. 2019).
  double repetition_penalty = 1;
  bool greedy = false;             // always the likeliest token
  Generator* generator = nullptr;  // not given: the thread's default
  // The first of these ends a row; until all rows end, a GPT repeats it and other models write padding.
  std::vector<std::int64_t> stop = {};
  /// Called with the new token of every row, [B] (i64), for printing during generation; false ends the text.
  std::function<bool(const Tensor& tokens)> on_token = {};
  // Tokens dropped at once when the context is full. With 1, each later token costs a pass over the whole
  // context, because all positions shift; with context / 2, one token in context / 2 costs a pass over the
  // remaining half.
  std::int64_t slide = 1;
  bool cache = true;  // false: keep no keys and values, compute every position for every token
};

/// Chooses a token for each row of logits [B, V] -> [B] (i64); ids [B, T] are the tokens so far, for
/// repetition_penalty. `Tensor next = nn::choose_tokens(gpt.next_logits(ids, cache), ids, {.top_p = 0.9});`
/// Throws for options out of range, NaN logits and a repetition_penalty that makes them overflow, naming
/// `caller`.
Tensor choose_tokens(const Tensor& logits, const Tensor& ids, const GenerateOptions& options = {},
                     const char* caller = "choose_tokens");

}  // namespace gradus::nn
