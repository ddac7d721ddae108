// What the study of blocks rests on: the wrong blocks are the wrong ones, models are what they are said to
// be.

#include <doctest/doctest.h>

#include "gradus/core/creation.h"
#include "gradus/ops/ops.h"
#include "lab/studies/blocks/models.h"
#include "lab/studies/blocks/mutants.h"

namespace gradus::lab::blocks {

TEST_CASE("models by construction, and what is not them") {
  for (const auto& [model, number] :
       {std::pair("gpt1", "gpt1.logits"), std::pair("gpt2", "gpt2.formula"), std::pair("gpt3", "gpt3.pre"),
        std::pair("t5", "t5.pre"), std::pair("bert", "bert.post"), std::pair("shortcut", "shortcut.is-post")})
    CHECK(measure_model(model, 1000).numbers.at(number) < 1e-4);
  CHECK(measure_model("gpt1", 1000).numbers.at("gpt1.silenced") > 1e-3);
  CHECK(measure_model("gpt2", 1000).numbers.at("gpt2.names") == 0);
  CHECK(measure_model("bert", 1000).numbers.at("bert.names") == 0);
  CHECK(measure_model("t5", 1000).numbers.at("t5.layernorm") == 0);
  CHECK(measure_model("gpt3", 1000).numbers.at("gpt3.layernorm") == 1);
}

TEST_CASE("a stack written out tells the orders apart") {
  const nn::TransformerEncoder pre(
      {.layers = 2, .placement = nn::pre_ln(), .block = {.d_model = 8, .heads = 2}});
  draw_all(pre, 1);
  Generator generator(2);
  const Tensor x = randn({2, 5, 8}, generator);
  CHECK(allclose(written_out(pre, x, WrittenOut::pre), pre(x), 1e-4, 1e-5));
  CHECK_FALSE(allclose(written_out(pre, x, WrittenOut::post), pre(x), 1e-2, 1e-2));
}

TEST_CASE("wrong blocks compute what their equations say") {
  const nn::BlockOptions options{.d_model = 8, .heads = 2};
  Generator generator(3);
  const Tensor x = randn({2, 5, 8}, generator);
  const LongSkipBlock skip(options);
  draw_all(skip, 4);
  const Tensor h = skip.norm1(x + skip.self_attn(x));
  CHECK(allclose(skip(x), skip.norm2(x + skip.ffn(h)), 1e-5, 1e-6));

  const NormedShortcut shortcut(options);
  draw_all(shortcut, 5);
  const Tensor y = shortcut.norm(x);
  CHECK(allclose(shortcut(x, [](const Tensor& z) { return 2.0 * z; }), 3.0 * y, 1e-5, 1e-6));

  for (const Variant& variant : variants())
    if (!variant.meant.empty()) CHECK_FALSE(variant.shipped.empty());
}

}  // namespace gradus::lab::blocks
