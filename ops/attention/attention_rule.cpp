// What attention accepts.

#include <algorithm>
#include <cmath>

#include "gradus/core/profile/profile.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/detail/operand.h"

namespace gradus::attention {

namespace {

/// The mask as a view [B, H, Tq, Tk] whose rows are contiguous or one repeated value.
Array broadcast_mask(const char* op, const Tensor& mask, const Shape& scores, DType dtype) {
  Array m = mask.array();
  check(m.dtype() == DType::boolean || m.dtype() == dtype,
        "{}: expects a bool mask (true may be seen) or an {} mask (added to the scores), got {} {}: {}", op,
        dtype, m.dtype(), m.shape(),
        m.dtype() == DType::i64 ? "compare, as in mask != 0"
        : dtype == DType::f64   ? "convert with .to(f64)"
                                : "convert with .to(f32)");
  const int lead = scores.size() - m.dim();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < m.dim(); ++i) fits = m.shape()[i] == 1 || m.shape()[i] == scores[lead + i];
  check(fits, "{}: mask {} does not broadcast to the scores [B, H, Tq, Tk] {}", op, m.shape(), scores);
  if (m.dim() > 0 && m.size(-1) > 1 && m.strides().back() > 1) m = m.contiguous();
  return m.expand(scores);
}

/// Segments that fill the rows of q [1, H, N, D] and k, as many of both, none longer than it may be.
void expect_texts(const char* op, const TextPairs& texts, const Array& q, const Array& k) {
  const auto fits = [](const Segments& segments, const Array& x) {
    bool good = segments && x.size(0) == 1 && segments.begin(0) == 0 && segments.begins.back() == x.size(2);
    for (std::int64_t b = 0; good && b < segments.batch(); ++b)
      good = segments.size(b) >= 0 && segments.size(b) <= segments.length;
    return good;
  };
  check(fits(texts.queries, q) && fits(texts.keys, k) && texts.queries.batch() == texts.keys.batch(),
        "{}: the segments are not those of q {} and k {}", op, q.shape(), k.shape());
}

}  // namespace

void check_queries_keys(const char* op, const Tensor& q, const Tensor& k) {
  check(operand(op, q).dim() == 4 && operand(op, k).dim() == 4,
        "{}: expects q [B, H, Tq, D] and k [B, H, Tk, D], got {} and {}: unsqueeze() adds missing axes", op,
        q.shape(), k.shape());
  check(q.size(0) == k.size(0) && q.size(3) == k.size(3),
        "{}: q {} and k {} do not match: batch and the last axis must be equal", op, q.shape(), k.shape());
  check(q.size(1) == k.size(1) || (k.size(1) > 0 && q.size(1) > 0 && q.size(1) % k.size(1) == 0),
        "{}: q {} has {} heads, which k {} with its {} cannot share: expects as many, or a divisor", op,
        q.shape(), q.size(1), k.shape(), k.size(1));
  array::check_operands(op, q.array(), k.array());
  check_floating(op, q.array());
}

Rule rule_of(const char* op, const AttentionOptions& options, const Array& q, const Array& k,
             const TextPairs& texts) {
  check(options.dropout >= 0 && options.dropout <= 1, "{}: expects dropout from 0 to 1, got {}", op,
        options.dropout);
  check(options.window >= 0, "{}: expects a window of 1 or more, or 0 for none, got {}", op, options.window);
  if (texts.queries) expect_texts(op, texts, q, k);
  Rule rule{.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3)))),
            .causal = options.causal,
            .window = options.window,
            .dropout = options.dropout,
            .texts = texts,
            .bf16 = array::in_bf16(q.dtype())};
  const Shape scores{rule.batch(q), q.size(1), rule.queries(q), rule.keys(k)};
  if (options.alibi) rule.slopes = alibi_slopes(q.size(1));
  if (options.mask.defined()) rule.mask = broadcast_mask(op, options.mask, scores, q.dtype());
  if (rule.dropout > 0)
    rule.random = default_generator().reserve(static_cast<std::uint64_t>(numel(scores) + 3) / 4);
  return rule;
}

Span seen(const Rule& rule, std::int64_t i, std::int64_t queries, std::int64_t keys) {
  const std::int64_t at = i + keys - queries;  // the query's own position among the keys
  const bool banded = rule.window > 0 && rule.window < keys + queries;
  const std::int64_t begin = banded ? at - rule.window + 1 : 0;
  const std::int64_t end = rule.causal ? at + 1 : banded ? at + rule.window : keys;
  const std::int64_t last = std::clamp<std::int64_t>(end, 0, keys);
  return {std::clamp<std::int64_t>(begin, 0, last), last};
}

void count_products(const Rule& rule, const Array& q, const Array& k, const Array& v, int q_products,
                    int v_products) {
  if (!detail::watcher) return;
  const std::int64_t queries = rule.queries(q), keys = rule.keys(k);
  const Segments &rows = rule.texts.queries, &columns = rule.texts.keys;
  double pairs = 0;
  for (std::int64_t b = 0; b < rule.batch(q); ++b)
    for (std::int64_t i = 0; i < (rows ? rows.size(b) : queries); ++i) {
      const Span span = seen(rule, i, queries, keys);
      const std::int64_t end = columns ? std::min(span.end, columns.size(b)) : span.end;
      pairs += static_cast<double>(std::max<std::int64_t>(0, end - span.begin));
    }
  const auto width = static_cast<double>(q_products * q.size(3) + v_products * v.size(3));
  count_flops(2 * static_cast<double>(q.size(1)) * pairs * width);
}

}  // namespace gradus::attention

namespace gradus {

std::vector<double> alibi_slopes(std::int64_t heads) {
  check(heads >= 1, "alibi_slopes: expects 1 or more heads, got {}", heads);
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  const auto slope = [](std::int64_t h, std::int64_t of) {
    return std::exp2(-8 * static_cast<double>(h) / static_cast<double>(of));
  };
  for (std::int64_t h = 1; h <= power; ++h) slopes.push_back(slope(h, power));
  for (std::int64_t h = 1; std::ssize(slopes) < heads; h += 2) slopes.push_back(slope(h, 2 * power));
  return slopes;
}

}  // namespace gradus
