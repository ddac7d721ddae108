#include "gradus/nn/layers/positions.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "nn/check_module.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::max_difference;
using test::Tensors;

TEST_CASE("LearnedPositions: the first rows of its weight") {
  const DefaultDType f64_default(f64);
  const nn::LearnedPositions positions(5, 3);
  CHECK(test::keys_and_shapes(positions) == std::vector<std::string>{"weight [5, 3]"});
  CHECK(max_difference(positions(2), positions.weight.slice(0, 0, 2)) == 0);
  CHECK(positions(0).shape() == Shape{0, 3});
  check_module(positions, {randn({2, 4, 3})}, [&](const Tensors& in) { return in[0] * positions(4); });
}

TEST_CASE("SinusoidalPositions: Vaswani's waves, neither trained nor saved") {
  const DefaultDType f64_default(f64);
  const nn::SinusoidalPositions positions(100, 6);
  const Tensor p = positions(50);
  CHECK(p.shape() == Shape{50, 6});
  for (const std::int64_t t : {0, 1, 7, 49})
    for (int i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(t) / std::pow(10000.0, 2 * i / 6.0);
      CHECK(p.array().at({t, 2 * i}) == doctest::Approx(std::sin(angle)));
      CHECK(p.array().at({t, 2 * i + 1}) == doctest::Approx(std::cos(angle)));
    }
  CHECK(positions.parameters().empty());
  CHECK(positions.buffers().size() == 1);
  CHECK(positions.state_dict().empty());
  const DefaultDType f32_default(f32);
  CHECK(nn::SinusoidalPositions(4, 2)(4).dtype() == f32);
}

TEST_CASE("SinusoidalPositions: halves are the same waves in another order") {
  const Tensor p = nn::SinusoidalPositions(9, 6)(9);
  const Tensor halves = nn::SinusoidalPositions(9, 6, {.waves = nn::Waves::halves})(9);
  for (int i = 0; i < 3; ++i) {
    CHECK((halves.select(1, i) == p.select(1, 2 * i)).all());
    CHECK((halves.select(1, 3 + i) == p.select(1, 2 * i + 1)).all());
  }
}

TEST_CASE("positions: bad calls") {
  const nn::LearnedPositions learned(5, 4);
  const nn::SinusoidalPositions waves(5, 4);
  check_error([&] { learned(6); }, "LearnedPositions: expects at most 5 positions, its context, got 6");
  check_error([&] { waves(7); }, "SinusoidalPositions: expects at most 5 positions, its context, got 7");
  check_error([&] { waves(-1); }, "SinusoidalPositions: expects at most 5 positions, its context, got -1");
  check_error([] { nn::LearnedPositions(0, 4); }, "LearnedPositions: expects context of 1 or more, got 0");
  check_error([] { nn::LearnedPositions(4, 0); }, "LearnedPositions: expects d_model of 1 or more, got 0");
  check_error([] { nn::SinusoidalPositions(-1, 4); },
              "SinusoidalPositions: expects context of 1 or more, got -1");
  check_error([] { nn::SinusoidalPositions(4, 5); },
              "SinusoidalPositions: expects an even d_model for pairs of sine and cosine, got 5");
  // With addresses of 32 bits the number alone is too large.
  const doctest::Contains refused(sizeof(void*) == 8 ? "cannot allocate" : "more elements than memory can");
  CHECK_THROWS_WITH_AS(nn::SinusoidalPositions(std::int64_t{1} << 39, 4), refused, Error);
}
