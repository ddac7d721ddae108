#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/random.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

constexpr Reduction all_reductions[] = {Reduction::none, Reduction::mean, Reduction::sum};

Op mse(Reduction reduction) {
  return [reduction](const Tensor& x, const Tensor& y) { return mse_loss(x, y, reduction); };
}
Op bce(Reduction reduction) {
  return [reduction](const Tensor& x, const Tensor& y) {
    return binary_cross_entropy_with_logits(x, y, reduction);
  };
}

TEST_CASE("mse_loss, binary_cross_entropy_with_logits: gradients of both inputs, layouts, threads") {
  for (const Reduction reduction : all_reductions)
    for (const Shape& shape : odd_shapes()) {
      if (numel(shape) == 0 && reduction == Reduction::mean) continue;  // NaN
      check_op("mse_loss", mse(reduction), {shape, shape});
      check_op("bce", bce(reduction), {shape, Input(shape).between(0, 1)}, {.kinks = {0}});
    }
}

TEST_CASE("mse_loss: by definition") {
  const Tensor x = tensor({1.0, 2.0, 4.0}), y = tensor({1.0, 4.0, 1.0});
  CHECK(mse_loss(x, y).item() == doctest::Approx(13.0 / 3));
  CHECK(mse_loss(x, y, Reduction::sum).item() == 13);
  CHECK(mse_loss(x, y, Reduction::none).to_vector<float>() == std::vector<float>{0, 4, 9});
}

TEST_CASE("binary_cross_entropy_with_logits: by definition") {
  manual_seed(0);
  const Tensor x = randn({50}, f64) * 3, y = rand({50}, f64), s = sigmoid(x);
  const Tensor expected = -(y * log(s) + (1 - y) * log(1 - s));
  CHECK((binary_cross_entropy_with_logits(x, y, Reduction::none) - expected).abs().max().item() < 1e-13);
  CHECK(binary_cross_entropy_with_logits(x, y).item() ==
        doctest::Approx(expected.mean().item()).epsilon(1e-13));
  CHECK(binary_cross_entropy_with_logits(x, y, Reduction::sum).item() ==
        doctest::Approx(expected.sum().item()).epsilon(1e-13));
}

TEST_CASE("binary_cross_entropy_with_logits: large logits neither overflow nor lose the gradient") {
  Tensor x = tensor({-1000.0, 1000.0, -1000.0, 1000.0});
  x.requires_grad_();
  const Tensor y = tensor({0.0, 1.0, 1.0, 0.0});
  const Tensor loss = binary_cross_entropy_with_logits(x, y, Reduction::none);
  CHECK(loss.to_vector<float>() == std::vector<float>{0, 0, 1000, 1000});
  loss.sum().backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 0, -1, 1});
}

TEST_CASE("mse_loss, binary_cross_entropy_with_logits: of nothing, the sum is 0 and the mean NaN") {
  for (const auto& loss : {mse_loss, binary_cross_entropy_with_logits}) {
    CHECK(loss(zeros({0, 3}), zeros({0, 3}), Reduction::sum).item() == 0);
    CHECK(std::isnan(loss(zeros({0, 3}), zeros({0, 3}), Reduction::mean).item()));
    CHECK(loss(zeros({0, 3}), zeros({0, 3}), Reduction::none).shape() == Shape{0, 3});
  }
}

TEST_CASE("mse_loss, binary_cross_entropy_with_logits: errors") {
  check_error(
      [] {
        mse_loss(zeros({256, 1}), zeros({256}));
      },
      "mse_loss: input [256, 1] and target [256] must have the same shape: reshape() or expand() one of "
      "them");
  check_error([] { mse_loss(zeros({2}), zeros({2}, f64)); },
              "mse_loss: operands have different dtypes: f32 [2] and f64 [2]: convert one with .to()");
  check_error([] { mse_loss(zeros({2}, i64), zeros({2}, i64)); },
              "mse_loss: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([] { mse_loss(Tensor(), zeros({2})); }, "mse_loss" + kUndefined);
  check_error([] { mse_loss(zeros({2}), Tensor()); }, "mse_loss" + kUndefined);
  check_error([] { binary_cross_entropy_with_logits(zeros({4}), zeros({1})); },
              "binary_cross_entropy_with_logits: logits [4] and target [1] must have the same shape: "
              "reshape() or expand() one of them");
  check_error([] { binary_cross_entropy_with_logits(zeros({2}), zeros({2}, i64)); },
              "binary_cross_entropy_with_logits: operands have different dtypes: f32 [2] and i64 [2]: "
              "convert one with .to()");
  check_error([] { binary_cross_entropy_with_logits(zeros({2}, i64), zeros({2}, i64)); },
              "binary_cross_entropy_with_logits: expects f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error([] { binary_cross_entropy_with_logits(Tensor(), zeros({2})); },
              "binary_cross_entropy_with_logits" + kUndefined);
  check_error([] { binary_cross_entropy_with_logits(zeros({2}), Tensor()); },
              "binary_cross_entropy_with_logits" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
