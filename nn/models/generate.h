#pragma once
// How the next token is chosen from logits.

#include <cstdint>
#include <functional>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::nn {

struct GenerateOptions {
  double temperature = 1;  // below 1: sharper
  std::int64_t top_k = 0;  // draw from the k likeliest tokens only; 0: from all
  double top_p = 1;        // draw from the likeliest tokens that add up to it (Holtzman et al. 2020)
  // Above 1: tokens that stand there already are less likely (Keskar et al. 2019).
  double repetition_penalty = 1;
  bool greedy = false;             // always the likeliest token
  Generator* generator = nullptr;  // not given: the thread's default
  // A row ends with the first of these; while others go on, a GPT repeats it, and other models write padding.
  std::vector<std::int64_t> stop = {};
  /// Called with each new token of all rows, [B] (i64); false ends the text there: for printing as it comes.
  std::function<bool(const Tensor& tokens)> on_token = {};
  // Tokens forgotten at once when the context is full. With 1 each one after that costs a pass over the whole
  // context, as all positions move; with context / 2 one in so many costs a pass over the half that is left.
  std::int64_t slide = 1;
  bool cache = true;  // false: keep no keys and values, compute every position for every token
};

/// A token for each row of logits [B, V], [B] (i64), as the options have it; ids [B, T] are those so far, for
/// repetition_penalty. `Tensor next = nn::choose_tokens(gpt.next_logits(ids, cache), ids, {.top_p = 0.9});`
/// Throws at options out of range, logits of NaN and a repetition_penalty that takes them to infinity, naming
/// `caller`.
Tensor choose_tokens(const Tensor& logits, const Tensor& ids, const GenerateOptions& options = {},
                     const char* caller = "choose_tokens");

}  // namespace gradus::nn
