// Attention over concatenated texts, against the same texts padded to a batch.

#include "attention_reference.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/attention/segments.h"

namespace gradus::test {
namespace {

using attention::Segments;
using attention::TextPairs;

Segments segments(const std::vector<std::int64_t>& lengths, std::int64_t most) {
  Segments made{.begins = {0}, .length = most};
  for (const std::int64_t length : lengths) made.begins.push_back(made.begins.back() + length);
  return made;
}

/// [1, H, N, D] -> [B, H, length, D]; what lies past the end of a text must not matter.
Tensor filled_up(const Tensor& x, const Segments& texts) {
  Tensors rows;
  for (std::int64_t b = 0; b < texts.batch(); ++b) {
    const Tensor rest = full({1, x.size(1), texts.length - texts.size(b), x.size(3)}, 7, x.dtype());
    rows.push_back(cat({x.slice(2, texts.begin(b), texts.begin(b + 1)), rest}, 2));
  }
  return cat(rows, 0);
}

/// [B, H, length, D] -> [1, H, N, D]
Tensor in_a_row(const Tensor& y, const Segments& texts) {
  Tensors rows;
  for (std::int64_t b = 0; b < texts.batch(); ++b)
    rows.push_back(y.slice(0, b, b + 1).slice(2, 0, texts.size(b)));
  return cat(rows, 2);
}

/// [B, 1, 1, Tk] bool
Tensor keys_there(const Segments& keys) {
  Tensors rows;
  for (std::int64_t b = 0; b < keys.batch(); ++b) rows.push_back(arange(keys.length) < keys.size(b));
  return stack(rows).unsqueeze(1).unsqueeze(1);
}

/// A bool mask or values to add, without the padded keys.
Tensor with_ends(const Tensor& mask, const Tensor& there) {
  if (!mask.defined()) return there;
  return mask.dtype() == boolean ? mask & there : where(there, mask, full({}, -kInf, mask.dtype()));
}

void check_as_filled_up(const TextPairs& texts, AttentionOptions options, std::int64_t kv_heads = 4) {
  const Tensor q = leaf(randn({1, 4, texts.queries.begins.back(), 6}, f64)),
               k = leaf(randn({1, kv_heads, texts.keys.begins.back(), 6}, f64)),
               v = leaf(randn({1, kv_heads, texts.keys.begins.back(), 5}, f64));
  Tensors leaves{q, k, v};
  if (options.mask.requires_grad()) leaves.push_back(options.mask);
  const Tensor seed = randn({1, 4, q.size(2), 5}, f64);
  const auto run = [&](const auto& call) {
    for (const Tensor& x : leaves) x.zero_grad();
    manual_seed(3);  // dropout draws the same numbers
    const Tensor y = call();
    y.backward(seed);
    Tensors results{y.detach()};
    for (const Tensor& x : leaves) results.push_back(x.grad());
    if (texts.queries.length > 10) return results;
    manual_seed(3);
    Tensor size = zeros({}, f64);
    for (const Tensor& dx : grad(call(), leaves, {.grad_output = seed, .create_graph = true})) {
      results.push_back(dx.detach());
      size = size + dx.square().sum();
    }
    for (const Tensor& second : grad(size, leaves)) results.push_back(second);
    return results;
  };
  const Tensors got = run([&] { return attention::attend_in_segments(q, k, v, texts, options); });
  const Tensors expected = run([&] {
    AttentionOptions filled = options;
    filled.mask = with_ends(options.mask, keys_there(texts.keys));
    const Tensor keys = filled_up(k, texts.keys), values = filled_up(v, texts.keys);
    return in_a_row(scaled_dot_product_attention(filled_up(q, texts.queries), keys, values, filled),
                    texts.queries);
  });
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    check_close(got[i], expected[i]);
  }
}

void check_kinds(const TextPairs& texts) {
  const std::int64_t b = texts.queries.batch(), tq = texts.queries.length, tk = texts.keys.length;
  check_as_filled_up(texts, {});
  check_as_filled_up(texts, {.causal = true, .scale = 0.3});
  check_as_filled_up(texts, {.window = 3}, 2);
  check_as_filled_up(texts, {.causal = true, .window = 2, .alibi = true}, 1);
  check_as_filled_up(texts, {.mask = leaf(randn({4, tq, tk}, f64)), .dropout = 0.3});
  check_as_filled_up(texts, {.causal = true, .mask = leaf(randn({b, 1, 1, tk}, f64))});
  check_as_filled_up(texts, {.mask = rand({b, 1, tq, tk}) < 0.5});
}

TEST_CASE("attention in segments: values, gradients and their gradients of a padded batch") {
  manual_seed(1);
  const Segments few = segments({3, 0, 1, 5}, 5), others = segments({2, 4, 0, 6}, 6);
  check_kinds({few, few});
  check_kinds({few, others});
  check_kinds({segments({0, 0}, 3), segments({2, 0}, 2)});
  const Segments tiles = segments({130, 1, 70}, 140), blocks = segments({600, 0, 3}, 600);
  check_kinds({tiles, tiles});
  check_as_filled_up({tiles, blocks}, {.mask = leaf(randn({140, 600}, f64))}, 2);
  check_as_filled_up({blocks, tiles}, {});
}

TEST_CASE("attention in segments: q, k and v side by side") {
  manual_seed(2);
  const Segments texts = segments({4, 1, 0, 9}, 10);
  for (const bool causal : {false, true}) {
    const Tensor x = leaf(randn({1, 14, 24}, f64)), seed = randn({1, 14, 8}, f64);
    const AttentionOptions options{.causal = causal, .mask = leaf(randn({2, 10, 10}, f64))};
    const auto run = [&](const Tensor& y) {
      x.zero_grad(), options.mask.zero_grad();
      y.backward(seed);
      return Tensors{y.detach(), x.grad(), options.mask.grad()};
    };
    const auto heads = [&](std::int64_t part) {
      return x.slice(2, part * 8, part * 8 + 8).reshape({1, 14, 2, 4}).transpose(1, 2);
    };
    const Tensors got = run(attention::self_attend_in_segments(x, 2, texts, options));
    const Tensors expected =
        run(attention::attend_in_segments(heads(0), heads(1), heads(2), {texts, texts}, options)
                .transpose(1, 2)
                .reshape({1, 14, 8}));
    for (std::size_t i = 0; i < got.size(); ++i) check_close(got[i], expected[i]);
  }
}

TEST_CASE("attention in segments: gradients, layouts, threads") {
  const auto check = [](const TextPairs& texts, std::int64_t kv_heads) {
    const std::int64_t n = texts.queries.begins.back(), m = texts.keys.begins.back();
    check_op(
        "attention in segments",
        [&](const Tensor& q, const Tensor& k, const Tensor& v) {
          manual_seed(1);
          return attention::attend_in_segments(q, k, v, texts, {.dropout = 0.2});
        },
        {{1, 2, n, 4}, {1, kv_heads, m, 4}, {1, kv_heads, m, 3}}, reordered);
  };
  const Segments few = segments({2, 0, 1, 3}, 4), others = segments({3, 1, 0, 2}, 3);
  check({few, few}, 2);
  check({few, others}, 1);
  std::vector<std::int64_t> many;
  for (std::int64_t b = 0; b < 20; ++b) many.push_back(b * 13 % 67);
  check({segments(many, 70), segments(many, 66)}, 2);
}

TEST_CASE("attention in segments: errors") {
  const Tensor q = zeros({1, 2, 5, 4});
  const auto call = [&](const TextPairs& texts) {
    return [&q, texts] { attention::attend_in_segments(q, q, q, texts, {}); };
  };
  const std::string message =
      "scaled_dot_product_attention: the segments are not those of q [1, 2, 5, 4] and k [1, 2, 5, 4]";
  const Segments good = segments({2, 3}, 3);
  check_error(call({segments({2, 2}, 3), good}), message);
  check_error(call({good, segments({2, 3, 0}, 3)}), message);
  check_error(call({good, segments({1, 4}, 3)}), message);
  check_error(call({good, segments({6, -1}, 6)}), message);
}

}  // namespace
}  // namespace gradus::test
