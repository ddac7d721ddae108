// The figure of placements: what it says of stream and gradient is what the library computes; and the
// schedules that sessions train with.

#include <doctest/doctest.h>

#include <cmath>

#include "browser/ask.h"
#include "browser/figures/placement.h"
#include "gradus/gradus.h"

using namespace gradus;
using namespace gradus::browser;
using gradus::test::error_of;

namespace {

Settings stack_of(const std::string& placement, std::int64_t layers = 6) {
  return {.placements = {placement, placement == "Pre-LN" ? "Post-LN" : "Pre-LN"}, .layers = layers};
}

Trace traced(const std::string& placement, std::int64_t layers = 6) {
  const Settings settings = stack_of(placement, layers);
  return trace_of(Session(settings).models()[0], settings);
}

}  // namespace

TEST_CASE("placement: stream and gradient are those that a probe sees in the first step") {
  for (const NormPlaces& norms : traced_placements()) {
    CAPTURE(norms.placement);
    const Settings settings = stack_of(norms.placement);
    const Trace trace = traced(norms.placement);
    REQUIRE(trace.stream.size() == 7);
    REQUIRE(trace.gradient.size() == 7);
    const Model model(settings, norms.placement);
    const lab::Batch batch = lab::first_batch(lab::recall_task(), {});
    const nn::Probe probe;
    model.gpt().loss(batch.inputs, batch.targets).backward();
    std::size_t l = 0;
    for (const nn::ProbeRow& row : probe.rows()) {
      if (!row.layer.starts_with("layers.")) continue;
      ++l;
      CHECK(trace.stream[l] == doctest::Approx(row.activation_norm * row.activation_norm / 32).epsilon(1e-4));
      CHECK(trace.gradient[l] == doctest::Approx(row.activation_gradient_norm).epsilon(1e-4));
    }
    CHECK(l == 6);
  }
}

TEST_CASE("placement: what the parts of a block make of the gradient is what leaves it below") {
  for (const NormPlaces& norms : traced_placements()) {
    CAPTURE(norms.placement);
    const Trace trace = traced(norms.placement);
    REQUIRE(trace.blocks.size() == 6);
    for (std::size_t l = 1; l <= 6; ++l) {
      const auto& [attention, ffn] = trace.blocks[l - 1];
      CHECK(trace.gradient[l - 1] ==
            doctest::Approx(trace.gradient[l] * ffn.all * attention.all).epsilon(1e-4));
      for (const BranchTrace& g : {attention, ffn}) {
        CHECK(g.branch == doctest::Approx(g.after * g.f * g.before).epsilon(1e-4));
        CHECK((g.on_stream == 1) == !norms.on_stream);
        CHECK((g.after == 1) == !norms.after);
        CHECK((g.before == 1) == !norms.before);
        // The sum of shortcut and branch is no longer than both one after the other, and no shorter.
        CHECK(g.all <= g.on_stream * (1 + g.branch) * 1.0001);
        CHECK(g.all >= g.on_stream * std::abs(1 - g.branch) * 0.9999);
      }
    }
  }
}

TEST_CASE("placement: a norm's share is that of its own backward") {
  // The uppermost Post-LN norm, alone: dL/ds = J g, with s = h + FFN(h) computed by hand.
  const Settings settings = stack_of("Post-LN", 1);
  const Session session(settings);
  const nn::GPT& gpt = session.models()[0].gpt();
  const lab::Batch batch = lab::first_batch(lab::recall_task(), {});
  Tensor h, z, y;
  const nn::ForwardHook hook = gpt.on_forward([&](const nn::Module& m, const Tensor& out) {
    if (m.path() == std::string("layers.0.norm1")) h = out;
    if (m.path() == std::string("layers.0.linear2")) z = out;
    if (m.path() == std::string("layers.0")) y = out;
  });
  const Tensor loss = gpt.loss(batch.inputs, batch.targets);
  const std::vector<Tensor> g = grad(loss, {y});
  const Tensor s = (h + z).detach().requires_grad_();
  layer_norm(s).backward(g[0]);  // gain 1 and bias 0 at the start
  CHECK(trace_of(session.models()[0], settings).blocks[0].ffn.on_stream ==
        doctest::Approx(s.grad().norm().item() / g[0].norm().item()).epsilon(1e-4));
}

TEST_CASE("placement: Post-LN keeps the stream level, Pre-LN grows as the depth, no norm faster") {
  const Trace pre = traced("Pre-LN", 32), post = traced("Post-LN", 32), none = traced("no norm", 32);
  for (std::size_t l = 1; l <= 32; ++l) CHECK(post.stream[l] == doctest::Approx(1).epsilon(1e-3));
  CHECK(pre.stream[32] / pre.stream[16] > 1.6);
  CHECK(pre.stream[32] / pre.stream[16] < 2.5);
  CHECK(none.stream[32] / none.stream[16] > 100);
}

TEST_CASE("placement: to trace does not disturb the training") {
  const Settings settings = stack_of("Peri-LN", 2);
  Session watched(settings), alone(settings);
  const Trace before = trace_of(watched.models()[0], settings);
  for (int step = 0; step < 3; ++step) {
    trace_of(watched.models()[0], settings);
    const auto a = watched.step(), b = alone.step();
    for (const std::size_t i : {0, 1}) CHECK(a[i]->loss == b[i]->loss);
  }
  CHECK(trace_of(watched.models()[0], settings).stream[2] != before.stream[2]);
}

TEST_CASE("schedule: rates are the library's, and a session trains with them") {
  const Settings base{.layers = 1, .rate = 0.01, .warmup = 4, .steps = 20};
  const auto with = [&](const char* decay) {
    Settings settings = base;
    settings.decay = decay;
    return settings;
  };
  for (const Decay& decay : decays()) {
    CAPTURE(decay.name);
    const std::vector<double> all = rates(with(decay.name));
    REQUIRE(all.size() == 20);
    CHECK(all[0] == doctest::Approx(0.0025));
    CHECK(all[3] == doctest::Approx(0.01));
    Session session(with(decay.name));
    for (std::size_t step = 0; step < 6; ++step) CHECK(session.step()[0]->rate == all[step]);
  }
  CHECK(rates(with("none"))[19] == doctest::Approx(0.01));
  CHECK(rates(with("linear"))[11] == doctest::Approx(0.005));
  CHECK(rates(with("linear"))[19] == 0);
  CHECK(rates(with("cosine"))[11] == doctest::Approx(0.005));
  CHECK(rates(with("cosine"))[19] == doctest::Approx(0));
  CHECK(rates(with("root"))[15] == doctest::Approx(0.005));

  Settings frozen = with("linear");  // whose last rate, 0, moves nothing
  frozen.steps = 5;
  Session session(frozen);
  for (int step = 0; step < 4; ++step) session.step();
  const auto weights = [&] { return session.models()[0].gpt().parameters()[0].to_vector<float>(); };
  const std::vector<float> before = weights();
  session.step();
  CHECK(weights() == before);
}

TEST_CASE("figures of a session: bad requests are answered with what is expected") {
  REQUIRE(
      error_of(R"({"do": "begin", "settings": {"layers": 1, "placements": ["DeepNorm", "Keel"]}})").empty());
  CHECK(error_of(R"({"do": "trace"})") ==
        "trace: cannot follow the gradient through DeepNorm; placements expect Pre-LN, Post-LN, no norm, "
        "OLMo 2 "
        "or Peri-LN");
  CHECK(error_of(R"({"do": "rates", "settings": {"decay": "cliff"}})") ==
        "decay: expects none, linear, cosine or root, got cliff");
  CHECK(error_of(R"({"do": "rates", "settings": {"decay": "cosine", "warmup": 400, "steps": 400}})") ==
        "warm-up: expects fewer than the 400 steps that end at a rate of 0, got 400");
}
