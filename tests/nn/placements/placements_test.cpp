// What holds for every placement: gradients, caches, threads, masks, probes, recomputation, names.

#include "gradus/nn/placements/placements.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"
#include "nn/transformer/check_gpt.h"

namespace gradus::test {

namespace {

const nn::BlockOptions kBlock{.d_model = 4, .heads = 2, .d_ff = 6};

/// Every placement, each with and without QK-norm.
template <class F>
void for_each_placement(const F& f) {
  for (const nn::Placement& placement : nn::placements())
    for (const bool qk_norm : {false, true}) {
      INFO(placement.name, qk_norm ? ", with QK-norm" : "");
      nn::BlockOptions block = kBlock;
      block.qk_norm = qk_norm;
      f(placement, block);
    }
}

nn::GPT gpt_of(const nn::Placement& placement, const nn::BlockOptions& block, bool recompute) {
  const nn::GPT gpt({.vocab = 7,
                     .context = 9,
                     .layers = 4,
                     .placement = placement,
                     .block = block,
                     .checkpoint = recompute});
  randomize(gpt);
  return gpt;
}

}  // namespace

TEST_CASE("all placements: gradients, in encoders and decoders") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({1, 3, 4}), memory = randn({1, 2, 4});
  for_each_placement([&](const nn::Placement& placement, const nn::BlockOptions& block) {
    const nn::TransformerEncoder encoder({.layers = 2, .placement = placement, .block = block});
    randomize(encoder);
    check_module(encoder, {x}, [&](const Tensors& in) { return encoder(in[0]); });
    if (!placement.decoder_block) return;
    const nn::Placement both = placement.of_both ? placement.of_both(2, 1) : placement;
    const nn::TransformerDecoder decoder({.layers = 1, .placement = both, .block = block});
    randomize(decoder);
    check_module(decoder, {x, memory}, [&](const Tensors& in) { return decoder(in[0], in[1]); });
  });
}

TEST_CASE("all placements: a GPT with and without a cache, recomputed, on any number of threads") {
  for_each_placement([](const nn::Placement& placement, const nn::BlockOptions& block) {
    check_gpt([&](bool recompute) { return gpt_of(placement, block, recompute); });
  });
}

TEST_CASE("all placements: masks and probes reach every block") {
  for_each_placement([&](const nn::Placement& placement, const nn::BlockOptions& block) {
    const nn::TransformerEncoder encoder({.layers = 2, .placement = placement, .block = block});
    randomize(encoder);
    const Tensor x = randn({1, 4, 4});
    const Tensor changed = x.clone();
    changed.slice(1, 3) = randn({1, 1, 4});
    const nn::AttentionMasks masks{.key_padding_mask = tensor({{false, false, false, true}})};
    CHECK(max_difference(encoder(x, masks).slice(1, 0, 3), encoder(changed, masks).slice(1, 0, 3)) == 0);
    CHECK(max_difference(encoder(x).slice(1, 0, 3), encoder(changed).slice(1, 0, 3)) > 0);
    const nn::Probe probe;
    encoder(x).sum().backward();
    REQUIRE(probe.rows().size() >= 2);
    CHECK(probe.rows()[1].layer == "layers.1");
    CHECK(probe.rows()[1].largest_logit == probe.rows()[1].largest_logit);
  });
}

TEST_CASE("all placements: dropout acts in training only") {
  for_each_placement([&](const nn::Placement& placement, nn::BlockOptions block) {
    block.dropout = 0.5;
    const nn::TransformerEncoder encoder({.layers = 2, .placement = placement, .block = block});
    randomize(encoder);
    const Tensor x = randn({1, 4, 4});
    CHECK(max_difference(encoder(x), encoder(x)) > 0);
    const nn::EvalMode eval(encoder);
    CHECK(max_difference(encoder(x), encoder(x)) == 0);
  });
}

TEST_CASE("all placements: weights load wherever the parts are the same") {
  const auto keys = [](const nn::Placement& placement) {
    return keys_and_shapes(nn::TransformerEncoder({.layers = 4, .placement = placement, .block = kBlock}));
  };
  for (const nn::Placement& p : {nn::olmo2(), nn::ln_scaling(), nn::mix_ln(), nn::resi_dual()}) {
    INFO(p.name);
    CHECK(keys(p) == keys(nn::pre_ln()));
  }
  for (const nn::Placement& p : {nn::b2t(), nn::deep_norm()}) {
    INFO(p.name);
    CHECK(keys(p) == keys(nn::post_ln()));
  }
}

TEST_CASE("placements by name") {
  const std::vector<nn::Placement> all = nn::placements();
  const std::string list = nn::list_placements();
  for (const nn::Placement& p : all) {
    INFO(p.name);
    CHECK(nn::placement_named(p.name) == p);
    CHECK_FALSE(p.equation.empty());
    CHECK(list.find(p.equation) != std::string::npos);
    CHECK(p.paper.find("arXiv") != std::string::npos);
  }
  std::istringstream lines(list);  // the word to type, the rest; paper and mark
  for (const nn::Placement& p : all) {
    std::string first, second;
    std::getline(lines, first), std::getline(lines, second);
    INFO(first);
    CHECK(nn::placement_named(first.substr(0, first.find(' '))) == p);
    const bool marked = second.find("; not for decoders with memory") != std::string::npos;
    CHECK(marked == !p.decoder_block);
  }
  CHECK(nn::placement_named("pre") == nn::pre_ln());
  CHECK(nn::placement_named("POST-LN") == nn::post_ln());
  CHECK(nn::placement_named("deep") == nn::deep_norm());
  CHECK(nn::placement_named("sandwich-ln") == nn::peri_ln());
  CHECK(nn::placement_named("no-norm") == nn::no_norm());
  CHECK(nn::placement_named("olmo2") == nn::olmo2());
  CHECK_THROWS_WITH_AS(nn::placement_named("middle"),
                       doctest::Contains("there is no placement 'middle'; there are Pre-LN, Post-LN, "),
                       Error);
  CHECK_THROWS_AS(nn::placement_named(""), Error);
}

TEST_CASE("all placements: the properties they declare") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 3, 4});
  for (const nn::Placement& p : nn::placements()) {
    INFO(p.name);
    // by_layer: with the same weights, the first and the last block differ.
    nn::BlockOptions options = kBlock;
    options.layers = 8;
    const nn::AnyBlock first = p.block(options);
    options.layer = 7;
    const nn::AnyBlock last = p.block(options);
    randomize(first);
    last.load_state_dict(first.state_dict());
    const Tensor in = p.enter ? p.enter(x) : x;
    CHECK((max_difference(first(in), last(in)) > 0) == p.by_layer);
    // joinings: as many norms as the block has; one stands for both branches.
    if (p.joinings.empty()) continue;
    const auto is_norm = [](const std::string& word) { return word.starts_with("LN"); };
    std::ptrdiff_t norms = 0;
    for (const nn::Joining& joining : p.joinings)
      norms += std::count_if(joining.branch.begin(), joining.branch.end(), is_norm) + is_norm(joining.after);
    if (p.joinings.size() == 1) norms *= 2;
    std::ptrdiff_t found = 0;
    for (const auto& [name, module] : first.named_modules()) found += module.kind() == "LayerNorm";
    if (p.name == "HybridNorm") found -= 2;  // of q, k and v, drawn as one
    CHECK(norms == found);
  }
}

TEST_CASE("placements: a copy whose functions were replaced is no longer the library's") {
  const auto same = [](nn::Placement changed) { return changed == nn::resi_dual(); };
  CHECK(same(nn::resi_dual()));
  nn::Placement changed = nn::resi_dual();
  changed.init = [](const nn::Module&, const nn::BlockOptions&) {};  // initial values are no part of it
  CHECK(same(changed));
  changed.block = [](const nn::BlockOptions& o) { return nn::Block<nn::ResiDual>(o); };
  CHECK_FALSE(same(changed));
  changed = nn::resi_dual();
  changed.leave = nullptr;
  CHECK_FALSE(same(changed));
  CHECK_FALSE(same(nn::placement<nn::ResiDual>(nn::resi_dual())));
  nn::Placement fake = nn::post_ln();
  fake.name = "ResiDual";
  CHECK_FALSE(same(fake));
  CHECK_FALSE(same({.name = "ResiDual", .block = nn::resi_dual().block}));
  nn::Placement copy = nn::resi_dual();
  fake = copy;  // of a variable, not of a temporary
  CHECK(same(fake));
  CHECK(nn::mix_ln(0.5) == nn::find_placement("Mix-LN 0.5"));
  CHECK(nn::mix_ln(0.5) != nn::mix_ln());
  CHECK_FALSE(nn::find_placement("pre"));
  CHECK(nn::find_placement("DeepNorm 6-4") == nn::deep_norm({.encoder_layers = 6, .decoder_layers = 4}));
  for (const char* const wrong : {"DeepNorm 0-6", "DeepNorm 6-0", "DeepNorm 6", "DeepNorm -1-6", "Mix-LN 2"})
    CHECK_FALSE(nn::find_placement(wrong));
}

TEST_CASE("placements: errors say what is missing") {
  CHECK_THROWS_WITH_AS(nn::mix_ln(1.5), "Mix-LN: expects post_share from 0 to 1, got 1.5", Error);
  CHECK_THROWS_WITH_AS(nn::deep_norm({.encoder_layers = 6}),
                       "DeepNorm: expects encoder_layers and decoder_layers of 1 or more, got 6 and 0",
                       Error);
  CHECK_THROWS_WITH_AS(
      nn::TransformerEncoder({.layers = 6,
                              .placement = nn::deep_norm({.encoder_layers = 2, .decoder_layers = 9}),
                              .block = kBlock}),
      doctest::Contains("DeepNorm: was made for 2 blocks in the encoder, this one has 6: use "
                        "deep_norm({.encoder_layers = N, .decoder_layers = M}) with .encoder_layers = 6"),
      Error);
  CHECK_THROWS_WITH_AS(
      nn::TransformerDecoder({.layers = 6,
                              .placement = nn::deep_norm({.encoder_layers = 6, .decoder_layers = 9}),
                              .block = kBlock}),
      doctest::Contains("DeepNorm: was made for 9 blocks in the decoder, this one has 6"), Error);
  CHECK_THROWS_WITH_AS(
      nn::TransformerDecoder({.layers = 2, .placement = nn::deep_norm(), .block = kBlock}),
      doctest::Contains("use deep_norm({.encoder_layers = N, .decoder_layers = M}) for both"), Error);
  for (const nn::Placement& p : {nn::keel(), nn::siamese_norm()})
    CHECK_THROWS_WITH_AS(nn::TransformerDecoder({.layers = 2, .placement = p, .block = kBlock}),
                         doctest::Contains(("the placement '" + p.name + "' has no decoder_block").c_str()),
                         Error);
}

}  // namespace gradus::test
