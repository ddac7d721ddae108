#include "learn/learn.h"

// The probabilities from which a token is drawn, and one step of beam search. About 20 lines.
//
//   probabilities   temperature, then top-k, then top-p, each of what the one before it leaves. k = 0 and
//                   p = 1 leave all tokens; temperature 0 is the limit of small temperatures. Of equal
//                   tokens, the one with the lower number counts as the likelier. A logit may be -infinity.
//
//   beam_step       log_p [K, V] has the logarithms of the probabilities of V tokens after each of K beams.
//                   The `width` likeliest of the texts that are one token longer, the likeliest first. Of
//                   equal ones, the one with the earlier beam comes first, then the lower token. A text of
//                   probability 0 is none: then there may be fewer than `width`.
//
//   struct Beam { std::vector<std::int64_t> tokens; double log_p; };
//   given in examples/course/23_decoding/given.h
//
// Forbidden: nn. Useful: topk(x, k), which keeps the order of equal values, cumsum(x, 0), masked_fill,
// scatter(x, 0, index, source), log_p.to_vector<double>().

/// Returns [V], for logits [V] in any order.
Tensor probabilities(const Tensor& logits, double temperature, std::int64_t k, double p) {
  return todo(logits, temperature, k, p);
}

std::vector<Beam> beam_step(const std::vector<Beam>& beams, const Tensor& log_p, std::size_t width) {
  return todo(beams, log_p, width);
}
