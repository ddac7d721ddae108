#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "near.h"

namespace gradus::test {
namespace {

Op dropout_with(double p) {
  return [p](const Tensor& x) {
    Generator generator(7);
    return dropout(x, p, true, generator);
  };
}

TEST_CASE("dropout: gradients, layouts, threads") {
  for (const Shape& shape : odd_shapes()) {
    check_op("dropout", dropout_with(0.3), {shape});
    check_op("dropout", dropout_with(1), {shape});
  }
}

TEST_CASE("dropout: keeps a share of 1 - p, scaled to keep the mean") {
  for (const double p : {0.1, 0.5, 0.9}) {
    Generator generator(1);
    const Tensor y = dropout(ones({100000}, f64), p, true, generator);
    const double kept = (y != 0).to(f64).mean().item();
    CHECK(kept == near(1 - p, 0.03));
    CHECK(y.max().item() == doctest::Approx(1 / (1 - p)));
    CHECK(y.mean().item() == doctest::Approx(1).epsilon(0.03));
  }
}

TEST_CASE("dropout: neighbours and calls are independent") {
  Generator generator(2);
  const Tensor a = dropout(ones({100000}, f64), 0.5, true, generator);
  const Tensor b = dropout(ones({100000}, f64), 0.5, true, generator);
  CHECK((a * b).mean().item() == doctest::Approx(1).epsilon(0.03));
  CHECK((a.slice(0, 1) * a.slice(0, 0, -1)).mean().item() == doctest::Approx(1).epsilon(0.03));
}

TEST_CASE("dropout: the same generator state drops the same elements, in f32 and f64") {
  Generator generator(3);
  const Generator::State state = generator.state();
  const Tensor a = dropout(ones({1001}), 0.4, true, generator);
  CHECK(generator.state().offset == state.offset + 251);  // four numbers a block
  generator.set_state(state);
  const Tensor b = dropout(ones({1001}, f64), 0.4, true, generator);
  CHECK(((a != 0) == (b != 0)).all());
}

TEST_CASE("dropout: backward drops what forward dropped") {
  Tensor x = ones({1000});
  x.requires_grad_();
  const Tensor y = dropout(x, 0.5);
  y.sum().backward();
  CHECK((x.grad() == y).all());
}

TEST_CASE("dropout: p = 0 and evaluation give x itself, p = 1 zeros") {
  const Tensor x = randn({10});
  Generator generator(4);
  const Generator::State state = generator.state();
  CHECK(dropout(x, 0, true, generator).array().storage() == x.array().storage());
  CHECK(dropout(x, 0.5, false, generator).array().storage() == x.array().storage());
  CHECK(generator.state() == state);
  CHECK((dropout(full({10}, INFINITY), 1) == 0).all());
}

TEST_CASE("dropout: draws from this thread's generator when none is given") {
  manual_seed(5);
  const Tensor a = dropout(ones({100}), 0.5);
  const Tensor b = dropout(ones({100}), 0.5);
  manual_seed(5);
  CHECK((dropout(ones({100}), 0.5) == a).all());
  CHECK_FALSE((a == b).all());
}

TEST_CASE("dropout: errors") {
  check_error([] { dropout(zeros({2}), -0.1); }, "dropout: expects a probability from 0 to 1, got -0.1");
  check_error([] { dropout(zeros({2}), 1.1); }, "dropout: expects a probability from 0 to 1, got 1.1");
  check_error([] { dropout(zeros({2}), NAN); }, "dropout: expects a probability from 0 to 1, got nan");
  check_error([] { dropout(zeros({2}), 2, false); }, "dropout: expects a probability from 0 to 1, got 2");
  check_error([] { dropout(zeros({2}, i64), 0.5); },
              "dropout: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([] { dropout(Tensor(), 0.5); }, "dropout" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
