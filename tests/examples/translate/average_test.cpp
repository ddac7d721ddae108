#include "translate/average.h"

#include <doctest/doctest.h>

#include "gradus/gradus.h"
#include "toy.h"

namespace gradus::translate {

namespace {

void set_weights(const nn::Linear& layer, double value) {
  const NoGrad no_grad;
  nn::init::constant_(layer.weight, value);
}
double weight_of(const nn::Linear& layer) { return layer.weight.detach().max().item(); }

}  // namespace

TEST_CASE("weight average: of the last ones, for a scope or for good") {
  const nn::Linear layer(2, 2);
  WeightAverage average(layer, 2);
  set_weights(layer, 8);
  {
    const WeightAverage::Use use(average);
    CHECK(weight_of(layer) == 8);
  }  // nothing was taken
  for (const double value : {100.0, 1.0, 4.0}) {
    set_weights(layer, value);
    average.take();
  }
  CHECK(average.size() == 2);
  set_weights(layer, 7);
  {
    const WeightAverage::Use use(average);
    CHECK(weight_of(layer) == 2.5);
  }
  CHECK(weight_of(layer) == 7);
  WeightAverage::Use(average).stay();
  CHECK(weight_of(layer) == 2.5);
}

TEST_CASE("weight average: its state is taken back, that of another model is not") {
  const nn::Linear layer(2, 2);
  WeightAverage average(layer, 3), other(layer, 3);
  for (const double value : {1.0, 3.0}) {
    set_weights(layer, value);
    average.take();
  }
  const StateDict state = average.state_dict().clone();
  set_weights(layer, 9);
  other.load_state_dict(state);
  CHECK(other.size() == 2);
  {
    const WeightAverage::Use use(other);
    CHECK(weight_of(layer) == 2);
  }
  WeightAverage wrong(nn::Linear(3, 2), 3);
  CHECK(complaint_of([&] { wrong.load_state_dict(state); }) == "is the average of another model");
  CHECK(wrong.size() == 0);
}

}  // namespace gradus::translate
