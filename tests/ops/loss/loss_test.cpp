#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "check_op.h"
#include "gradus/core/random/random.h"
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
      check_op("bce", bce(reduction), {shape, Input(shape).between(0.01, 0.99)}, {.kinks = {0}});
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

TEST_CASE_TEMPLATE("binary_cross_entropy_with_logits: an infinite logit costs nothing or everything", T,
                   float, double) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  Tensor x = from_vector<T>({inf, inf, inf, -inf, -inf, -inf}, {6});
  x.requires_grad_();
  const Tensor y = from_vector<T>({0, 1, T(0.5), 0, 1, T(0.5)}, {6});
  const Tensor loss = binary_cross_entropy_with_logits(x, y, Reduction::none);
  CHECK(loss.template to_vector<T>() == std::vector<T>{inf, 0, inf, 0, inf, inf});
  CHECK(binary_cross_entropy_with_logits(x, y).item() == inf);
  loss.sum().backward();
  CHECK(x.grad().template to_vector<T>() == std::vector<T>{1, 0, T(0.5), 0, -1, T(-0.5)});
  for (const T target : {T(0), T(0.3), T(1)})
    CHECK(std::isnan(
        binary_cross_entropy_with_logits(from_vector<T>({nan}, {1}), from_vector<T>({target}, {1})).item()));
}

TEST_CASE("binary_cross_entropy_with_logits: targets are probabilities") {
  const auto call = [](const Tensor& y) {
    return [=] { binary_cross_entropy_with_logits(zeros(y.shape()), y); };
  };
  const std::string op = "binary_cross_entropy_with_logits: ";
  check_error(call(tensor({{0.0, 1.0, 0.5}, {1.0, 2.0, 3.0}})),
              op + "target 2 at [1, 1] of [2, 3] is not in 0 .. 1: it is the probability of the class");
  check_error(call(tensor(-1.0)),
              op + "target -1 at [] of [] is not in 0 .. 1: it is the probability of the class");
  check_error(call(tensor({0.0, static_cast<double>(NAN)})),
              op + "target nan at [1] of [2] is not in 0 .. 1: it is the probability of the class");
  // The first of them, on any number of threads.
  Tensor many = zeros({300, 200});
  many.slice(0, 7).fill_(1.5);
  check_error(call(many),
              op + "target 1.5 at [7, 0] of [300, 200] is not in 0 .. 1: it is the probability of the class");
  check_error(call(many.transpose(0, 1)),
              op + "target 1.5 at [0, 7] of [200, 300] is not in 0 .. 1: it is the probability of the class");
}

TEST_CASE("mse_loss, binary_cross_entropy_with_logits: of nothing, the sum is 0 and the mean NaN") {
  for (const auto& loss : {mse_loss, binary_cross_entropy_with_logits}) {
    CHECK(loss(zeros({0, 3}), zeros({0, 3}), Reduction::sum).item() == 0);
    CHECK(std::isnan(loss(zeros({0, 3}), zeros({0, 3}), Reduction::mean).item()));
    CHECK(loss(zeros({0, 3}), zeros({0, 3}), Reduction::none).shape() == Shape{0, 3});
    Tensor x = zeros({2, 0});
    x.requires_grad_();
    loss(x, zeros({2, 0}), Reduction::mean).backward();
    CHECK(x.grad().shape() == Shape{2, 0});
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
