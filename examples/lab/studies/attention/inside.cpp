#include "lab/studies/attention/inside.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/gradus.h"

namespace gradus::lab::attention {

namespace {

constexpr double kEps = 1e-5;  // of the models here

/// [B, T, C] -> [B, H, T, D]
Tensor heads_apart(const Tensor& x, std::int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

bool has(const nn::Module& module, const std::string& name) {
  for (const auto& [key, w] : module.named_parameters())
    if (key == name) return true;
  return false;
}

/// [T, T]: true where a key is after its query.
Tensor future_of(std::int64_t length) { return triu(ones({length, length}), 1) > 0.5; }

}  // namespace

QueriesKeys queries_and_keys(const nn::Module& block, const Tensor& input, std::int64_t heads) {
  const auto part = [&](int index, const std::string& norm) {
    const std::int64_t c = input.size(2), begin = index * c;
    const Tensor w = block.parameter("self_attn.in_proj_weight").slice(0, begin, begin + c);
    const Tensor b = block.parameter("self_attn.in_proj_bias").slice(0, begin, begin + c);
    const Tensor apart = heads_apart(linear(input, w, b), heads);
    if (!has(block, norm + ".weight")) return apart;
    return layer_norm(apart, block.parameter(norm + ".weight"), block.parameter(norm + ".bias"), kEps);
  };
  return {part(0, "self_attn.q_norm"), part(1, "self_attn.k_norm")};
}

std::vector<QueriesKeys> queries_and_keys(const nn::GPT& gpt, const Tensor& ids) {
  const NoGrad guard;
  const bool pre = gpt.options().placement == nn::pre_ln();
  Tensor x = gpt.token_embedding(ids) + (*gpt.position_embedding)(ids.size(1));
  std::vector<QueriesKeys> all;
  for (const nn::AnyBlock& block : gpt.transformer.layers) {
    const Tensor input =
        pre ? layer_norm(x, block.parameter("norm1.weight"), block.parameter("norm1.bias"), kEps) : x;
    all.push_back(queries_and_keys(block, input, gpt.options().block.heads));
    x = block(x);
  }
  return all;
}

Tensor scores_of(const QueriesKeys& heads) {
  return matmul(heads.q, heads.k.transpose(-2, -1)) / std::sqrt(static_cast<double>(heads.q.size(-1)));
}

ScoreSize score_size(const std::vector<QueriesKeys>& layers) {
  const NoGrad guard;
  ScoreSize size;
  for (const QueriesKeys& layer : layers) {
    const Tensor scores = scores_of(layer);
    const std::int64_t length = scores.size(-1);
    const Tensor future = future_of(length);
    size.largest = std::max(size.largest, masked_fill(scores.abs(), future, 0.0).max().item());
    const Tensor weights = softmax(masked_fill(scores, future, -INFINITY), -1);
    const Tensor entropy = -(weights * log(clamp(weights, 1e-30))).sum(-1).slice(-1, 1);  // [B, H, T - 1]
    size.entropy += (entropy / log(arange(2.0, static_cast<double>(length) + 1))).mean().item() /
                    static_cast<double>(layers.size());
  }
  return size;
}

namespace {

/// Sums over queries, for means.
struct MatchingSums {
  double mass = 0, wins = 0, pairs = 0, cosine = 0, queries = 0;
};

/// One query: its scores and cosines with each key it sees, and which are matches.
struct Row {
  std::vector<double> match, other, match_cosine, other_cosine;
  double mass = 0;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void count(MatchingSums& sums, const Row& row) {
  if (row.match.empty() || row.other.empty()) return;
  for (const double match : row.match)
    for (const double other : row.other) sums.wins += match > other ? 1 : match == other ? 0.5 : 0;
  sums.pairs += static_cast<double>(row.match.size() * row.other.size());
  sums.mass += row.mass;
  sums.cosine += mean_of(row.match_cosine) - mean_of(row.other_cosine);
  sums.queries += 1;
}

}  // namespace

Matching matching_of(const Tensor& q, const Tensor& k, const Tensor& documents) {
  const NoGrad guard;
  const std::int64_t length = documents.size(1);
  const Tensor products = matmul(q, k.transpose(-2, -1));
  const Tensor scaled = products / std::sqrt(static_cast<double>(q.size(-1)));
  const std::vector<double> score = products.to_vector<double>();
  const std::vector<double> weight =
      softmax(masked_fill(scaled, future_of(length), -INFINITY), -1).to_vector<double>();
  const std::vector<double> cosine =
      cosine_similarity(q.unsqueeze(2), k.unsqueeze(1), -1).to_vector<double>();
  const std::vector<std::int64_t> ids = documents.to_vector<std::int64_t>();
  MatchingSums sums;
  // A newline, then pairs of a box's name and its letter: names are at odd positions, letters at even ones.
  for (std::int64_t b = 0; b < documents.size(0); ++b)
    for (std::int64_t t = 3; t < length; t += 2) {
      Row row;
      for (std::int64_t j = 2; j < t; j += 2) {
        const auto at = static_cast<std::size_t>((b * length + t) * length + j);
        const auto token = [&](std::int64_t place) {
          return ids[static_cast<std::size_t>(b * length + place)];
        };
        const bool match = token(j - 1) == token(t);
        (match ? row.match : row.other).push_back(score[at]);
        (match ? row.match_cosine : row.other_cosine).push_back(cosine[at]);
        if (match) row.mass += weight[at];
      }
      count(sums, row);
    }
  if (sums.queries == 0) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {kNone, kNone, kNone};
  }
  return {sums.mass / sums.queries, sums.wins / sums.pairs, sums.cosine / sums.queries};
}

namespace {

/// Rows of length 1 that are orthogonal to each other and span the same (Gram-Schmidt, done twice).
Tensor orthonormal_rows(const Tensor& matrix) {
  const Tensor rows = matrix.to(f64).clone();
  for (std::int64_t i = 0; i < rows.size(0); ++i)
    for (int again = 0; again < 2; ++again) {
      for (std::int64_t j = 0; j < i; ++j) rows[i] -= rows[j] * (rows[i] * rows[j]).sum();
      rows[i] /= sqrt((rows[i] * rows[i]).sum());
    }
  return rows;
}

/// The largest eigenvalue of a symmetric matrix that has none below 0, by power iteration.
double largest_eigenvalue(const Tensor& matrix) {
  Tensor v = ones({matrix.size(0)}, f64) + 0.1 * arange(static_cast<double>(matrix.size(0)), f64);
  double value = 0;
  for (int i = 0; i < 200; ++i) {
    const Tensor next = matmul(matrix, v);
    value = std::sqrt((next * next).sum().item());
    if (value == 0) return 0;
    v = next / value;
  }
  return value;
}

}  // namespace

SubspaceAngles subspace_angles(const Tensor& a, const Tensor& b) {
  const NoGrad guard;
  const Tensor cosines = matmul(orthonormal_rows(a), orthonormal_rows(b).t());  // its singular values
  const Tensor squares = matmul(cosines, cosines.t());
  const double largest = std::sqrt(std::min(1.0, largest_eigenvalue(squares)));
  return {.overlap = (cosines * cosines).sum().item() / static_cast<double>(std::min(a.size(0), b.size(0))),
          .smallest = std::acos(largest) * 180 / std::acos(-1.0)};
}

SubspaceAngles head_angles(const nn::GPT& gpt, std::int64_t part) {
  const NoGrad guard;
  const nn::BlockOptions& block = gpt.options().block;
  const std::int64_t c = block.d_model, d = c / block.heads;
  SubspaceAngles sum;
  double pairs = 0;
  for (const nn::AnyBlock& layer : gpt.transformer.layers) {
    const Tensor w = layer.parameter("self_attn.in_proj_weight").slice(0, part * c, (part + 1) * c);
    for (std::int64_t i = 0; i < block.heads; ++i)
      for (std::int64_t j = 0; j < i; ++j) {
        const SubspaceAngles angles =
            subspace_angles(w.slice(0, i * d, (i + 1) * d).detach(), w.slice(0, j * d, (j + 1) * d).detach());
        sum.overlap += angles.overlap;
        sum.smallest += angles.smallest;
        pairs += 1;
      }
  }
  return {sum.overlap / pairs, sum.smallest / pairs};
}

}  // namespace gradus::lab::attention
