// Attention and rotary positions.

#include <cmath>

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

constexpr Wanted kScores{.low = -4, .high = 4};

/// q, k and perhaps v; k and v may have fewer heads.
bool queries_and_keys(Draw& draw, Step& p, bool values) {
  const std::int64_t batch = draw.between(1, 2), heads = draw.between(1, 2),
                     shared = draw.chance(0.3) ? 1 : heads;
  const std::int64_t queries = draw.between(1, 3), keys = draw.between(1, 3), width = draw.between(1, 3);
  const DType dtype = draw.floating();
  draw.add_like(p, {batch, heads, queries, width}, dtype, kScores);
  draw.add_like(p, {batch, shared, keys, width}, dtype, kScores);
  if (values) draw.add_like(p, {batch, shared, keys, draw.between(1, 3)}, dtype, kScores);
  p.flag = draw.chance(0.3);
  p.n = draw.chance(0.3) ? draw.between(1, 3) : 0;
  p.keep = draw.chance(0.3);
  p.a = draw.number(0.25, 1);
  return true;
}

Drawing attends(int mask, bool values = true) {  // mask: 0 none, 1 bool, 2 float
  return [=](Draw& draw, Step& p) {
    queries_and_keys(draw, p, values);
    if (mask == 0) return true;
    const Shape& q = draw.shape(p, 0);
    const Shape scores{q[0], q[1], q[2], draw.shape(p, 1)[2]};
    if (mask == 1)
      draw.add_mask(p, draw.narrowed(scores));
    else
      draw.add_like(p, draw.narrowed(scores), draw.value(p.inputs[0]).dtype, kScores);
    return true;
  };
}

struct Rule {
  bool causal = false, alibi = false;
  std::int64_t window = 0;
  double scale = 1;
  const Block* mask = nullptr;
};

/// 2^(-8 h / heads), for 1 or 2 heads.
double alibi_slope(std::int64_t head, std::int64_t heads) {
  return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(heads));
}

/// The weights of one query: 0 where it sees no key.
Line weights_of(const Rule& rule, const Block& q, const Block& k, const Index& row) {
  const std::int64_t heads = q.shape[1], keys = k.shape[2], group = heads / k.shape[1];
  const std::int64_t position = row[2] + keys - q.shape[2];
  Line scores, weights(sz(keys));
  std::vector<std::size_t> seen;
  for (std::int64_t j = 0; j < keys; ++j) {
    const std::int64_t distance = position - j;
    if (rule.causal && distance < 0) continue;
    if (rule.window > 0 && std::abs(distance) >= rule.window) continue;
    Line products;
    for (std::int64_t c = 0; c < q.shape[3]; ++c)
      products.push_back(q[place_of(q.shape, {row[0], row[1], row[2], c})] *
                         k[place_of(k.shape, {row[0], row[1] / group, j, c})]);
    Scalar score = sum(products) * rule.scale;
    if (rule.alibi) score = score - alibi_slope(row[1], heads) * static_cast<double>(std::abs(distance));
    if (rule.mask) {
      const Scalar m = number_at(*rule.mask, {row[0], row[1], row[2], j});
      if (rule.mask->dtype == boolean && value_of(m) == 0) continue;
      if (rule.mask->dtype != boolean) score = score + m;
    }
    seen.push_back(sz(j));
    scores.push_back(score);
  }
  for (Scalar& weight : weights) weight = constant(0);
  if (seen.empty()) return weights;
  const Line p = softmax(scores);
  for (std::size_t i = 0; i < seen.size(); ++i) weights[seen[i]] = p[i];
  return weights;
}

Block attended(const Rule& rule, const Block& q, const Block& k, const Block& v) {
  Shape shape = q.shape;
  shape[3] = v.shape[3];
  return made(shape, q.dtype, [&](const Index& i) {
    const Line weights = weights_of(rule, q, k, i);
    Line products;
    for (std::size_t j = 0; j < weights.size(); ++j)
      products.push_back(
          weights[j] *
          v[place_of(v.shape, {i[0], i[1] / (q.shape[1] / k.shape[1]), static_cast<std::int64_t>(j), i[3]})]);
    return sum(products);
  });
}

Block weights(const Rule& rule, const Block& q, const Block& k) {
  return made({q.shape[0], q.shape[1], q.shape[2], k.shape[2]}, q.dtype,
              [&](const Index& i) { return weights_of(rule, q, k, i)[sz(i[3])]; });
}

double default_scale(const Block& q) { return 1 / std::sqrt(static_cast<double>(q.shape[3])); }

/// One of the three parts of [B, T, 3 C] as [B, H, T, D].
Block packed_part(const Block& x, std::int64_t which, std::int64_t heads) {
  const std::int64_t width = x.shape[2] / 3 / heads;
  return made({x.shape[0], heads, x.shape[1], width}, x.dtype, [&](const Index& i) {
    return x[place_of(x.shape, {i[0], i[2], (which * heads + i[1]) * width + i[3]})];
  });
}

Block rotated(const Step& p, const Block& x, bool halves) {
  const std::int64_t channels = p.n, pairs = channels / 2;
  return made(x.shape, x.dtype, [&](const Index& i) {
    const std::int64_t c = i.back();
    if (c >= channels) return x[place_of(x.shape, i)];
    const std::int64_t pair = halves ? c % pairs : c / 2;
    const bool first = halves ? c < pairs : c % 2 == 0;
    Index other = i;
    other.back() = halves ? (first ? c + pairs : c - pairs) : (first ? c + 1 : c - 1);
    const double angle = static_cast<double>(p.m + i[i.size() - 2]) *
                         std::pow(100.0, -2.0 * static_cast<double>(pair) / static_cast<double>(channels));
    const Scalar own = x[place_of(x.shape, i)] * constant(std::cos(angle), 8 * tape().unit),
                 turned = x[place_of(x.shape, other)] * constant(std::sin(angle), 8 * tape().unit);
    return first ? own - turned : own + turned;
  });
}

bool drawn_rows(Draw& draw, Step& p) {
  draw.add(p, {.rank = 2, .empty = false});
  const std::int64_t width = draw.shape(p, 0).back();
  if (width < 2) return false;
  p.n = 2 * draw.between(1, width / 2);
  p.m = draw.below(5);
  p.flag = p.n == width;
  return true;
}

}  // namespace

std::vector<OpCase> attention_cases() {
  const auto sdpa = [](const Step& p, const Blocks& x) -> Blocks {
    return {attended({.causal = p.flag,
                      .alibi = p.keep,
                      .window = p.n,
                      .scale = default_scale(x[0]),
                      .mask = x.size() > 3 ? &x[3] : nullptr},
                     x[0], x[1], x[2])};
  };
  const auto of_weights = [](const Step& p, const Blocks& x) -> Blocks {
    return {weights({.causal = p.flag,
                     .alibi = p.keep,
                     .window = p.n,
                     .scale = p.a,
                     .mask = x.size() > 2 ? &x[2] : nullptr},
                    x[0], x[1])};
  };
  return {
      {"scaled_dot_product_attention", attends(0),
       GRADUS_CALL(scaled_dot_product_attention(x[0], x[1], x[2],
                                                {.causal = p.flag, .window = p.n, .alibi = p.keep})),
       sdpa, "x0? x1? x2? y?"},
      {"scaled_dot_product_attention", attends(1),
       GRADUS_CALL(scaled_dot_product_attention(
           x[0], x[1], x[2], {.causal = p.flag, .mask = x[3], .window = p.n, .alibi = p.keep})),
       sdpa, "x0? x1? x2? x3? y?"},
      {"scaled_dot_product_attention", attends(2),
       GRADUS_CALL(scaled_dot_product_attention(
           x[0], x[1], x[2], {.causal = p.flag, .mask = x[3], .window = p.n, .alibi = p.keep})),
       sdpa, "x0? x1? x2? x3? y?"},
      {"attention_weights", attends(0, false),
       GRADUS_CALL(
           attention_weights(x[0], x[1], {.causal = p.flag, .scale = p.a, .window = p.n, .alibi = p.keep})),
       of_weights, "x0? x1? y?"},
      {"attention_weights", attends(2, false),
       GRADUS_CALL(attention_weights(
           x[0], x[1], {.causal = p.flag, .mask = x[2], .scale = p.a, .window = p.n, .alibi = p.keep})),
       of_weights, "x0? x1? x2? y?"},
      {"self_attention_packed",
       [](Draw& draw, Step& p) {
         p.other = draw.between(1, 2);
         draw.add_like(p, {draw.between(1, 2), draw.between(1, 3), 3 * p.other * draw.between(1, 2)},
                       draw.floating(), kScores);
         p.flag = draw.chance(0.5);
         return true;
       },
       GRADUS_CALL(self_attention_packed(x[0], p.other, {.causal = p.flag})),
       [](const Step& p, const Blocks& x) -> Blocks {
         const Block q = packed_part(x[0], 0, p.other), k = packed_part(x[0], 1, p.other),
                     v = packed_part(x[0], 2, p.other);
         const Block y = attended({.causal = p.flag, .scale = default_scale(q)}, q, k, v);
         return {made({x[0].shape[0], x[0].shape[1], x[0].shape[2] / 3}, x[0].dtype, [&](const Index& i) {
           const std::int64_t width = y.shape[3];
           return y[place_of(y.shape, {i[0], i[2] / width, i[1], i[2] % width})];
         })};
       },
       "x0~ y?"},
      {"rope", drawn_rows, GRADUS_CALL(rope(x[0], {.offset = p.m, .base = 100, .channels = p.n})),
       [](const Step& p, const Blocks& x) -> Blocks { return {rotated(p, x[0], true)}; }},
      {"rope", drawn_rows,
       GRADUS_CALL(rope(x[0], {.offset = p.m, .base = 100, .channels = p.n, .pairs = RopePairs::neighbours})),
       [](const Step& p, const Blocks& x) -> Blocks { return {rotated(p, x[0], false)}; }},
  };
}

}  // namespace gradus::test::graphs
