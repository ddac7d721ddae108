// l1_loss, huber_loss and kl_div.

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

constexpr Reduction all_reductions[] = {Reduction::none, Reduction::mean, Reduction::sum};

TEST_CASE("l1_loss, huber_loss, kl_div: gradients of both inputs, layouts, threads") {
  for (const Reduction reduction : all_reductions)
    for (const Shape& shape : odd_shapes()) {
      if (numel(shape) == 0 && reduction == Reduction::mean) continue;  // NaN
      const auto op = [&](auto loss) { return [=](const Tensor& x, const Tensor& y) { return loss(x, y); }; };
      // The targets lie away from the inputs, so that the corner at 0 stays out of reach.
      const Input below = Input(shape).between(-2, -0.1), above = Input(shape).between(0.1, 2);
      check_op("l1_loss", op([=](auto& x, auto& y) { return l1_loss(x, y, reduction); }), {below, above});
      check_op("l1_loss", op([=](auto& x, auto& y) { return l1_loss(x, y, reduction); }), {above, below});
      check_op("huber_loss", op([=](auto& x, auto& y) { return huber_loss(x, y, reduction, 0.7); }),
               {shape, shape});
      check_op("kl_div", op([=](auto& x, auto& y) { return kl_div(x, y, reduction); }), {below, above});
      check_op("kl_div of logarithms", op([=](auto& x, auto& y) { return kl_div(x, y, reduction, true); }),
               {shape, shape});
    }
}

TEST_CASE("l1_loss, huber_loss: by definition") {
  const Tensor x = tensor({1.0, 2.0, 4.0, -1.0}), y = tensor({1.0, 4.0, 1.0, -1.5});
  CHECK(l1_loss(x, y).item() == 5.5 / 4);
  CHECK(l1_loss(x, y, Reduction::sum).item() == 5.5);
  CHECK(values(l1_loss(x, y, Reduction::none)) == Values{0, 2, 3, 0.5});
  CHECK(values(huber_loss(x, y, Reduction::none)) == Values{0, 1.5, 2.5, 0.125});
  CHECK(values(huber_loss(x, y, Reduction::none, 2)) == Values{0, 2, 4, 0.125});
  CHECK(huber_loss(x, y).item() == doctest::Approx((1.5 + 2.5 + 0.125) / 4));
  CHECK(huber_loss(x, y, Reduction::sum, kInf).item() == doctest::Approx((4 + 9 + 0.25) / 2));
  CHECK(huber_loss(tensor({kInf}), tensor({0.0})).item() == kInf);
  const Tensor w = leaf(x);
  l1_loss(w, y, Reduction::sum).backward();
  CHECK(values(w.grad()) == Values{0, -1, 1, 1});
  w.zero_grad();
  huber_loss(w, y, Reduction::sum).backward();
  CHECK(values(w.grad()) == Values{0, -1, 1, 0.5});
}

TEST_CASE("kl_div: by definition, with and without logarithms") {
  manual_seed(0);
  const Tensor p = softmax(randn({6, 5}, f64), -1), log_q = log_softmax(randn({6, 5}, f64), -1);
  const Tensor each = p * (log(p) - log_q);
  CHECK((kl_div(log_q, p, Reduction::none) - each).abs().max().item() < 1e-15);
  CHECK((kl_div(log_q, log(p), Reduction::none, true) - each).abs().max().item() < 1e-15);
  CHECK(kl_div(log_q, p).item() == doctest::Approx(each.mean().item()).epsilon(1e-13));
  // The divergence itself: a mean over rows. It is 0 for equal distributions, and never below.
  const auto divergence = [](const Tensor& x, const Tensor& y) {
    return (kl_div(x, y, Reduction::sum) / x.size(0)).item();
  };
  CHECK(divergence(log_q, p) == doctest::Approx(each.sum(-1).mean().item()).epsilon(1e-13));
  CHECK(divergence(log_q, p) > 0);
  CHECK(divergence(log(p), p) == doctest::Approx(0).epsilon(1e-14));
  // A mean exists where the sum overflows.
  CHECK(kl_div(tensor({-3e38, -3e38}, f32), ones({2})).item() == doctest::Approx(3e38).epsilon(1e-6));
}

TEST_CASE("kl_div: a target of probability 0 costs nothing; an input of probability 0 costs infinity") {
  const Tensor x = leaf(tensor({-1.0, -kInf, -kInf, kNan})), p = tensor({0.0, 0.0, 0.5, 0.0});
  for (const bool logs : {false, true}) {
    const Values y = values(kl_div(x, logs ? log(p) : p, Reduction::none, logs));
    CHECK(y[0] == 0);
    CHECK(y[1] == 0);
    CHECK(y[2] == kInf);
    CHECK(std::isnan(y[3]));
  }
  kl_div(x, p, Reduction::sum).backward();
  CHECK(values(x.grad()) == Values{0, 0, -0.5, 0});
}

TEST_CASE("l1_loss, huber_loss, kl_div: of nothing, the sum is 0 and the mean NaN") {
  const auto l1 = [](const Tensor& x, Reduction r) { return l1_loss(x, x, r); };
  const auto huber = [](const Tensor& x, Reduction r) { return huber_loss(x, x, r); };
  const auto kl = [](const Tensor& x, Reduction r) { return kl_div(x, x, r); };
  const auto check_empty = [](auto loss) {
    CHECK(loss(zeros({0, 3}), Reduction::sum).item() == 0);
    CHECK(std::isnan(loss(zeros({0, 3}), Reduction::mean).item()));
    CHECK(loss(zeros({0, 3}), Reduction::none).shape() == Shape{0, 3});
  };
  check_empty(l1), check_empty(huber), check_empty(kl);
}

TEST_CASE("losses: a mean is right where the sum exceeds the range of the dtype") {
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype == f32);
    const double most = dtype == f32 ? 3e38 : 1.7e308, root = std::sqrt(most);
    const Tensor zero = zeros({5}, dtype), x = full({5}, most, dtype);
    CHECK(l1_loss(x, zero).item() == doctest::Approx(most));
    CHECK(mse_loss(full({5}, root, dtype), zero).item() == doctest::Approx(most));
    CHECK(huber_loss(x, zero).item() == doctest::Approx(most));
    CHECK(binary_cross_entropy_with_logits(x, zero).item() == doctest::Approx(most));
    CHECK(std::isinf(l1_loss(full({5}, kInf, dtype), zero).item()));
    CHECK(std::isinf(l1_loss(x, zero, Reduction::sum).item()));
  }
}

TEST_CASE("l1_loss, huber_loss, kl_div: errors") {
  const Tensor x = zeros({4}), undefined;
  const auto check_errors = [&](const std::string& op, Tensor (*f)(const Tensor&, const Tensor&)) {
    check_error(
        [&] {
          f(x, zeros({4, 1}));
        },
        op + ": input [4] and target [4, 1] must have the same shape: reshape() or expand() one of them");
    check_error([&] { f(x, zeros({4}, f64)); },
                op + ": operands have different dtypes: f32 [4] and f64 [4]: convert one with .to()");
    check_error([&] { f(zeros({4}, i64), x); },
                op + ": expects f32 or f64, got i64 [4]: convert with .to(f32)");
    check_error([&] { f(undefined, x); }, op + kUndefined);
    check_error([&] { f(x, undefined); }, op + kUndefined);
  };
  check_errors("l1_loss", [](const Tensor& a, const Tensor& b) { return l1_loss(a, b); });
  check_errors("huber_loss", [](const Tensor& a, const Tensor& b) { return huber_loss(a, b); });
  check_errors("kl_div", [](const Tensor& a, const Tensor& b) { return kl_div(a, b); });
  check_error([&] { huber_loss(x, x, Reduction::mean, 0); }, "huber_loss: expects delta > 0, got 0");
  check_error([&] { huber_loss(x, x, Reduction::mean, kNan); }, "huber_loss: expects delta > 0, got nan");
}

}  // namespace
}  // namespace gradus::test
