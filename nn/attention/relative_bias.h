#pragma once
// T5's relative positions (Raffel et al. 2020, section 2.1): a trained number for each head and each bucket
// of distances, added to the scores.

#include "gradus/nn/module/module.h"

namespace gradus::nn {

struct RelativeBiasOptions {
  std::int64_t heads = 0;           // each has numbers of its own
  std::int64_t buckets = 32;        // groups of distances that share a number
  std::int64_t max_distance = 128;  // all that is further away shares a bucket
  bool causal = false;              // later keys are not seen, so all buckets are for earlier ones
};

/// The bucket of a key that stands `distance` positions after the query: one each for small distances, then
/// wider and wider ones; half of them, unless causal, are for keys after the query.
std::int64_t relative_bucket(std::int64_t distance, const RelativeBiasOptions& options);

/// Scores' bias [1, H, Tq, Tk], query i at position i + (Tk - Tq): one for all layers of a stack.
/// `nn::RelativeBias bias({.heads = 8});  encoder(x, {.score_bias = bias(T, T)});`
struct RelativeBias : Module {
  explicit RelativeBias(const RelativeBiasOptions& options);
  Tensor operator()(std::int64_t queries, std::int64_t keys) const;

  Parameter weight;  // [buckets, H], N(0, 1) at the start

 private:
  RelativeBiasOptions options_;
};

}  // namespace gradus::nn
