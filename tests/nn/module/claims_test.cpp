// Parameters that get gradients but are in no optimizer (module_test.cpp has the messages).

#include "gradus/nn/detail/claims.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/nn/layers/linear.h"

using namespace gradus;

TEST_CASE("claims: a parameter claimed between its gradient and the step is not reported") {
  const nn::Linear known(2, 2), late(2, 2);
  known.parameters();
  late(known(ones({1, 2}))).backward(ones({1, 2}));
  late.parameters();
  nn::check_unclaimed_parameters("SGD");
}

TEST_CASE("claims: a leaf that is not a module's parameter is ignored") {
  const nn::Linear known(2, 2);
  known.parameters();
  Tensor x = ones({1, 2});
  x.requires_grad_();
  known(x).backward(ones({1, 2}));
  CHECK(x.grad().defined());
  CHECK_FALSE(nn::is_parameter(x));
  CHECK(nn::is_parameter(known.weight));
  nn::check_unclaimed_parameters("SGD");
}

TEST_CASE("claims: a model without an optimizer is not reported to another's, nor kept alive") {
  const std::int64_t nodes = live_nodes();
  {
    const nn::Linear measured(2, 2);
    for (int i = 0; i < 5; ++i) measured(ones({1, 2})).backward(ones({1, 2}));
  }
  CHECK(live_nodes() == nodes);
  nn::check_unclaimed_parameters("SGD");
}

TEST_CASE("claims: frozen parameters are not reported") {
  const nn::Linear known(2, 2), frozen(2, 2);
  known.parameters();
  frozen.requires_grad_(false);
  frozen(known(ones({1, 2}))).backward(ones({1, 2}));
  nn::check_unclaimed_parameters("SGD");
}
