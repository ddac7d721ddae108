// Placements of a program's own in encoders, decoders and GPTs.

#include "gradus/nn/transformer/placement.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/optim/sgd.h"
#include "nn/check_module.h"
#include "nn/transformer/check_gpt.h"
#include "own_placements.h"

namespace gradus::test {

TEST_CASE("placements of one's own: keys and kinds in a stack, copies share") {
  const nn::TransformerEncoder encoder(
      {.layers = 2, .placement = nn::placement<PeriLN>({.final_norm = true}), .block = kSmall});
  CHECK(encoder.options().placement.name == "PeriLN");
  CHECK(encoder.layers[1].kind() == "PeriLNBlock");
  CHECK(encoder.state_dict().contains("layers.1.norm2.out.bias"));
  CHECK(encoder.norm.has_value());
  const nn::TransformerEncoder copy = encoder;
  const nn::AnyBlock block = copy.layers[0];
  const nn::Parameter weight = block.parameter("linear2.weight");
  {
    const NoGrad guard;
    weight.mutable_span<float>()[0] = 5;
  }
  CHECK(encoder.parameter("layers.0.linear2.weight").to_vector<float>()[0] == 5);
  CHECK(block.as<nn::Block<PeriLN>>()->ffn.linear2.weight.span<float>()[0] == 5);
  CHECK(encoder.num_parameters() == copy.num_parameters());
  CHECK(nn::summary(encoder).find("PeriLN") != std::string::npos);
}

TEST_CASE("placements of one's own: gradients, in encoders and decoders") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({1, 3, 4}), memory = randn({1, 2, 4});
  for (const nn::Placement& placement : own_placements()) {
    INFO(placement.name);
    const nn::TransformerEncoder encoder({.layers = 2, .placement = placement, .block = kSmall});
    randomize(encoder);
    check_module(encoder, {x}, [&](const Tensors& in) { return encoder(in[0]); });
    if (!placement.decoder_block) continue;
    const nn::TransformerDecoder decoder({.layers = 2, .placement = placement, .block = kSmall});
    randomize(decoder);
    check_module(decoder, {x, memory}, [&](const Tensors& in) { return decoder(in[0], in[1]); });
  }
}

TEST_CASE("placements of one's own: two streams, against their equations") {
  const DefaultDType f64_default(f64);
  const nn::TransformerEncoder encoder({.layers = 2, .placement = resi_dual(), .block = kSmall});
  randomize(encoder);
  const auto norm = [&](const std::string& name, const Tensor& x) {
    return layer_norm(x, encoder.parameter(name + ".weight"), encoder.parameter(name + ".bias"));
  };
  const Tensor x = randn({2, 3, 4});
  Tensor post = x, sum = x;
  for (const std::string i : {"0", "1"}) {
    const auto& block = *encoder.layers[i == "1"].as<nn::Block<ResiDual>>();
    const Tensor a = block.self_attn(post);
    post = norm("layers." + i + ".norm1", post + a), sum = sum + a;
    const Tensor b = block.ffn(post);
    post = norm("layers." + i + ".norm2", post + b), sum = sum + b;
  }
  CHECK(max_difference(encoder(x), post + norm("norm", sum)) == 0);
}

TEST_CASE("placements of one's own: a GPT with and without a cache, recomputed, on any number of threads") {
  for (const nn::Placement& placement : own_placements()) {
    INFO(placement.name);
    check_gpt([&](bool recompute) { return gpt_of(placement, recompute); });
    const nn::GPT gpt = gpt_of(placement);
    const Tensor prompt = randint(0, 7, {2, 3});
    CHECK(gpt.generate(prompt, 12, {.greedy = true}).to_vector<std::int64_t>() ==
          gpt.generate(prompt, 12, {.greedy = true, .cache = false}).to_vector<std::int64_t>());
  }
}

TEST_CASE("placements of one's own: masks and probes reach every block") {
  for (const nn::Placement& placement : own_placements()) {
    INFO(placement.name);
    const nn::TransformerEncoder encoder({.layers = 2, .placement = placement, .block = kSmall});
    const Tensor x = randn({1, 4, 4});
    const Tensor changed = x.clone();
    changed.slice(1, 3) = randn({1, 1, 4});
    const nn::AttentionMasks masks{.key_padding_mask = tensor({{false, false, false, true}})};
    CHECK(max_difference(encoder(x, masks).slice(1, 0, 3), encoder(changed, masks).slice(1, 0, 3)) == 0);
    CHECK(max_difference(encoder(x).slice(1, 0, 3), encoder(changed).slice(1, 0, 3)) > 0);
    const nn::Probe probe;
    encoder(x).sum().backward();
    REQUIRE(probe.rows().size() == 3);
    CHECK(probe.rows()[1].layer == "layers.1");
    CHECK(probe.rows()[1].activation_gradient_norm > 0);
    CHECK(probe.rows()[1].largest_logit == probe.rows()[1].largest_logit);
    CHECK(probe.rows()[2].layer == "norm");
  }
}

TEST_CASE("placements of one's own: each block is told its depth") {
  std::vector<std::int64_t> seen;
  nn::TransformerEncoder({.layers = 3,
                          .placement = {.name = "counted",
                                        .block = [&](const nn::BlockOptions& o) -> nn::AnyBlock {
                                          CHECK(o.layers == 3);
                                          seen.push_back(o.layer);
                                          return nn::PreLNBlock(o);
                                        }},
                          .block = kSmall});
  CHECK(seen == std::vector<std::int64_t>{0, 1, 2});
  const nn::TransformerEncoder encoder({.layers = 4, .placement = mixed(), .block = kSmall});
  CHECK(encoder.layers[1].as<nn::PostLNBlock>() != nullptr);
  CHECK(encoder.layers[2].as<nn::PreLNBlock>() != nullptr);
}

TEST_CASE("placements of one's own: initial values are set once") {
  int calls = 0;
  nn::Placement counting = nn::pre_ln();
  counting.init = [&](const nn::Module&, const nn::BlockOptions& o) {
    ++calls;
    CHECK(o.layer == 0);
    CHECK(o.layers == 2);
  };
  const nn::GPT gpt({.vocab = 5, .context = 4, .layers = 2, .placement = counting, .block = kSmall});
  CHECK(calls == 1);
  CHECK(gpt.options().placement.init != nullptr);
  const nn::TransformerDecoder decoder({.layers = 2, .placement = counting, .block = kSmall});
  CHECK(calls == 2);
}

TEST_CASE("placements of one's own: with a cache, a branch is called once") {
  struct Twice : nn::Module {
    explicit Twice(const nn::BlockOptions&) {}
    Tensor operator()(const Tensor& x, const nn::Branch& f) const { return x + f(x + f(x) * 0.5); }
  };
  struct Never : nn::Module {
    explicit Never(const nn::BlockOptions&) {}
    Tensor operator()(const Tensor& x, const nn::Branch&) const { return x; }
  };
  const Tensor ids = tensor({{1, 2, 3}});
  const nn::GPT twice = gpt_of(nn::placement<Twice>()), never = gpt_of(nn::placement<Never>());
  CHECK(twice(ids).size(1) == 3);
  nn::KeyValueCache cache = twice.new_cache(), other = never.new_cache();
  check_error([&] { twice.next_logits(ids, cache); },
              "TwiceBlock: kept 6 positions where 3 came: with a cache a block calls its attention once (in "
              "layers.0)");
  CHECK(cache.length() == 0);
  check_error([&] { never.next_logits(ids, other); },
              "NeverBlock: kept 0 positions where 3 came: with a cache a block calls its attention once (in "
              "layers.0)");
  CHECK(twice.generate(tensor({1, 2}), 3, {.cache = false}).size(0) == 5);
}

TEST_CASE("placements of one's own: initial values come after the model's") {
  nn::Placement scaled = nn::pre_ln();
  scaled.init = [](const nn::Module& stack, const nn::BlockOptions& o) {
    CHECK(o.layers == 2);
    for (const auto& [name, w] : stack.named_parameters())
      if (name.ends_with("linear2.weight")) nn::init::constant_(w, 0.25);
  };
  const nn::GPT gpt({.vocab = 5, .context = 4, .layers = 2, .placement = scaled, .block = kSmall});
  CHECK(max_difference(gpt.parameter("layers.1.linear2.weight"), full({4, 6}, 0.25)) == 0);
  CHECK(max_difference(gpt.parameter("layers.1.linear1.weight"), full({6, 4}, 0.25)) > 0);
  const nn::TransformerEncoder encoder({.layers = 2, .placement = scaled, .block = kSmall});
  CHECK(max_difference(encoder.parameter("layers.0.linear2.weight"), full({4, 6}, 0.25)) == 0);
}

TEST_CASE("placements of one's own: prepare_() sets initial values from a batch, once") {
  nn::Placement measured = nn::pre_ln();
  measured.prepare = [](const nn::Module& model, const std::function<void()>& forward) {
    double mean = 0;
    const nn::ForwardHook hook = model.on_forward([&](const nn::Module& m, const Tensor& y) {
      if (m.path() == std::string("layers.0.linear2")) mean = y.mean().item();
    });
    forward();
    nn::init::constant_(model.parameter("layers.0.linear2.bias"), 1 + mean);
  };
  const Tensor ids = tensor({{1, 2, 3}});
  int calls = 0;
  const auto prepared = [&](const nn::Placement& placement) {
    const nn::GPT gpt({.vocab = 5, .context = 4, .layers = 2, .placement = placement, .block = kSmall});
    const bool called = nn::prepare_(gpt, [&] { ++calls, gpt(ids); });
    return called && gpt.parameter("layers.0.linear2.bias").min().item() != 0;
  };
  CHECK(prepared(measured));
  CHECK(calls == 1);
  CHECK_FALSE(prepared(nn::pre_ln()));
  CHECK(calls == 1);
}

TEST_CASE("placements of one's own: gates and matrices keep their initial values in a GPT") {
  struct Gate : nn::Module {
    explicit Gate(const nn::BlockOptions&) {}
    nn::Parameter gate = parameter("gate", zeros({}));
    nn::Parameter mix = parameter("mix", eye(4));
    Tensor operator()(const Tensor& x, const nn::Branch& f) const { return linear(x, mix) + gate * f(x); }
  };
  const nn::GPT gpt(
      {.vocab = 5, .context = 4, .layers = 2, .placement = nn::placement<Gate>({}), .block = kSmall});
  const Tensor ids = tensor({{1, 2, 3}});
  // ReZero at the start: every block hands its input on.
  CHECK(max_difference(gpt(ids), linear(gpt.token_embedding(ids) + (*gpt.position_embedding)(3),
                                        gpt.token_embedding.weight)) == 0);
}

TEST_CASE("placements of one's own: initial values that list parameters claim none") {
  nn::Placement listing = nn::pre_ln();
  listing.init = [](const nn::Module& stack, const nn::BlockOptions&) {
    for (const auto& [name, w] : stack.named_parameters())
      if (name.ends_with("linear2.weight")) nn::init::zeros_(w);
  };
  struct Net : nn::Module {
    explicit Net(const nn::Placement& placement)
        : encoder({.layers = 1, .placement = placement, .block = kSmall}) {}
    nn::TransformerEncoder encoder;  // never added
    nn::Linear head = add("head", nn::Linear(4, 2));
  };
  const Net net(listing);
  optim::SGD opt(net.parameters(), {.lr = 0.1});
  net.head(net.encoder(randn({1, 2, 4}))).sum().backward();
  CHECK_THROWS_AS(opt.step(), Error);
}

TEST_CASE("placements of one's own: bad calls") {
  // `.placement = "post"` is that too: a name is a placement's first member.
  check_error([] { nn::TransformerEncoder({.layers = 1, .placement = {.name = "post"}, .block = kSmall}); },
              "TransformerEncoder: the placement 'post' is a name without blocks: "
              "nn::placement_named(\"post\") finds one of gradus', nn::placement<R>() makes one");
  check_error(
      [] { nn::TransformerDecoder({.layers = 1, .placement = mixed(), .block = kSmall}); },
      "TransformerDecoder: the placement 'mixed' has no decoder_block: of gradus' own, nn::list_placements() "
      "says which are "
      "for decoders with memory; one of yours needs .decoder_block, or nn::placement<R>(), which makes both");
  check_error(
      [] {
        nn::TransformerEncoder({.layers = 1, .placement = resi_dual(), .block = kSmall, .final_norm = false});
      },
      "TransformerEncoder: the placement My ResiDual joins its streams after the last block: leave "
      "final_norm unset");
  check_error(
      [] {
        nn::GPT(
            {.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 2, .causal = false}});
      },
      "GPT: block.causal is false, but each token is predicted from those before it");
  nn::Placement open = resi_dual();
  open.leave = nullptr;
  check_error(
      [&] {
        nn::TransformerEncoder({.layers = 1, .placement = open, .block = kSmall})(zeros({1, 3, 4}));
      },
      "TransformerEncoder: with the placement My ResiDual x [1, 3, 4] comes out as [2, 1, 3, 4]: give it "
      "leave, which makes one stream of what enter makes");
  open.leave = [](const nn::BlockOptions& o) { return o.new_norm(); };
  check_error(
      [&] {
        nn::TransformerEncoder({.layers = 1, .placement = open, .block = kSmall})(zeros({1, 3, 4}));
      },
      "TransformerEncoder: with the placement My ResiDual x [1, 3, 4] comes out as [2, 1, 3, 4]: what its "
      "leave makes returns one stream, [B, T, C]");
  struct OneStream : nn::Module {
    explicit OneStream(const nn::BlockOptions&) {}
    Tensor operator()(const Tensor& streams, const nn::Branch& f) const {
      return streams.dim() == 4 ? f(streams[0]) : f(streams);
    }
  };
  check_error(
      [&] {
        nn::Placement one = nn::placement<OneStream>({.enter = open.enter, .leave = open.leave});
        nn::TransformerEncoder({.layers = 2, .placement = one, .block = kSmall})(zeros({1, 3, 4}));
      },
      "OneStreamBlock: a stream [2, 1, 3, 4] came out as [1, 3, 4]: a block returns the streams it is given "
      "(in "
      "layers.0)");
  check_error(
      [] { nn::PreLNBlock({.d_model = 4, .heads = 2, .norm = nullptr}); },
      "PreLNBlock: norm is empty: set it to make_norm<LayerNorm>, make_norm<RMSNorm> or make_norm<YourNorm>");
  CHECK(nn::pre_ln() == nn::pre_ln());
  CHECK(nn::pre_ln() != nn::post_ln());
}

}  // namespace gradus::test
