#include "gradus/optim/average.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"

namespace gradus::test {

TEST_CASE("average: bf16 and f16, in f64 and rounded once") {
  for (const DType half : {bf16, f16}) {
    const StateDict a{{"w", tensor({1.0, 2.0}).to(half)}}, b{{"w", tensor({3.0, 2.5}).to(half)}};
    const Tensor mean = optim::average({a, b}).at("w");
    CHECK(mean.dtype() == half);
    CHECK(mean.to(f64).to_vector<double>() == std::vector<double>{2, 2.25});
  }
}

TEST_CASE("average: the mean of floating-point tensors, the last value of others") {
  const StateDict a{{"w", tensor({1.0, 2.0})}, {"n", tensor({1})}};
  const StateDict b{{"n", tensor({2})}, {"w", tensor({2.0, 6.0})}};
  const StateDict c{{"w", tensor({3.0, 7.0})}, {"n", tensor({9})}};
  const StateDict mean = optim::average({a, b, c});
  CHECK(mean.size() == 2);
  CHECK((mean.at("w") == tensor({2.0, 5.0})).all());
  CHECK(mean.at("w").dtype() == f32);
  CHECK(mean.at("n").item<std::int64_t>() == 9);
  // Computed in f64: in f32 the small value would be lost.
  const Tensor large = tensor({16777216.0}), small = tensor({1.0});
  CHECK(optim::average({{{"w", large}}, {{"w", small}}, {{"w", -large}}, {{"w", small}}}).at("w").item() ==
        0.5);
  // The average of one state is a copy of it.
  const StateDict one = optim::average({a});
  CHECK((one.at("w") == a.at("w")).all());
  one.at("w").fill_(0);
  CHECK(a.at("w")[0].item() == 1);
  const nn::Linear x(3, 2), y(3, 2);
  const StateDict both = optim::average({x.state_dict(), y.state_dict()});
  CHECK(((both.at("weight") - (x.weight + y.weight) / 2).abs().max().item()) < 1e-7);
}

TEST_CASE("average: errors") {
  const StateDict a{{"w", ones({2})}};
  check_error([] { optim::average({}); }, "average: expects one state or more");
  check_error(
      [&] {
        optim::average({{{"v", ones({2})}}, a});
      },
      "average: state 0 has a tensor 'v', the last one has none");
  check_error(
      [&] {
        optim::average({StateDict{}, a});
      },
      "average: state 0 has no tensor 'w', which the last one has");
  check_error(
      [&] {
        optim::average({{{"w", ones({3})}}, a});
      },
      "average: 'w' is f32 [3] in state 0, and f32 [2] in the last");
  check_error(
      [&] {
        optim::average({{{"w", ones({2}, f64)}}, a});
      },
      "average: 'w' is f64 [2] in state 0, and f32 [2] in the last");
}

}  // namespace gradus::test
