#pragma once
// span_corruption: T5's training task for any text (Raffel et al. 2020, section 3.1.4).

#include <optional>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::data {

struct SpanCorruptionOptions {
  double noise_density = 0.15;          // the share of tokens that are removed
  double mean_span = 3;                 // the mean number of tokens in a span
  std::int64_t sentinel = -1;           // the token that replaces the first span, in T5's vocabulary 32,099
                                        // (<extra_id_0>); the ids below it replace the following spans and
                                        // must have no other use, such as padding or the end
  std::optional<std::int64_t> end = 1;  // appended to both texts; nullopt appends none
};

/// The result of span_corruption().
struct CorruptedText {
  Tensor source;  // the text, a sentinel in place of each span: [T - noise + spans (+ 1)]
  Tensor target;  // each sentinel and the span it replaces: [noise + spans (+ 1)]
};

/// Removes spans from ids [T] (i64), drawn as in T5's code: noise = round(T noise_density) tokens, at least
/// 1, in round(noise / mean_span) spans; every way to cut the noise and the remaining tokens into that many
/// pieces is equally likely, and the text begins with a piece that remains. Throws unless T is at least 2,
/// and when ids or end contain a sentinel. `const auto [source, target] = data::span_corruption(ids,
/// {.sentinel = 32'099});` A DataLoader's function may return it: `.pad = {0}` pads both texts.
CorruptedText span_corruption(const Tensor& ids, const SpanCorruptionOptions& options,
                              Generator& generator = default_generator());

}  // namespace gradus::data
