#pragma once
// The attention of a GPT from inside: queries and keys, their matches in the recall language, the subspaces
// of heads.

#include <cstdint>
#include <vector>

#include "gradus/nn/nn.h"

namespace gradus::lab::attention {

/// Queries and keys of one layer after their norms: [B, H, T, D].
struct QueriesKeys {
  Tensor q, k;
};
/// All layers' for ids [B, T]; of a GPT of Pre-LN or Post-LN blocks with learned positions.
std::vector<QueriesKeys> queries_and_keys(const nn::GPT& gpt, const Tensor& ids);
/// The same of one block for the input of its attention, [B, T, C].
QueriesKeys queries_and_keys(const nn::Module& block, const Tensor& input, std::int64_t heads);

/// q k / sqrt(D), [B, H, T, T].
Tensor scores_of(const QueriesKeys& heads);

struct ScoreSize {
  double largest = 0;  // |q k| / sqrt(D) of a visible pair
  double entropy = 0;  // of a row of the softmax, mean over rows of two keys and more, over ln(keys)
};
/// Over all layers, causal.
ScoreSize score_size(const std::vector<QueriesKeys>& layers);

/// How a head treats pairs of a box's name and an earlier letter: a match is the box's own.
struct Matching {
  double mass = 0;    // the share of attention at a name that goes to matches
  double auc = 0;     // probability that q k of a match is larger than that of another pair of the same query
  double cosine = 0;  // mean cosine of q and k, matches minus others
};
/// Of one head's q, k [B, T, D] for documents [B, T] of the recall language. NaN without a query that has
/// both.
Matching matching_of(const Tensor& q, const Tensor& k, const Tensor& documents);

/// Two subspaces of R^n, each the span of a matrix's rows [D, n], D at most n.
struct SubspaceAngles {
  double overlap = 0;   // mean squared cosine of the principal angles: 1 same, 0 orthogonal, D/n at random
  double smallest = 0;  // principal angle in degrees
};
SubspaceAngles subspace_angles(const Tensor& a, const Tensor& b);

/// The mean over all pairs of heads and layers; part 0 of in_proj_weight is queries, 1 keys, 2 values.
SubspaceAngles head_angles(const nn::GPT& gpt, std::int64_t part);

}  // namespace gradus::lab::attention
