#include "gradus/nn/attention/attention_maps.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

namespace gradus::test {

TEST_CASE("AttentionMaps: the weights of with_weights, for every attention of a model") {
  manual_seed(3);
  for (const bool grouped : {false, true}) {
    nn::BlockOptions block{.d_model = 8, .heads = 4, .dropout = 0.5};
    if (grouped) block.kv_heads = 2;
    const nn::PreLNDecoderBlock layer(block);
    const Tensor x = randn({2, 3, 8}), memory = randn({2, 5, 8});
    const nn::AttentionMasks padding{
        .key_padding_mask = tensor({{false, false, false, true, true}, {false, true, false, false, false}})};
    const nn::EvalMode eval(layer);
    const nn::AttentionMaps outer;
    {
      nn::AttentionMaps maps;
      layer(x, memory, {.memory = padding});
      REQUIRE(maps.all().size() == 2);
      CHECK(maps.all()[0].layer == "self_attn");
      const Tensor h = x + layer.self_attn(layer.norm1(x));
      const Tensor self =
          layer.self_attn.with_weights(layer.norm1(x), layer.norm1(x), {}, nn::HeadWeights::per_head).second;
      const Tensor cross =
          layer.multihead_attn.with_weights(layer.norm2(h), memory, padding, nn::HeadWeights::per_head)
              .second;
      CHECK(max_difference(maps.at("self_attn"), self) < 1e-6);
      CHECK(max_difference(maps.at("multihead_attn"), cross) < 1e-6);
      CHECK_FALSE(maps.at("multihead_attn").requires_grad());
      layer(x.slice(1, 0, 1), memory);  // the latest call counts
      CHECK(maps.at("multihead_attn").shape() == Shape{2, 4, 1, 5});
      check_error([&] { maps.at("attn"); },
                  "AttentionMaps: no attention 'attn' was called; called: self_attn, multihead_attn");
      maps.clear();
      check_error([&] { maps.at("self_attn"); },
                  "AttentionMaps: no attention 'self_attn' was called; called: none");
    }
    CHECK(outer.all().empty());
  }
}

}  // namespace gradus::test
