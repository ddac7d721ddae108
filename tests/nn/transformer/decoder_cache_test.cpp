// Decoders with a cache: the numbers are those of a call on all positions, and memory is read once.

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

using Pieces = std::vector<std::int64_t>;

const nn::BlockOptions kDecoderBlock{.d_model = 8, .heads = 4, .d_ff = 12, .dropout = 0.1};

/// In eval mode, with weights that make positions matter to each other.
nn::TransformerDecoder decoder_of(nn::Placement placement, const nn::BlockOptions& block = kDecoderBlock) {
  if (placement.of_both) placement = placement.of_both(3, 3);
  const nn::TransformerDecoder decoder({.layers = 3, .placement = placement, .block = block});
  randomize(decoder);
  decoder.eval();
  return decoder;
}

Tensor padding_of_3() {
  return tensor({{false, false, false, true, true},
                 {false, false, false, false, false},
                 {true, false, true, false, true}});
}

Tensor in_pieces(const nn::TransformerDecoder& decoder, const Tensor& x, const Tensor& memory,
                 const nn::DecoderMasks& masks, const Pieces& pieces) {
  nn::KeyValueCache cache = decoder.new_cache(x.size(0), x.size(1));
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : pieces) {
    parts.push_back(decoder(x.slice(1, begin, begin + size), memory, masks, &cache));
    begin += size;
    REQUIRE(cache.length() == begin);
  }
  return cat(parts, 1);
}

}  // namespace

TEST_CASE("TransformerDecoder: with a cache the numbers are those without, for every placement") {
  const NoGrad guard;
  for (const DType dtype : {f32, f64}) {
    const DefaultDType floats(dtype);
    manual_seed(1);
    const double most = dtype == f32 ? 2e-5 : 1e-12;
    const Tensor x = randn({3, 6, 8}), memory = randn({3, 5, 8});
    for (const nn::Placement& placement : nn::placements()) {
      if (!placement.decoder_block) continue;
      for (const int kind : {0, 1, 2}) {
        INFO(placement.name, ", ", kind);
        nn::BlockOptions block = kDecoderBlock;
        if (kind == 1) {  // grouped queries, turned by their positions, with norms of heads
          block.kv_heads = 2;
          block.qk_norm = true;
          block.rope = RopeOptions{};
        }
        if (kind == 2) {  // T5's
          block.norm = nn::make_norm<nn::RMSNorm>;
          block.bias = false;
          block.head_dim = 3;
          block.attention_scale = 1;
        }
        const nn::TransformerDecoder decoder = decoder_of(placement, block);
        for (const nn::DecoderMasks& masks :
             {nn::DecoderMasks{}, nn::DecoderMasks{.memory = {.key_padding_mask = padding_of_3()}}}) {
          const Tensor whole = decoder(x, memory, masks);
          const double size = 1 + whole.abs().max().item();
          for (const Pieces& pieces : {Pieces{6}, Pieces{1, 1, 1, 1, 1, 1}, Pieces{3, 1, 2}})
            CHECK(max_difference(in_pieces(decoder, x, memory, masks, pieces), whole) < most * size);
        }
      }
    }
  }
}

TEST_CASE("TransformerDecoder: select goes on with rows of the batch, and of memory") {
  const NoGrad guard;
  manual_seed(2);
  const nn::TransformerDecoder decoder = decoder_of(nn::post_ln());
  const Tensor x = randn({3, 4, 8}), memory = randn({3, 5, 8});
  const nn::DecoderMasks masks{.memory = {.key_padding_mask = padding_of_3()}};
  nn::KeyValueCache cache = decoder.new_cache(3, 9);
  decoder(x, memory, masks, &cache);
  Tensor rows = arange(3), so_far = x;  // the rows of x and memory that the cache goes on with
  const auto go_on = [&](const Tensor& kept) {
    cache.select(kept);
    rows = index_select(rows, 0, kept);
    const Tensor next = randn({kept.size(0), 1, 8});
    so_far = cat({index_select(so_far, 0, kept), next}, 1);
    const Tensor y = decoder(next, memory, masks, &cache);
    const Tensor whole = decoder(so_far, index_select(memory, 0, rows),
                                 {.memory = {.key_padding_mask = index_select(padding_of_3(), 0, rows)}});
    CHECK(max_difference(y, whole.slice(1, -1)) < 1e-4);
  };
  const auto shared = [&] { return cache.layer(0).memory()->shared(); };
  const auto keys = [&]() -> const Tensor& { return cache.layer(0).memory()->k(); };
  const Tensor before = keys();
  go_on(tensor({0, 0, 1, 1, 2, 2}));  // two beams each
  CHECK(shared() == 2);
  go_on(tensor({1, 0, 3, 3, 4, 5}));  // change places within their source
  CHECK(shared() == 2);
  CHECK(keys().array().storage() == before.array().storage());  // nothing was copied
  go_on(tensor({5, 4, 0, 1}));                                  // a source has ended, others change places
  CHECK(shared() == 2);
  CHECK(keys().size(0) == 2);
  go_on(tensor({0, 2, 3}));  // unevenly
  CHECK(shared() == 1);
  CHECK(keys().size(0) == 3);
  go_on(tensor({1}));
}

TEST_CASE("TransformerDecoder: select of rows that are not there changes nothing") {
  const NoGrad guard;
  const nn::TransformerDecoder decoder = decoder_of(nn::post_ln());
  const Tensor x = randn({3, 2, 8}), memory = randn({3, 5, 8});
  nn::KeyValueCache cache = decoder.new_cache(3, 4);
  decoder(x, memory, {}, &cache);
  check_error(
      [&] {
        cache.select(tensor({0, 3}));
      },
      "KeyValueCache: select expects sequences from 0 to 2, got 3");
  check_error([&] { cache.select(tensor({-1})); },
              "KeyValueCache: select expects sequences from 0 to 2, got -1");
  CHECK(cache.batch() == 3);
  const Tensor both = cat({x, x}, 1);
  CHECK(max_difference(decoder(x, memory, {}, &cache), decoder(both, memory).slice(1, 2)) < 1e-4);
}

TEST_CASE("TransformerDecoder: a copy of a cache goes on by itself, and truncate keeps memory") {
  const NoGrad guard;
  manual_seed(3);
  const nn::TransformerDecoder decoder = decoder_of(nn::pre_ln());
  const Tensor x = randn({2, 5, 8}), memory = randn({2, 5, 8}), other = randn({2, 3, 8});
  const Tensor whole = decoder(x, memory);
  nn::KeyValueCache cache = decoder.new_cache(2, 5);
  decoder(x.slice(1, 0, 3), memory, {}, &cache);
  nn::KeyValueCache copy = cache;
  copy.select(tensor({1}));
  CHECK(max_difference(decoder(x.slice(0, 1).slice(1, 3), memory, {}, &copy), whole.slice(0, 1).slice(1, 3)) <
        1e-4);
  CHECK(max_difference(decoder(x.slice(1, 3), memory, {}, &cache), whole.slice(1, 3)) < 1e-4);
  cache.truncate(1);
  CHECK(max_difference(decoder(x.slice(1, 1), memory, {}, &cache), whole.slice(1, 1)) < 1e-4);
  cache.clear();  // from here on another memory may come
  CHECK(max_difference(decoder(x, other, {}, &cache), decoder(x, other)) < 1e-4);
}

TEST_CASE("TransformerDecoder: a cache's padding stays the same") {
  const NoGrad guard;
  const nn::TransformerDecoder decoder = decoder_of(nn::post_ln());
  const Tensor x = randn({3, 2, 8}), memory = randn({3, 5, 8}), padding = padding_of_3();
  const auto call = [&](const Tensor& mask, nn::KeyValueCache& cache) {
    return decoder(x, memory, {.memory = {.key_padding_mask = mask}}, &cache);
  };
  nn::KeyValueCache cache = decoder.new_cache(3, 9);
  CHECK_THROWS_AS(call(padding.slice(1, 1), cache), Error);  // keeps nothing
  call(padding, cache);
  call(padding_of_3(), cache);  // the same in another tensor
  for (const Tensor& other : {Tensor(), zeros({3, 5}, boolean), !padding})
    CHECK_THROWS_WITH_AS(call(other, cache),
                         doctest::Contains("key_padding_mask differs from that of the first"), Error);
  CHECK(cache.length() == 4);
  padding.fill_(false);  // also where it is the same tensor with other values
  CHECK_THROWS_AS(call(padding, cache), Error);
  cache.clear();
  call(padding, cache);
}

TEST_CASE("TransformerDecoder: what does not fit a cache is said") {
  manual_seed(4);
  const nn::TransformerDecoder decoder = decoder_of(nn::post_ln());
  const Tensor x = randn({2, 2, 8}), memory = randn({2, 3, 8});
  nn::KeyValueCache cache = decoder.new_cache(2, 5);
  check_error([&] { decoder(x, memory, {}, &cache); },
              "MultiheadAttention: keys and values in a cache have no gradient: use the cache under NoGrad "
              "(in layers.0.self_attn)");
  const NoGrad guard;
  decoder.train();
  check_error([&] { decoder(x, memory, {}, &cache); },
              "MultiheadAttention: expects eval mode with a cache, because dropout is 0.1: call eval() (in "
              "layers.0.self_attn)");
  decoder.eval();
  check_error([&] { decoder(x, memory.slice(0, 1), {}, &cache); },
              "MultiheadAttention: x [2, 2, 8] and memory [1, 3, 8] have different batch sizes (in "
              "layers.0.multihead_attn)");
  CHECK(cache.length() == 0);
  decoder(x, memory, {}, &cache);
  for (const Tensor& another : {memory.clone(), memory.slice(1, 1)})
    check_error([&] { decoder(x, another, {}, &cache); },
                "KeyValueCache: holds the keys of another memory than this one, " +
                    to_string(another.shape()) +
                    ": pass every call the same tensor, also after select(), or clear() the cache first (in "
                    "layers.0.multihead_attn)");
  CHECK(cache.length() == 2);
  check_error(
      [&] {
        decoder(x, memory, {.memory = {.key_padding_mask = zeros({2, 3}, boolean)}}, &cache);
      },
      "KeyValueCache: memory's key_padding_mask differs from that of the first call: pass every call the "
      "same one, also after select(), or clear() the cache first (in layers.0.multihead_attn)");
  check_error(
      [&] {
        decoder(x, memory, {.memory = {.visible = ones({2, 3}, boolean)}}, &cache);
      },
      "MultiheadAttention: over memory, with a cache, expects no mask except key_padding_mask (in "
      "layers.0.multihead_attn)");
  check_error(
      [&] {
        decoder(x, memory, {.memory = {.key_padding_mask = zeros({1, 3}, boolean)}}, &cache);
      },
      "MultiheadAttention: expects key_padding_mask bool [2, 3] (true = padding), got bool [1, 3] (in "
      "layers.0.multihead_attn)");
  check_error([&] { decoder_of(nn::post_ln())(x, memory, {}, &cache); },
              "KeyValueCache: was made by another model or layer: call this one's new_cache()");
  memory.fill_(1);
  check_error([&] { decoder(x, memory, {}, &cache); },
              "KeyValueCache: holds the keys of another memory than this one, [2, 3, 8]: pass every call the "
              "same tensor, also after select(), or clear() the cache first (in layers.0.multihead_attn)");
  decoder.parameter("layers.2.multihead_attn.in_proj_weight").fill_(1);
  check_error([&] { decoder(x, memory, {}, &cache); },
              "KeyValueCache: the weights have changed since it was filled: clear() it");
}

TEST_CASE("MultiheadAttention: attention over memory with a cache of its own") {
  const NoGrad guard;
  manual_seed(5);
  const nn::MultiheadAttention attention({.d_model = 8, .heads = 2}), other({.d_model = 8, .heads = 2}),
      turned({.d_model = 8, .heads = 2, .rope = RopeOptions{}});
  const Tensor x = randn({2, 4, 8}), memory = randn({2, 3, 8});
  nn::KeyValues kept = attention.new_cache(2, 1);
  const Tensor y = attention(x, memory, {}, &kept);
  CHECK(max_difference(y, attention(x, memory)) < 1e-6);
  CHECK(kept.length() == 0);
  check_error([&] { other(x, memory, {}, &kept); },
              "KeyValueCache: was made by another model or layer: call this one's new_cache()");
  check_error([&] { attention(x.slice(0, 1), memory, {}, &kept); },
              "KeyValueCache: made for a batch of 2, got x [1, 4, 8]");
  attention.in_proj_bias.fill_(1);
  check_error([&] { attention(x, memory, {}, &kept); },
              "KeyValueCache: the weights have changed since it was filled: clear() it");
  nn::KeyValues fresh = turned.new_cache(2, 1);
  check_error([&] { turned(x, memory, {}, &fresh); },
              "MultiheadAttention: over memory, with a cache, expects attention without positions: no "
              "causal, alibi, rope or window");
}

TEST_CASE("TransformerDecoder: blocks of one's own, with and without a cache") {
  const NoGrad guard;
  struct Plain : nn::DecoderBranches {
    explicit Plain(const nn::BlockOptions& o) : DecoderBranches("Plain", o) {}
    Tensor operator()(const Tensor& x, const Tensor& memory, const nn::DecoderMasks& masks) const {
      return x + self_attn(x, masks.self) + multihead_attn(x, memory, masks.memory);
    }
  };
  struct Cached : nn::DecoderBranches {
    explicit Cached(const nn::BlockOptions& o) : DecoderBranches("Cached", o) {}
    Tensor operator()(const Tensor& x, const Tensor& memory, const nn::DecoderMasks& masks,
                      nn::KeyValues* cache) const {
      return x + self_attn(x, masks.self, cache) + multihead_attn(x, memory, masks.memory, cache);
    }
  };
  const Tensor x = randn({2, 4, 8}), memory = randn({2, 3, 8});
  const nn::TransformerDecoder cached =
      decoder_of({.name = "cached", .decoder_block = [](const nn::BlockOptions& o) { return Cached(o); }});
  CHECK(max_difference(in_pieces(cached, x, memory, {}, {1, 3}), cached(x, memory)) < 1e-4);
  const nn::TransformerDecoder plain =
      decoder_of({.name = "plain", .decoder_block = [](const nn::BlockOptions& o) { return Plain(o); }});
  nn::KeyValueCache cache = plain.new_cache(2, 4);
  check_error(
      [&] { plain(x, memory, {}, &cache); },
      "Plain: keeps no keys and values: give it `Tensor operator()(const Tensor& x, const Tensor& "
      "memory, const DecoderMasks& masks, KeyValues* cache) const` and `KeyValues new_cache(std::int64_t "
      "batch, std::int64_t capacity) const`, or work without a cache (in layers.0)");
}

}  // namespace gradus::test
