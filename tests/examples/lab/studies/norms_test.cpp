#include "lab/studies/norms/norms.h"

#include <doctest/doctest.h>

#include "gradus/gradus.h"

using namespace gradus;
using namespace gradus::lab;

TEST_CASE("DetachedLayerNorm: LayerNorm's output, and a gradient that knows no mean and variance") {
  const DefaultDType dtype(f64);
  Generator generator(3);
  Tensor x(random_normal({5, 8}, 1.0, 2.0, f64, generator));
  const Tensor direction(random_normal({5, 8}, 0.0, 1.0, f64, generator));
  x.requires_grad_();
  const norms::DetachedLayerNorm detached(nn::NormOptions{.d_model = 8});
  const nn::LayerNorm layer(8);
  CHECK(allclose(detached(x), layer(x)));
  (detached(x) * direction).sum().backward();
  const Tensor sigma = sqrt(x.detach().var(-1, {.keepdim = true, .unbiased = false}) + 1e-5);
  CHECK(allclose(x.grad(), direction / sigma));
}

TEST_CASE("gradients of deep stacks: none explodes without a norm, LayerNorm holds them together") {
  const norms::Start& pre = norms::starts().front();
  const double with = norms::measure_start(pre, norms::kind_named("layer"), 1000).numbers.at("spread");
  const Measured without = norms::measure_start(pre, norms::kind_named("none"), 1000);
  CHECK(with < 3);
  CHECK(without.numbers.at("spread") > 10);
  CHECK(without.series.at("gradient").front() > without.series.at("gradient").back());
}

TEST_CASE("shift: as many measurements as fit, each a size below the whole") {
  const Measured measured = norms::measure_shift(norms::kind_named("layer"), 45, 1000);
  CHECK(measured.series.at("inputs_by_step").size() == 2);
  CHECK(measured.series.at("gradients_by_step").size() == 2);
  CHECK(measured.numbers.at("inputs") < 0);
  CHECK(measured.numbers.at("inputs") > -6);
  CHECK(measured.numbers.at("gradients") < 0.5);
  // The same run with an update of nothing would have moved nothing: larger steps move more.
  CHECK(norms::measure_shift(norms::kind_named("layer"), 45, 1000).numbers == measured.numbers);
}
