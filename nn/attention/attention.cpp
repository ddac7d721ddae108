#include "gradus/nn/attention/attention.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/attention/attention_maps.h"
#include "gradus/nn/attention/detail/packing.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/module/init.h"
#include "gradus/nn/module/probe.h"

namespace gradus::nn {

namespace {

void expect_rope(const RopeOptions& rope, std::int64_t head_dim) {
  const std::int64_t channels = rope.channels == 0 ? head_dim : rope.channels;
  check(channels > 0 && channels <= head_dim && channels % 2 == 0,
        "MultiheadAttention: rope expects an even number of channels, at most the {} of a head, got {}",
        head_dim, channels);
  check(rope.base > 0 && std::isfinite(rope.base), "MultiheadAttention: rope expects a base above 0, got {}",
        rope.base);
  check(rope.offset >= 0, "MultiheadAttention: rope expects an offset of 0 or more, got {}", rope.offset);
}

MultiheadAttentionOptions checked(const MultiheadAttentionOptions& options) {
  expect_heads("MultiheadAttention", options);
  expect_probability("MultiheadAttention", "dropout", options.dropout);
  expect_eps("MultiheadAttention", options.eps);
  check(options.kv_heads >= 0 && (options.kv_heads == 0 || options.heads % options.kv_heads == 0),
        "MultiheadAttention: expects kv_heads that divide heads {}, or 0 for as many, got {}", options.heads,
        options.kv_heads);
  check(options.window >= 0, "MultiheadAttention: expects a window of 1 or more, or 0 for none, got {}",
        options.window);
  expect_norm("MultiheadAttention", options.norm != nullptr);
  MultiheadAttentionOptions complete = options;
  if (complete.kv_heads == 0) complete.kv_heads = options.heads;
  if (complete.head_dim == 0) complete.head_dim = options.d_model / options.heads;
  if (options.rope) expect_rope(*options.rope, complete.head_dim);
  return complete;
}

/// "MultiheadAttention: expects visible bool (true = may be seen), broadcast to [2, 4, 8, 8], got f32 [8, 8]"
void expect_mask(const char* what, const Tensor& mask, DType dtype, const char* meaning, const char* remedy,
                 const Shape& scores) {
  const int skipped = scores.size() - mask.dim();
  bool fits = mask.dtype() == dtype && skipped >= 0;
  for (int i = 0; fits && i < mask.dim(); ++i)
    fits = mask.shape()[i] == 1 || mask.shape()[i] == scores[skipped + i];
  check(fits, "MultiheadAttention: expects {} {} ({}), broadcast to {}, got {} {}{}", what, dtype, meaning,
        scores, mask.dtype(), mask.shape(), mask.dtype() == dtype ? "" : remedy);
}

/// Combines the masks of one call into one for scores [B, H, Tq, Tk]: bool (true = may be seen) or, with a
/// score_bias, values to add.
Tensor combine(const AttentionMasks& masks, const Shape& scores, DType dtype) {
  Tensor mask = masks.visible;
  if (mask.defined())
    expect_mask("visible", mask, boolean, "true = may be seen",
                ": compare, as in mask != 0; pass values to add to the scores as score_bias", scores);
  if (const Tensor& padding = masks.key_padding_mask; padding.defined()) {
    const Shape batch_and_keys{scores[0], scores[3]};
    check(padding.dtype() == boolean && padding.shape() == batch_and_keys,
          "MultiheadAttention: expects key_padding_mask bool {} (true = padding), got {} {}{}",
          batch_and_keys, padding.dtype(), padding.shape(),
          padding.dtype() == boolean ? "" : ": compare, as in ids == pad");
    const Tensor seen = !padding.reshape({scores[0], 1, 1, scores[3]});
    mask = mask.defined() ? mask & seen : seen;
  }
  if (const Tensor& bias = masks.score_bias; bias.defined()) {
    expect_mask("score_bias", bias, dtype, "added to the scores",
                bias.dtype() == boolean ? ": pass a bool mask as visible" : ": convert it with .to()",
                scores);
    mask = mask.defined() ? where(mask, bias, full({}, -INFINITY, dtype)) : bias;
  }
  return mask;
}

/// x[begin:end] of the first axis; undefined if x is.
Tensor rows(const Tensor& x, std::int64_t begin, std::int64_t end) {
  return x.defined() ? x.slice(0, begin, end) : x;
}

/// [B, T, H D] -> [B, H, T, D]
Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

/// [B, H, T, D] -> [B, T, H D]
Tensor join_heads(const Tensor& y) {
  return y.transpose(1, 2).reshape({y.size(0), y.size(2), y.size(1) * y.size(3)});
}

/// Applies rotary positions to heads [B, H, T, D]; each packed text has its own positions.
Tensor turn(const Tensor& heads, const RopeOptions& options, const detail::RealRows* rows) {
  if (!rows) return rope(heads, options);
  const Tensor turned = rope(split_heads(rows->unpack(join_heads(heads)), heads.size(1)), options);
  return split_heads(rows->pack(join_heads(turned)), heads.size(1));
}

/// [B, H, Tq, Tk]
Shape scores_of(const Tensor& x, const Tensor& memory, std::int64_t heads, const detail::Packing* packing) {
  if (!packing) return {x.size(0), heads, x.size(1), memory.size(1)};
  const attention::Segments &queries = packing->queries.texts(), &keys = packing->keys.texts();
  return {queries.batch(), heads, queries.length, keys.length};
}

}  // namespace

MultiheadAttention::MultiheadAttention(const MultiheadAttentionOptions& options)
    : Module("MultiheadAttention"),
      out_proj(checked(options).heads * checked(options).head_dim, options.d_model, {.bias = options.bias}),
      options_(checked(options)) {
  const std::int64_t d = options_.head_dim, rows = (options_.heads + 2 * options_.kv_heads) * d;
  in_proj_weight = parameter("in_proj_weight", init::xavier_uniform_(empty({rows, options.d_model})));
  if (options.qkv_bias.value_or(options.bias)) in_proj_bias = parameter("in_proj_bias", zeros({rows}));
  if (options.bias) init::zeros_(out_proj.bias);
  add("out_proj", out_proj);
  const NormOptions norm{.d_model = d, .eps = options.eps, .bias = options.bias};
  if (options.qk_norm) {
    q_norm.emplace(add("q_norm", options.norm(norm)));
    k_norm.emplace(add("k_norm", options.norm(norm)));
  }
  if (options.v_norm) v_norm.emplace(add("v_norm", options.norm(norm)));
}

Tensor MultiheadAttention::operator()(const Tensor& x, const AttentionMasks& masks, KeyValues* cache) const {
  const Scope scope(path());
  if (cache) return report(attend_cached(x, masks, *cache));
  const AttentionOptions options = options_for(x, x, masks);
  const Tensor qkv = linear(x, in_proj_weight, in_proj_bias);  // [B, T, 3E]
  if (!plain()) {
    const std::vector<Tensor> parts = split(qkv, widths(), -1);
    const detail::Packing* const packing = masks.packing.get();
    return report(attend(heads_of(parts[0], parts[1], parts[2], packing), options, packing));
  }
  if (masks.packing)
    return report(out_proj(
        attention::self_attend_in_segments(qkv, options_.heads, masks.packing->queries.texts(), options)));
  if (Probe::current() || AttentionMaps::current()) {
    const std::vector<Tensor> parts = chunk(qkv.detach(), 3, -1);
    show_heads(split_heads(parts[0], options_.heads), split_heads(parts[1], options_.heads), options);
  }
  return report(out_proj(self_attention_packed(qkv, options_.heads, options)));
}

KeyValues MultiheadAttention::new_cache(std::int64_t batch, std::int64_t capacity) const {
  expect_positive("KeyValueCache", "batch", batch);
  expect_positive("KeyValueCache", "capacity", capacity);
  KeyValues kept({batch, options_.kv_heads, capacity, options_.head_dim}, in_proj_weight);
  for (const Tensor& w : weights_of_keys()) kept.depends_on(w);
  return kept;
}

/// All weights that make keys and values, in_proj_weight first.
std::vector<Tensor> MultiheadAttention::weights_of_keys() const {
  std::vector<Tensor> weights{in_proj_weight};
  if (in_proj_bias.defined()) weights.push_back(in_proj_bias);
  for (const std::optional<Norm>* norm : {&k_norm, &v_norm})
    if (*norm)
      for (const Tensor& w : (*norm)->parameters()) weights.push_back(w);
  return weights;
}

void MultiheadAttention::expect_cacheable(const Tensor& x) const {
  expect_sequence("MultiheadAttention", "x", x, options_.d_model, in_proj_weight.dtype());
  check(options_.dropout == 0 || !is_training(),
        "MultiheadAttention: expects eval mode with a cache, because dropout is {}: call eval()",
        options_.dropout);
}

static void expect_no_tape(const Tensor& y) {
  check(!y.requires_grad(),
        "MultiheadAttention: keys and values in a cache have no gradient: use the cache under NoGrad");
}

Tensor MultiheadAttention::attend_cached(const Tensor& x, const AttentionMasks& masks,
                                         KeyValues& cache) const {
  expect_cacheable(x);
  check(
      options_.causal,
      "MultiheadAttention: expects causal = true with a cache: otherwise cached positions would have to see "
      "later ones");
  cache.expect_room(in_proj_weight, x);
  const Shape scores{x.size(0), options_.heads, x.size(1), cache.length() + x.size(1)};
  AttentionOptions options = rule();
  options.mask = combine(masks, scores, x.dtype());
  const Tensor qkv = linear(x, in_proj_weight, in_proj_bias);  // [B, T, 3E]
  expect_no_tape(qkv);
  const std::vector<Tensor> parts = split(qkv, widths(), -1);
  const Heads now = heads_of(parts[0], parts[1], parts[2], nullptr, cache.length());
  const auto [k, v] = cache.append(now.k, now.v);
  return attend({now.q, k, v}, options);
}

/// Rows of x that share a row of memory become one row with the queries of all of them.
Tensor MultiheadAttention::attend_memory(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                                         KeyValues& cache) const {
  expect_cacheable(x);
  expect_memory("MultiheadAttention", memory, options_.d_model, in_proj_weight.dtype(),
                "attention(x, memory, {.key_padding_mask = padding}, &cache)");
  check(!masks.visible.defined() && !masks.score_bias.defined(),
        "MultiheadAttention: over memory, with a cache, expects no mask except key_padding_mask");
  if (!cache.memory()) {
    check(memory.size(0) == x.size(0), "MultiheadAttention: x {} and memory {} have different batch sizes",
          x.shape(), memory.shape());
    combine(masks, {memory.size(0), options_.heads, x.size(1), memory.size(1)}, x.dtype());  // may throw
    cache.memory().emplace(keys_of(memory, masks.key_padding_mask));
  }
  const detail::MemoryKeys& kept = *cache.memory();
  kept.expect(memory, in_proj_weight, x);
  const std::int64_t rows_of_memory = kept.k().size(0), queries = kept.shared() * x.size(1);
  AttentionOptions options = rule();
  options.mask = combine(masks, {memory.size(0), options_.heads, queries, memory.size(1)}, x.dtype());
  kept.expect_padding(masks.key_padding_mask);
  if (options.mask.defined()) options.mask = kept.still_read(options.mask);
  const Tensor q = linear(x, rows(in_proj_weight, 0, width()), rows(in_proj_bias, 0, width()));
  expect_no_tape(q);
  const Tensor heads = split_heads(q.reshape({rows_of_memory, queries, width()}), options_.heads);
  return attend({q_norm ? (*q_norm)(heads) : heads, kept.k(), kept.v()}, options).reshape(x.shape());
}

/// The keys and values of memory, computed once for all calls.
detail::MemoryKeys MultiheadAttention::keys_of(const Tensor& memory, const Tensor& padding) const {
  check(!options_.causal && !options_.alibi && !options_.rope && options_.window == 0,
        "MultiheadAttention: over memory, with a cache, expects attention without positions: no causal, "
        "alibi, rope or window");
  const std::int64_t begin = width(), end = in_proj_weight.size(0), values = (begin + end) / 2;
  const auto heads = [&](std::int64_t first, std::int64_t last, const std::optional<Norm>& norm) {
    const Tensor y = linear(memory, rows(in_proj_weight, first, last), rows(in_proj_bias, first, last));
    expect_no_tape(y);
    const Tensor parts = split_heads(y, options_.kv_heads);
    return (norm ? (*norm)(parts) : parts).contiguous();
  };
  return {memory, padding, heads(begin, values, k_norm), heads(values, end, v_norm), weights_of_keys()};
}

/// Shows queries and keys to this thread's Probe and AttentionMaps.
void MultiheadAttention::show_heads(const Tensor& q, const Tensor& k, const AttentionOptions& options) const {
  if (Probe* const probe = Probe::current()) probe->saw_attention(*this, q, k, options);
  if (AttentionMaps* const maps = AttentionMaps::current()) maps->saw_attention(*this, q, k, options);
}

Tensor MultiheadAttention::attend(const Heads& heads, const AttentionOptions& options,
                                  const detail::Packing* packing) const {
  if (packing)
    return out_proj(
        join_heads(attention::attend_in_segments(heads.q, heads.k, heads.v, packing->texts(), options)));
  show_heads(heads.q, heads.k, options);
  return out_proj(join_heads(scaled_dot_product_attention(heads.q, heads.k, heads.v, options)));
}

Tensor MultiheadAttention::operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                                      KeyValues* cache) const {
  const Scope scope(path());
  if (cache) return report(attend_memory(x, memory, masks, *cache));
  const AttentionOptions options = options_for(x, memory, masks);
  return report(attend(project(x, memory, masks.packing.get()), options, masks.packing.get()));
}

std::pair<Tensor, Tensor> MultiheadAttention::with_weights(const Tensor& x, const Tensor& memory,
                                                           const AttentionMasks& masks,
                                                           HeadWeights heads) const {
  const Scope scope(path());
  const AttentionOptions options = options_for(x, memory, masks);
  check(!masks.packing, "MultiheadAttention: with_weights expects rows with their padding");
  const auto [q, k, v] = project(x, memory, nullptr);
  const Tensor weights = attention_weights(q, k, options);
  const Tensor y = out_proj(join_heads(scaled_dot_product_attention(q, k, v, options)));
  return {y, heads == HeadWeights::averaged ? weights.mean(1) : weights};
}

MultiheadAttention::Heads MultiheadAttention::project(const Tensor& x, const Tensor& memory,
                                                      const detail::Packing* packing) const {
  const std::int64_t begin = width(), end = in_proj_weight.size(0);  // of keys and values
  const Tensor q = linear(x, rows(in_proj_weight, 0, begin), rows(in_proj_bias, 0, begin));
  const Tensor kv = linear(memory, rows(in_proj_weight, begin, end), rows(in_proj_bias, begin, end));
  return heads_of(q, kv.slice(-1, 0, (end - begin) / 2), kv.slice(-1, (end - begin) / 2), packing);
}

bool MultiheadAttention::plain() const {
  return !q_norm && !v_norm && !options_.rope && options_.kv_heads == options_.heads;
}

std::vector<std::int64_t> MultiheadAttention::widths() const {
  const std::int64_t kv = options_.kv_heads * options_.head_dim;
  return {width(), kv, kv};
}

MultiheadAttention::Heads MultiheadAttention::heads_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                                       const detail::Packing* packing,
                                                       std::int64_t begin) const {
  const auto heads = [](const Tensor& y, std::int64_t count, const std::optional<Norm>& norm) {
    const Tensor parts = split_heads(y, count);
    return norm ? (*norm)(parts) : parts;
  };
  Heads made{heads(q, options_.heads, q_norm), heads(k, options_.kv_heads, k_norm),
             heads(v, options_.kv_heads, v_norm)};
  if (options_.rope) {
    RopeOptions turned = *options_.rope;
    turned.offset += begin;
    made.q = turn(made.q, turned, packing ? &packing->queries : nullptr);
    made.k = turn(made.k, turned, packing ? &packing->keys : nullptr);
  }
  return made;
}

AttentionOptions MultiheadAttention::rule() const {
  return {
      .causal = options_.causal, .scale = options_.scale, .window = options_.window, .alibi = options_.alibi};
}

AttentionOptions MultiheadAttention::options_for(const Tensor& x, const Tensor& memory,
                                                 const AttentionMasks& masks) const {
  expect_sequence("MultiheadAttention", "x", x, options_.d_model, in_proj_weight.dtype());
  expect_memory("MultiheadAttention", memory, options_.d_model, in_proj_weight.dtype(),
                "attention(x, {.key_padding_mask = padding}), or .visible, or .score_bias");
  check(x.size(0) == memory.size(0), "MultiheadAttention: x {} and memory {} have different batch sizes",
        x.shape(), memory.shape());
  AttentionOptions options = rule();
  options.mask = combine(masks, scores_of(x, memory, options_.heads, masks.packing.get()), x.dtype());
  options.dropout = is_training() ? options_.dropout : 0;
  return options;
}

}  // namespace gradus::nn
