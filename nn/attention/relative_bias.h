#pragma once
// T5's relative positions (Raffel et al. 2020, section 2.1): a trained value for each head and each bucket of
// distances is added to the scores.

#include "gradus/nn/module/module.h"

namespace gradus::nn {

struct RelativeBiasOptions {
  std::int64_t heads = 0;           // each has its own values
  std::int64_t buckets = 32;        // groups of distances that share a value
  std::int64_t max_distance = 128;  // distances of at least this share a bucket
  bool causal = false;              // later keys are hidden, so all buckets are for earlier ones
};

/// The bucket of a key `distance` positions after the query: small distances have one each, larger ones share
/// wider and wider buckets; unless causal, half of the buckets are for keys after the query.
std::int64_t relative_bucket(std::int64_t distance, const RelativeBiasOptions& options);

/// Returns a score bias [1, H, Tq, Tk], with query i at position i + (Tk - Tq); all layers of a stack share
/// it. `nn::RelativeBias bias({.heads = 8});  encoder(x, {.score_bias = bias(T, T)});`
struct RelativeBias : Module {
  explicit RelativeBias(const RelativeBiasOptions& options);
  Tensor operator()(std::int64_t queries, std::int64_t keys) const;

  Parameter weight;  // [buckets, H], N(0, 1) at the start

 private:
  RelativeBiasOptions options_;
};

}  // namespace gradus::nn
