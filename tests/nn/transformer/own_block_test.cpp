// Blocks of a program's own in encoders, decoders and GPTs.

#include "gradus/nn/transformer/any_block.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/error.h"
#include "nn/check_module.h"
#include "own_placements.h"

namespace gradus::test {

TEST_CASE("blocks of one's own: a decoder's see nothing later, as the library's") {
  struct Own : nn::Module {
    explicit Own(const nn::BlockOptions& o)
        : self(add("self", nn::MultiheadAttention(o.attention()))),
          cross(add("cross", nn::MultiheadAttention(o.cross_attention()))) {}
    Tensor operator()(const Tensor& x, const Tensor& memory, const nn::DecoderMasks& masks) const {
      const Tensor h = x + self(x, masks.self);
      return h + cross(h, memory, masks.memory);
    }
    nn::MultiheadAttention self, cross;
  };
  const nn::Placement own{.name = "own", .decoder_block = [](const nn::BlockOptions& o) { return Own(o); }};
  const nn::TransformerDecoder decoder({.layers = 2, .placement = own, .block = kSmall});
  const Tensor x = randn({1, 3, 4}), memory = randn({1, 2, 4}), later = x.clone(), other = memory.clone();
  later.slice(1, 2) = 1.0;
  other.slice(1, 1) = 1.0;
  CHECK(max_difference(decoder(x, memory).slice(1, 0, 2), decoder(later, memory).slice(1, 0, 2)) == 0);
  CHECK(max_difference(decoder(x, memory).slice(1, 0, 1), decoder(x, other).slice(1, 0, 1)) > 0);
}

TEST_CASE("blocks of one's own: an error in a block leaves the cache as it was") {
  struct Failing : Parallel {
    using Parallel::Parallel;
    std::shared_ptr<bool> fails = std::make_shared<bool>(false);
    Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks, nn::KeyValues* cache) const {
      const Tensor y = Parallel::operator()(x, masks, cache);
      if (*fails) throw Error("broken");
      return y;
    }
  };
  const nn::GPT gpt = gpt_of(of_blocks<Failing>("failing"));
  const Tensor ids = tensor({{1, 2, 3, 4}});
  nn::KeyValueCache cache = gpt.new_cache();
  gpt.next_logits(ids.slice(1, 0, 2), cache);
  const auto fails = gpt.transformer.layers[3].as<Failing>()->fails;
  *fails = true;
  CHECK_THROWS_AS(gpt.next_logits(ids.slice(1, 2, 4), cache), Error);
  *fails = false;
  CHECK(cache.length() == 2);
  CHECK(max_difference(gpt.next_logits(ids.slice(1, 2, 4), cache), gpt(ids).select(1, -1)) < 1e-4);
}

TEST_CASE("blocks of one's own: copies share what they are made from, also when run again") {
  struct Counting : Pointwise {
    using Pointwise::Pointwise;
    mutable int calls = 0;
    Tensor operator()(const Tensor& x) const {
      ++calls;
      return Pointwise::operator()(x);
    }
  };
  const nn::TransformerEncoder encoder(
      {.layers = 1, .placement = of_blocks<Counting>("counting"), .block = kSmall, .checkpoint = true});
  const nn::AnyBlock copy = encoder.layers[0];
  encoder(randn({1, 2, 4}).requires_grad_()).sum().backward();
  CHECK(copy.as<Counting>()->calls == 2);
}

TEST_CASE("blocks of one's own: what a block does not take is an error") {
  const nn::TransformerEncoder encoder(
      {.layers = 1, .placement = of_blocks<Pointwise>("pointwise"), .block = kSmall});
  const Tensor x = randn({1, 3, 4});
  CHECK(encoder(x).shape() == x.shape());
  check_error(
      [&] {
        encoder(x, {.visible = ones({3, 3}, boolean)});
      },
      "Pointwise: takes no masks: give it `Tensor operator()(const Tensor& x, const AttentionMasks& masks) "
      "const` (in layers.0)");
  check_error([&] { encoder.new_cache(1, 3); },
              "Pointwise: keeps no keys and values: give it `Tensor operator()(const Tensor& x, const "
              "AttentionMasks& masks, KeyValues* cache) const` and `KeyValues new_cache(std::int64_t batch, "
              "std::int64_t capacity) "
              "const`, or work without a cache");
  const nn::GPT gpt = gpt_of(of_blocks<Pointwise>("pointwise"));
  CHECK(gpt.generate(tensor({1, 2}), 12, {.cache = false}).size(0) == 14);
  static_assert(!std::is_constructible_v<nn::AnyBlock, nn::Linear*> &&
                !std::is_constructible_v<nn::AnyBlock, Tensor>);
  struct Verbose : nn::Module {  // its third parameter is no cache, though a pointer would do for it
    Tensor operator()(const Tensor& h, const nn::AttentionMasks&, bool = false) const { return h; }
  };
  const nn::TransformerEncoder verbose(
      {.layers = 1,
       .placement = {.name = "verbose", .block = [](const nn::BlockOptions&) { return Verbose(); }},
       .block = kSmall});
  CHECK(verbose(x).shape() == x.shape());
  check_error([&] { verbose.new_cache(1, 3); },
              "Verbose: keeps no keys and values: give it `Tensor operator()(const Tensor& x, const "
              "AttentionMasks& masks, KeyValues* cache) const` and `KeyValues new_cache(std::int64_t batch, "
              "std::int64_t capacity) const`, or work without a cache");
  struct Unmasked : Pointwise {  // of a decoder
    using Pointwise::Pointwise;
    Tensor operator()(const Tensor& h, const Tensor& memory) const { return h + memory.mean({1}, true); }
  };
  const nn::TransformerDecoder unmasked(
      {.layers = 1,
       .placement = {.name = "unmasked",
                     .decoder_block = [](const nn::BlockOptions& o) { return Unmasked(o); }},
       .block = kSmall});
  CHECK(unmasked(x, x).shape() == x.shape());
  check_error(
      [&] {
        unmasked(x, x, {.memory = {.visible = ones({3, 3}, boolean)}});
      },
      "Unmasked: takes no masks: give it `Tensor operator()(const Tensor& x, const Tensor& memory, const "
      "DecoderMasks& masks) const` (in layers.0)");
  struct Nothing : nn::Module {
    Tensor operator()(const Tensor&) const { return {}; }
  };
  const nn::TransformerEncoder nothing(
      {.layers = 1,
       .placement = {.name = "nothing", .block = [](const nn::BlockOptions&) { return Nothing(); }},
       .block = kSmall});
  check_error([&] { nothing(x); }, "Nothing: returned an undefined tensor (in layers.0)");
}

}  // namespace gradus::test
