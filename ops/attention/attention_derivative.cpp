// Attention's gradients in ops, for gradients of gradients. The weights are computed again and kept, all of
// [B, H, Tq, Tk]:
//   P   = attention_weights(q, k)            with the op's masks; zeros in a row that sees no key
//   P'  = dropout(P)                         of the same numbers as in forward
//   dV  = P'^T dO
//   dP  = dropout(dO V^T)                    of the same numbers
//   dS  = P (dP - sum_j P_j dP_j)
//   dQ  = scale dS K,   dK = scale dS^T Q,   dmask = dS, summed where the mask was repeated
// Concatenated texts are put into a batch of equal lengths, whose mask hides what is past their ends: there P
// is 0, and so dS.

#include "gradus/ops/attention/attention_derivative.h"

#include <cmath>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/ops/attention/shared_heads.h"
#include "gradus/ops/detail/formula.h"
#include "gradus/ops/norm/softmax_gradient.h"

namespace gradus::attention {

namespace {

/// Where the rows of concatenated texts are in [B * length].
Tensor places(const Segments& texts) {
  std::vector<std::int64_t> rows;
  for (std::int64_t b = 0; b < texts.batch(); ++b)
    for (std::int64_t i = 0; i < texts.size(b); ++i) rows.push_back(b * texts.length + i);
  return from_vector(rows, {std::ssize(rows)});
}

/// [1, H, N, D] -> [B, H, length, D], with zeros past the end of a text.
Tensor filled_up(const Tensor& x, const Segments& texts) {
  const std::int64_t batch = texts.batch(), length = texts.length, heads = x.size(1), width = x.size(3);
  const Tensor rows = zeros({1, heads, batch * length, width}, x.dtype());
  return index_add(rows, 2, places(texts), x).reshape({heads, batch, length, width}).transpose(0, 1);
}

/// Its transpose: [B, H, length, D] -> [1, H, N, D].
Tensor in_a_row(const Tensor& y, const Segments& texts) {
  const Tensor rows = y.transpose(0, 1).reshape({1, y.size(1), y.size(0) * y.size(2), y.size(3)});
  return index_select(rows, 2, places(texts));
}

/// Which of [B, length] are rows of a text.
Tensor filled(const Segments& texts) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t b = 0; b < texts.batch(); ++b) sizes.push_back(texts.size(b));
  return arange(texts.length) < from_vector(sizes, {texts.batch(), 1});
}

/// The mask, which may be undefined, without what is past the ends of the texts.
Tensor with_ends(const Tensor& mask, const TextPairs& texts) {
  const Tensor there = filled(texts.queries).unsqueeze(1).unsqueeze(3) &
                       filled(texts.keys).unsqueeze(1).unsqueeze(1);  // [B, 1, Tq, Tk]
  if (!mask.defined()) return there;
  return mask.dtype() == boolean ? mask & there : where(there, mask, -INFINITY);
}

/// The gradients for a batch of equal lengths.
Operands derivative_of_batch(const Rule& rule, const Operands& x, const Tensor& dout, const Wanted& wanted) {
  const auto dropped = [&](const Tensor& weights) {
    Generator generator;
    generator.set_state(rule.random);
    return dropout(weights, rule.dropout, true, generator);
  };
  const std::int64_t heads = x.q.size(1), kv_heads = x.k.size(1);
  const Tensor p = attention_weights(x.q, x.k,
                                     {.causal = rule.causal,
                                      .mask = x.mask,
                                      .scale = rule.scale,
                                      .window = rule.window,
                                      .alibi = !rule.slopes.empty()});
  Operands d;
  if (wanted.v) d.v = sum_of_heads(matmul(dropped(p).transpose(-2, -1), dout), kv_heads);
  if (!wanted.q && !wanted.k && !wanted.mask) return d;
  const Tensor dp = dropped(matmul(dout, for_each_head(x.v, heads).transpose(-2, -1)));
  const Tensor ds = softmax_gradient(p, dp);
  if (wanted.q) d.q = matmul(ds, for_each_head(x.k, heads)) * rule.scale;
  if (wanted.k) d.k = sum_of_heads(matmul(ds.transpose(-2, -1), x.q), kv_heads) * rule.scale;
  if (wanted.mask) d.mask = formula::sum_to(ds, x.mask.shape());
  return d;
}

}  // namespace

Operands derivative(const Rule& rule, const Operands& x, const Tensor& dout, const Wanted& wanted) {
  const Segments &queries = rule.texts.queries, &keys = rule.texts.keys;
  if (!queries) return derivative_of_batch(rule, x, dout, wanted);
  const Operands batch{filled_up(x.q, queries), filled_up(x.k, keys), filled_up(x.v, keys),
                       with_ends(x.mask, rule.texts)};
  Operands d = derivative_of_batch(rule, batch, filled_up(dout, queries), wanted);
  if (wanted.q) d.q = in_a_row(d.q, queries);
  if (wanted.k) d.k = in_a_row(d.k, keys);
  if (wanted.v) d.v = in_a_row(d.v, keys);
  if (wanted.mask) d.mask = formula::sum_to(d.mask, x.mask.shape());
  return d;
}

}  // namespace gradus::attention
