// The option `checkpoint` of stacks and GPT.

#include <doctest/doctest.h>

#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"

using namespace gradus;

namespace {

/// What a step leaves, and the memory it took at its peak.
struct Outcome {
  std::vector<std::vector<float>> gradients;
  double loss = 0;
  std::int64_t peak_bytes = 0;
};

/// One step of a model made by `make`; `loss` gets it.
template <class Make, class Loss>
Outcome step(const Make& make, const Loss& loss) {
  manual_seed(1);
  const auto model = make();
  Outcome outcome;
  for (int i = 0; i < 2; ++i) {  // gradients of two steps add up
    const std::int64_t before = memory_stats().live_bytes;
    reset_peak_memory();
    const Tensor value = loss(model);
    value.backward();
    outcome.peak_bytes = memory_stats().peak_bytes - before;
    outcome.loss = value.item();
  }
  for (const Tensor& w : model.parameters())
    outcome.gradients.push_back(w.grad().template to_vector<float>());
  return outcome;
}

void check_same(const Outcome& a, const Outcome& b) {
  CHECK(a.loss == b.loss);
  CHECK(a.gradients == b.gradients);
}

}  // namespace

TEST_CASE("checkpoint: a GPT gives the same bits with dropout on, in a fraction of the memory") {
  manual_seed(0);
  const Tensor ids = randint(0, 30, {4, 64}), targets = randint(0, 30, {4, 64});
  for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln()}) {
    const auto run = [&](bool on) {
      return step(
          [&] {
            return nn::GPT({.vocab = 30,
                            .context = 64,
                            .layers = 16,
                            .placement = placement,
                            .block = {.d_model = 32, .heads = 2, .dropout = 0.2},
                            .checkpoint = on});
          },
          [&](const nn::GPT& model) { return model.loss(ids, targets); });
    };
    const Outcome with = run(true), without = run(false);
    check_same(with, without);
    CHECK(with.peak_bytes * 4 < without.peak_bytes);
  }
}

TEST_CASE("checkpoint: decoder stacks, masks and biases that want a gradient") {
  manual_seed(0);
  const Tensor x = randn({2, 5, 8}), memory = randn({2, 7, 8}).requires_grad_();
  const Tensor bias = randn({1, 2, 5, 5}).requires_grad_();
  std::vector<float> memory_gradient[2], bias_gradient[2];
  for (const bool on : {false, true}) {
    manual_seed(2);
    const nn::TransformerDecoder decoder(
        {.layers = 3, .block = {.d_model = 8, .heads = 2, .dropout = 0.1}, .checkpoint = on});
    const nn::TransformerEncoder encoder(
        {.layers = 3, .block = {.d_model = 8, .heads = 2, .dropout = 0.1}, .checkpoint = on});
    const Tensor h = encoder(x, {.score_bias = bias * 2.0});
    decoder(h, memory.tanh()).square().sum().backward();
    memory_gradient[on] = memory.grad().to_vector<float>();
    bias_gradient[on] = bias.grad().to_vector<float>();
    memory.zero_grad();
    bias.zero_grad();
  }
  CHECK(memory_gradient[0] == memory_gradient[1]);
  CHECK(bias_gradient[0] == bias_gradient[1]);
}

TEST_CASE("checkpoint: a probe, eval mode and NoGrad see the same") {
  const auto rows = [](bool on) {
    manual_seed(3);
    const nn::TransformerEncoder model(
        {.layers = 2, .block = {.d_model = 8, .heads = 2, .dropout = 0.1}, .checkpoint = on});
    const Tensor x = randn({2, 4, 8});
    const nn::Probe probe;
    model(x).square().sum().backward();
    const std::string table = probe.table();
    const nn::EvalMode eval(model);
    const NoGrad guard;
    return std::pair(table, model(x).to_vector<float>());
  };
  CHECK(rows(true) == rows(false));
}
