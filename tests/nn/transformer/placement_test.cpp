// Placements and blocks of a program's own in encoders, decoders and GPTs.

#include "gradus/nn/transformer/placement.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::max_difference;
using test::Tensors;

namespace {

const nn::BlockOptions kSmall{.d_model = 4, .heads = 2, .d_ff = 6};

void randomize(const nn::Module& model) {
  for (const auto& [name, w] : model.named_parameters()) nn::init::normal_(w, 0, 0.5);
}

struct PeriLN : nn::Module {
  explicit PeriLN(const nn::BlockOptions& o) : in(add("in", o.new_norm())), out(add("out", o.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return x + out(f(in(x))); }
  nn::Norm in, out;
};

// [streams]
/// ResiDual (Xie et al. 2023): a Post-LN stream, which the branch reads, and a sum of all branches.
struct ResiDual : nn::Module {
  explicit ResiDual(const nn::BlockOptions& o) : norm(add("", o.new_norm())) {}
  Tensor operator()(const Tensor& streams, const nn::Branch& f) const {
    const Tensor y = f(streams[0]);
    return stack({norm(streams[0] + y), streams[1] + y});
  }
  nn::Norm norm;
};

struct JoinStreams : nn::Module {
  explicit JoinStreams(const nn::BlockOptions& o) : norm(add("", o.new_norm())) {}
  Tensor operator()(const Tensor& streams) const { return streams[0] + norm(streams[1]); }
  nn::Norm norm;
};

nn::Placement residual_dual() {
  return nn::placement<ResiDual>({.name = "ResiDual",
                                  .enter =
                                      [](const Tensor& x) {
                                        return stack({x, x});
                                      },
                                  .leave = [](const nn::BlockOptions& o) { return JoinStreams(o); }});
}
// [/streams]

/// Post-LN in the lower half, Pre-LN above.
nn::Placement mixed() {
  return {.name = "mixed", .final_norm = true, .block = [](const nn::BlockOptions& o) -> nn::AnyBlock {
            if (o.layer < o.layers / 2) return nn::PostLNBlock(o);
            return nn::PreLNBlock(o);
          }};
}

/// A block that is none of the library's: x + Attn(LN(x)) + FFN(LN(x)).
struct Parallel : nn::Module {
  explicit Parallel(const nn::BlockOptions& o)
      : norm(add("norm", o.new_norm())),
        attention(add("attention", nn::MultiheadAttention(o.attention()))),
        ffn(add("ffn", nn::FFN(o.ffn()))) {}
  Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks, nn::KeyValues* cache) const {
    const Tensor y = norm(x);
    return x + attention(y, masks, cache) + ffn(y);
  }
  nn::KeyValues new_cache(std::int64_t batch, std::int64_t capacity) const {
    return attention.new_cache(batch, capacity);
  }
  nn::Norm norm;
  nn::MultiheadAttention attention;
  nn::FFN ffn;
};

/// A block that sees one position at a time and takes nothing but the stream.
struct Pointwise : nn::Module {
  explicit Pointwise(const nn::BlockOptions& o) : ffn(add("ffn", nn::FFN(o.ffn()))) {}
  Tensor operator()(const Tensor& x) const { return x + ffn(x); }
  nn::FFN ffn;
};

template <class B>
nn::Placement of_blocks(const std::string& name) {
  return {.name = name, .final_norm = true, .block = [](const nn::BlockOptions& o) { return B(o); }};
}

std::vector<nn::Placement> own_placements() {
  return {nn::placement<PeriLN>({.name = "Peri-LN", .final_norm = true}), residual_dual(), mixed(),
          of_blocks<Parallel>("parallel")};
}

nn::GPT gpt_of(const nn::Placement& placement, bool recompute = false) {
  const nn::GPT gpt({.vocab = 7,
                     .context = 9,
                     .layers = 4,
                     .placement = placement,
                     .block = {.d_model = 8, .heads = 2},
                     .checkpoint = recompute});
  randomize(gpt);
  return gpt;
}

}  // namespace

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
  const nn::TransformerEncoder encoder({.layers = 2, .placement = residual_dual(), .block = kSmall});
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
  const Tensor ids = randint(0, 7, {2, 8}), targets = randint(0, 7, {2, 8});
  for (const nn::Placement& placement : own_placements()) {
    INFO(placement.name);
    const nn::GPT gpt = gpt_of(placement), again = gpt_of(placement, true);
    again.copy_parameters_from(gpt);
    nn::KeyValueCache cache = gpt.new_cache(2);
    const Tensor whole = gpt(ids);
    const Tensor pieces = cat({gpt(ids.slice(1, 0, 5), cache), gpt(ids.slice(1, 5, 8), cache)}, 1);
    CHECK(max_difference(whole, pieces) < 1e-4);
    const Tensor prompt = ids.slice(1, 0, 3);
    CHECK(gpt.generate(prompt, 12, {.greedy = true}).to_vector<std::int64_t>() ==
          gpt.generate(prompt, 12, {.greedy = true, .cache = false}).to_vector<std::int64_t>());

    gpt.loss(ids, targets).backward();
    again.loss(ids, targets).backward();
    const int before = num_threads();
    const nn::GPT other = gpt_of(placement);
    other.copy_parameters_from(gpt);
    set_num_threads(before == 3 ? 2 : 3);
    other.loss(ids, targets).backward();
    set_num_threads(before);
    for (const auto& [name, w] : gpt.named_parameters()) {
      CHECK(max_difference(w.grad(), again.parameter(name).grad()) == 0);
      CHECK(max_difference(w.grad(), other.parameter(name).grad()) == 0);
    }
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

TEST_CASE("placements of one's own: gates keep their initial values in a GPT") {
  struct Gate : nn::Module {
    explicit Gate(const nn::BlockOptions&) {}
    nn::Parameter gate = parameter("gate", zeros({}));
    Tensor operator()(const Tensor& x, const nn::Branch& f) const { return x + gate * f(x); }
  };
  const nn::GPT gpt(
      {.vocab = 5, .context = 4, .layers = 2, .placement = nn::placement<Gate>({}), .block = kSmall});
  const Tensor ids = tensor({{1, 2, 3}});
  // ReZero at the start: every block hands its input on.
  CHECK(max_difference(gpt(ids), linear(gpt.token_embedding(ids) + gpt.position_embedding(3),
                                        gpt.token_embedding.weight)) == 0);
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
  check_error(
      [&] { encoder.new_cache(1, 3); },
      "Pointwise: keeps no keys and values: give it `Tensor operator()(const Tensor& x, const "
      "AttentionMasks& "
      "masks, KeyValues* cache) const` and `KeyValues new_cache(std::int64_t batch, std::int64_t capacity) "
      "const`, or work without a cache");
  const nn::GPT gpt = gpt_of(of_blocks<Pointwise>("pointwise"));
  CHECK(gpt.generate(tensor({1, 2}), 12, {.cache = false}).size(0) == 14);
  static_assert(!std::is_constructible_v<nn::AnyBlock, nn::Linear*> &&
                !std::is_constructible_v<nn::AnyBlock, Tensor>);
  static_assert(!std::is_constructible_v<nn::AnyDecoderBlock, nn::PreLNBlock>);
}

TEST_CASE("placements of one's own: bad calls") {
  check_error([] { nn::TransformerEncoder({.layers = 1, .placement = {.name = "empty"}, .block = kSmall}); },
              "TransformerEncoder: the placement empty has no block");
  check_error([] { nn::TransformerDecoder({.layers = 1, .placement = mixed(), .block = kSmall}); },
              "TransformerDecoder: the placement mixed has no decoder block");
  check_error(
      [] {
        nn::TransformerEncoder(
            {.layers = 1, .placement = residual_dual(), .block = kSmall, .final_norm = false});
      },
      "TransformerEncoder: the placement ResiDual needs what it has after the last block: no final_norm = "
      "false");
  check_error(
      [] {
        nn::GPT(
            {.vocab = 5, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 2, .causal = false}});
      },
      "GPT: block.causal is false: each token is predicted from those before it");
  CHECK(nn::pre_ln() == nn::pre_ln());
  CHECK(nn::pre_ln() != nn::post_ln());
}
