#pragma once
// span_corruption: how T5 makes a task of any text (Raffel et al. 2020, section 3.1.4).

#include <optional>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::data {

struct SpanCorruptionOptions {
  double noise_density = 0.15;          // the share of tokens that are taken out
  double mean_span = 3;                 // how many neighbours at once, on average
  std::int64_t sentinel = -1;           // the token that stands for the first span, in T5's vocabulary 32,099
                                        // (<extra_id_0>); those below it stand for the next ones, and for
                                        // nothing else: padding and the end are not among them
  std::optional<std::int64_t> end = 1;  // added to both texts; nullopt: no token is
};

/// What span_corruption() gives.
struct CorruptedText {
  Tensor source;  // the text, a sentinel in place of each span: [T - noise + spans (+ 1)]
  Tensor target;  // each sentinel and the span it stands for: [noise + spans (+ 1)]
};

/// Spans of ids [T] (i64) taken out of it, as T5's code draws them: noise = round(T noise_density) tokens, at
/// least 1, in round(noise / mean_span) spans; every way to cut noise and rest into so many pieces is equally
/// likely, and the rest comes first. Throws unless T is at least 2, and where ids or end are a sentinel.
/// `const auto [source, target] = data::span_corruption(ids, {.sentinel = 32'099});` A DataLoader's function
/// may return it: `.pad = {0}` lengthens both texts.
CorruptedText span_corruption(const Tensor& ids, const SpanCorruptionOptions& options,
                              Generator& generator = default_generator());

}  // namespace gradus::data
