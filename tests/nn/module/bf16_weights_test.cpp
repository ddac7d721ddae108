// Bf16Weights: what models made with it hold, and what they compute.

#include "gradus/nn/module/bf16_weights.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "check_op.h"
#include "gradus/core/io/safetensors.h"
#include "gradus/core/tape/autocast.h"
#include "gradus/nn/nn.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/ema.h"
#include "support.h"

using namespace gradus;
using gradus::test::check_error;

namespace {

nn::GPTOptions small_gpt(nn::Positions positions) {
  return {.vocab = 300,
          .context = 24,
          .layers = 2,
          .block = {.d_model = 64, .heads = 4, .gated = positions == nn::Positions::rotary},
          .positions = positions,
          .tied = positions != nn::Positions::rotary};
}

/// The model with all weights of two axes in bf16.
nn::GPT stored(const nn::GPTOptions& options) {
  const nn::Bf16Weights guard;
  return nn::GPT(options);
}

/// Rounds such weights, which stay f32.
void round_weights(const nn::Module& model) {
  const NoGrad guard;
  for (const Tensor& w : model.parameters())
    if (w.dim() >= 2) w.copy_(w.to(bf16).to(f32));
}

bool same(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && (a == b).all(); }

}  // namespace

TEST_CASE(
    "bf16 weights: a model generates as one in f32 with rounded weights does, key-value cache and all") {
  for (const nn::Positions positions :
       {nn::Positions::learned, nn::Positions::rotary, nn::Positions::relative, nn::Positions::sinusoidal}) {
    CAPTURE(static_cast<int>(positions));
    manual_seed(1);
    const nn::GPT full(small_gpt(positions)), half = stored(small_gpt(positions));
    half.load_state_dict(full.state_dict());
    round_weights(full);
    full.eval(), half.eval();
    const Tensor prompt = randint(0, 300, {2, 5});
    const Autocast guard(bf16);
    nn::KeyValueCache a = full.new_cache(2), b = half.new_cache(2);
    for (const Tensor& ids : {prompt, prompt.slice(1, 0, 1), prompt.slice(1, 2, 5)})
      CHECK(same(full.next_logits(ids, a), half.next_logits(ids, b)));
    CHECK(same(full.generate(prompt, 10, {.greedy = true}), half.generate(prompt, 10, {.greedy = true})));
    CHECK(same(full(prompt).detach(), half(prompt)));  // nothing of it requires a gradient
  }
}

TEST_CASE("bf16 weights: a Bert") {
  manual_seed(2);
  const auto make = [] {
    return nn::Bert({.vocab = 60, .context = 16, .layers = 2, .block = {.d_model = 32, .heads = 4}});
  };
  const auto stored_one = [&make] {
    const nn::Bf16Weights guard;
    return make();
  };
  const nn::Bert full = make(), half = stored_one();
  half.load_state_dict(full.state_dict());
  round_weights(full);
  full.eval(), half.eval();
  const Autocast guard(bf16);
  const Tensor ids = randint(0, 60, {2, 9}), types = randint(0, 2, {2, 9});
  for (const Tensor& given : {Tensor(), types}) {
    const Tensor hidden = half(ids, {.token_types = given});
    CHECK(same(hidden, full(ids, {.token_types = given}).detach()));
    CHECK(same(half.mlm_logits(hidden), full.mlm_logits(hidden).detach()));
    CHECK(same(half.nsp_logits(hidden), full.nsp_logits(hidden).detach()));
  }
}

TEST_CASE("bf16 weights: half the memory, also while they are made, loaded and read") {
  nn::GPTOptions options = small_gpt(nn::Positions::learned);
  options.vocab = 600;  // large against a product's scratch
  const auto bytes_of = [&](bool half) {
    const std::int64_t before = memory_stats().live_bytes;
    std::optional<nn::Bf16Weights> guard;
    if (half) guard.emplace();
    const nn::GPT model(options);
    return memory_stats().live_bytes - before;
  };
  const std::int64_t full = bytes_of(false), half = bytes_of(true);
  CHECK(static_cast<double>(half) < 0.56 * static_cast<double>(full));

  // [stored]
  const auto made = [&] {
    const nn::Bf16Weights guard;
    return nn::GPT(options);
  };
  const nn::GPT model = made();
  // [/stored]
  model.eval();
  nn::KeyValueCache cache = model.new_cache(1);
  const Tensor ids = randint(0, options.vocab, {1, 3});
  model.next_logits(ids, cache);
  const std::int64_t live = memory_stats().live_bytes;
  reset_peak_memory();
  model.next_logits(ids, cache);
  // Less than the table of the head in f32: it is never widened.
  CHECK(memory_stats().peak_bytes - live < options.vocab * 64 * 4);
}

TEST_CASE("bf16 weights: which parameters, and that they are frozen") {
  const auto make = [] {
    const nn::Bf16Weights guard;
    return nn::PreLNBlock({.d_model = 8, .heads = 2});
  };
  const nn::PreLNBlock block = make();
  for (const auto& entry : block.named_parameters()) {
    const Tensor& w = entry.second;
    CAPTURE(entry.first);
    CHECK(w.dtype() == (w.dim() >= 2 ? bf16 : f32));
    CHECK(!w.requires_grad());
  }
  CHECK(block.named_parameters().size() == 12);
  CHECK(nn::Linear(2, 2).weight.dtype() == f32);  // the scope is over
  CHECK(!block(randn({1, 3, 8})).requires_grad());
  const Tensor x = randn({1, 3, 8}).requires_grad_();
  CHECK_THROWS(block(x));
  check_error([&] { block.requires_grad_(); },
              "requires_grad_: parameter 'in_proj_weight' [24, 8] is bf16, which is for inference: make the "
              "model without "
              "Bf16Weights, and use Autocast");
  check_error(
      [&] {
        block(zeros({1, 3}, i64));
      },
      "PreLNBlock: expects x [B, T, 8] of f32, got i64 [1, 3]: embed ids first");
}

TEST_CASE("bf16 weights: neither in f64 nor trained") {
  const nn::Bf16Weights guard;
  {
    const DefaultDType wide(f64);
    check_error([] { nn::Linear(3, 2); },
                "Linear: parameter 'weight' expects f32 within a Bf16Weights, got f64 [2, 3]: make the model "
                "with the default dtype f32");
  }
  const nn::Linear layer(3, 2);
  check_error(
      [&] { optim::Adam(layer.parameters(), {.lr = 0.1}); },
      "Adam: Linear.weight [2, 3] is bf16, which is for inference: make the model without Bf16Weights, "
      "and use Autocast");
  check_error(
      [&] { optim::EMA(layer.parameters()); },
      "EMA: Linear.weight [2, 3] is bf16, which is for inference: make the model without Bf16Weights, "
      "and use Autocast");
  check_error(
      [&] {
        layer.weight.set_grad(ones({2, 3}).to(bf16));
      },
      "set_grad: the tensor is bf16 [2, 3], and tensors of 16 bits have no gradient");
}

TEST_CASE("bf16 weights: requires_grad_() changes all parameters or none") {
  const auto make = [] {
    const nn::Bf16Weights guard;
    return nn::Sequential(nn::LayerNorm(4), nn::Linear(4, 2));
  };
  const nn::Sequential net = make();
  CHECK_THROWS(net.requires_grad_());
  for (const Tensor& w : net.parameters()) CHECK(!w.requires_grad());
  CHECK(net(ones({3, 4})).shape() == Shape{3, 2});
}

TEST_CASE("bf16 weights: a probe sees activations") {
  const nn::GPT model = stored(small_gpt(nn::Positions::learned));
  const nn::Probe probe;
  model(randint(0, 300, {2, 5}));
  REQUIRE(probe.rows().size() > 2);  // two blocks and a norm among them
  CHECK(probe.rows()[0].activation_norm > 0);
}

TEST_CASE("bf16 weights: saved as BF16, loaded without widening") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "model.safetensors").string();
  const nn::GPT model = stored(small_gpt(nn::Positions::learned)),
                again = stored(small_gpt(nn::Positions::learned));
  save_safetensors(path, model.state_dict());
  again.load_state_dict(load_safetensors(path, nullptr, Halves::keep));
  for (const auto& [name, values] : model.state_dict())
    CHECK((values.to(f32) == again.state_dict().at(name).to(f32)).all());
  CHECK(load_safetensors(path, nullptr, Halves::keep).at("token_embedding.weight").dtype() == bf16);
}
